package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tidwall/gjson"
)

// object is a configuration in JSON: an object with a list of servers, which is one, too.
type object struct {
	list     string   // the member with the servers
	members  []string // of our server
	comments bool     // the agent takes comments, and a comma behind the last member
}

// entry is our server in the list, and section the list with nothing else.
func (o object) entry() string {
	return `"` + serverName + "\": {\n      " + strings.Join(o.members, ",\n      ") + "\n    }"
}

func (o object) section() string { return `"` + o.list + "\": {\n    " + o.entry() + "\n  }" }

// filled is what an empty file becomes. No other text does: what is added to an object is on a line of its own.
func (o object) filled() string { return `{"` + o.list + `": {` + o.entry() + "}}" }

func (o object) add(text []byte) ([]byte, error) {
	if text == nil {
		return []byte("{\n  " + o.section() + "\n}\n"), nil
	}
	if isBlank(text) {
		return append(bytes.Clone(text), likeEnds(text, o.filled())...), nil
	}
	plain := o.plain(text)
	if err := o.valid(plain); err != nil {
		return nil, err
	}
	servers := gjson.GetBytes(plain, o.list)
	switch {
	case !servers.Exists():
		return insert(text, plain, bytes.IndexByte(plain, '{')+1, "\n  "+o.section()), nil
	case !servers.IsObject():
		return nil, fmt.Errorf("%q is no object", o.list)
	case servers.Get(serverName).Exists():
		return text, nil
	}
	return insert(text, plain, servers.Index+1, "\n    "+o.entry()), nil
}

// isBlank reports whether a text says nothing.
func isBlank(text []byte) bool {
	return len(bytes.Trim(bytes.TrimPrefix(text, []byte(bom)), " \t\r\n")) == 0
}

// likeEnds gives a text of ours the line ends of another one.
func likeEnds(other []byte, text string) string {
	if bytes.Contains(other, []byte("\r\n")) {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// insert puts a member or entry behind the bracket that ends at a place, before whatever there is.
func insert(text, plain []byte, at int, member string) []byte {
	if next := bytes.TrimLeft(plain[at:], " \t\r\n"); len(next) > 0 && next[0] != '}' && next[0] != ']' {
		member += ","
	}
	return []byte(string(text[:at]) + likeEnds(text, member) + string(text[at:]))
}

// valid refuses what is no JSON object, and one whose keys we could take for others.
func (o object) valid(plain []byte) error {
	var top map[string]json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(plain, &top); {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not valid JSON from line %d on", 1+bytes.Count(plain[:min(int(syntax.Offset), len(plain))], []byte("\n")))
	case err != nil || top == nil:
		return errors.New("it is not a JSON object")
	}
	lists := 0
	gjson.ParseBytes(plain).ForEach(func(key, _ gjson.Result) bool {
		if key.Str == o.list {
			lists++
		}
		return true
	})
	if lists > 1 {
		return fmt.Errorf("it has %q %d times", o.list, lists)
	}
	return nil
}

func (o object) cut(text []byte) (rest []byte, ours bool) {
	plain := o.plain(text)
	if o.valid(plain) != nil || !o.isOurs(gjson.GetBytes(plain, o.list+"."+serverName)) {
		return text, false
	}
	befores := [][]byte{nil, o.cutMember(text, bytes.IndexByte(plain, '{'), o.list)}
	if blank := bytes.TrimSuffix(text, []byte(likeEnds(text, o.filled()))); len(blank) < len(text) {
		befores = append(befores, blank)
	}
	for _, before := range befores { // byte for byte, where nobody wrote in what we wrote
		if again, err := o.add(before); err == nil && bytes.Equal(again, text) {
			return before, true
		}
	}
	rest = o.cutMember(text, gjson.GetBytes(plain, o.list).Index, serverName)
	if left := o.plain(rest); o.valid(left) != nil || gjson.GetBytes(left, o.list+"."+serverName).Exists() {
		return text, false
	}
	return rest, true
}

// isOurs reports whether a server is what add writes, however it is spaced.
func (o object) isOurs(server gjson.Result) bool {
	var is, want any
	err := errors.Join(json.Unmarshal([]byte(server.Raw), &is), json.Unmarshal([]byte("{"+strings.Join(o.members, ",")+"}"), &want))
	return err == nil && reflect.DeepEqual(is, want)
}

func (o object) line(text []byte) (command []string, named bool) {
	server := gjson.GetBytes(o.plain(text), o.list+"."+serverName)
	if !server.IsObject() {
		return nil, server.Exists()
	}
	var s struct {
		Command any      `json:"command"`
		Args    []string `json:"args"`
	}
	if json.Unmarshal([]byte(server.Raw), &s) != nil {
		return nil, true
	}
	switch c := s.Command.(type) {
	case string:
		return append([]string{c}, s.Args...), true
	case []any:
		for _, word := range c {
			text, _ := word.(string)
			command = append(command, text)
		}
	}
	return command, true
}

// cutMember takes a member out of the object that begins at a place, with the white space before it and one comma. Comments
// beside it stay.
func (o object) cutMember(text []byte, at int, name string) []byte {
	bare := o.bare(text)
	behind, to := at+1, 0 // behind: where the member before it ends
	gjson.ParseBytes(o.plain(text)[at:]).ForEach(func(key, value gjson.Result) bool {
		end := at + value.Index + len(value.Raw)
		if key.Str == name {
			to = end
			return false
		}
		behind = end
		return true
	})
	if to == 0 {
		return text
	}
	from := behind + bytes.IndexByte(bare[behind:], '"')
	out := append(bytes.Clone(text[:behind]), remarks(text, bare, behind, from)...)
	if next := bytes.TrimLeft(bare[to:], " \t\r\n"); len(next) > 0 && next[0] == ',' && behind == at+1 { // the first of several
		comma := len(bare) - len(next) + 1
		out, to = append(out, remarks(text, bare, to, comma)...), comma
	}
	return append(out, text[to:]...)
}

// remarks are the comments in a stretch of white space and one comma, as they stand there; nothing where there are none.
func remarks(text, bare []byte, from, to int) []byte {
	if bytes.Equal(text[from:to], bare[from:to]) {
		return nil
	}
	out := bytes.Clone(text[from:to])
	if comma := bytes.IndexByte(bare[from:to], ','); comma >= 0 {
		out = append(out[:comma], out[comma+1:]...)
	}
	return bytes.TrimRight(out, " \t")
}

// plain is a text as strict JSON of the same length: what JSON does not know is white space.
func (o object) plain(text []byte) []byte {
	out := o.bare(text)
	if !o.comments {
		return out
	}
	last, quoted, before := -1, false, byte('{') // last: a comma behind a value, and nothing came yet
	for i := 0; i < len(out); i++ {
		c := out[i]
		switch {
		case quoted && c == '\\':
			i++
			continue
		case c == '"':
			quoted = !quoted
		case quoted || c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		}
		switch {
		case c == ',' && !strings.ContainsRune("{[,:", rune(before)):
			last = i
		case (c == '}' || c == ']') && last >= 0:
			out[last], last = ' ', -1
		default:
			last = -1
		}
		before = c
	}
	return out
}

// bare is a text without its byte order mark and comments, which are white space.
func (o object) bare(text []byte) []byte {
	out := bytes.Clone(text)
	if bytes.HasPrefix(out, []byte(bom)) {
		copy(out, "   ")
	}
	quoted := false
	for i := 0; o.comments && i < len(out); i++ {
		switch {
		case quoted && out[i] == '\\':
			i++
		case out[i] == '"':
			quoted = !quoted
		case !quoted && bytes.HasPrefix(out[i:], []byte("//")):
			i = blank(out, i, bytes.IndexByte(out[i:], '\n'))
		case !quoted && bytes.HasPrefix(out[i:], []byte("/*")):
			if n := bytes.Index(out[i+2:], []byte("*/")); n >= 0 { // one without an end is no JSON
				i = blank(out, i, n+4)
			}
		}
	}
	return out
}

// blank puts white space in the place of n bytes, or of all that follow, and leaves line ends. It returns the last one's place.
func blank(out []byte, from, n int) int {
	to := from + n
	if n < 0 {
		to = len(out)
	}
	for i := from; i < to; i++ {
		if out[i] != '\n' && out[i] != '\r' {
			out[i] = ' '
		}
	}
	return to - 1
}
