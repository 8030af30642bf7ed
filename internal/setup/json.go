package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonValue is a section of a configuration in JSON: a member of an object, or an element of a list. It goes first into
// the innermost object or list on its path that is there, on a line of its own. Objects and lists that are missing are
// written around it without white space: by that remove tells them from those that were there.
type jsonValue struct {
	path     []string // the members that lead to the object or list
	name     string   // of the member; "" for an element
	value    string   // in one line
	sign     string   // an element that holds these bytes is ours
	comments bool     // the agent takes comments, and a comma behind the last member
}

// jsonServer is our MCP server in the object that holds the servers.
func jsonServer(list string, comments bool, members ...string) jsonValue {
	value := "{" + strings.Join(members, ", ") + "}"
	return jsonValue{path: []string{list}, name: serverName, value: value, comments: comments}
}

func (v jsonValue) add(text []byte) (more []byte, err error) {
	if isBlank(text) {
		return slices.Concat(text, []byte(withLineEndsOf(text, "{"+v.textAtDepth(0)+"}\n"))), nil
	}
	doc, err := v.parse(text)
	if err != nil {
		return nil, err
	}
	outer, i, err := v.locate(&doc)
	if err != nil || i >= 0 {
		return text, err
	}
	inside := outer[len(outer)-1]
	first := "\n" + strings.Repeat("  ", len(outer)) + v.textAtDepth(len(outer)-1)
	if len(membersOf(inside)) > 0 {
		first += ","
	}
	at := len(text) - len(withoutBOM(text)) + inside.StartOffset + 1
	return slices.Concat(text[:at], []byte(withLineEndsOf(text, first)), text[at:]), nil
}

// textAtDepth is what is put into the object or list at a depth: the value, in what is missing around it.
func (v jsonValue) textAtDepth(depth int) string {
	text := v.value
	if v.name != "" {
		text = fmt.Sprintf("%q: %s", v.name, text)
	}
	for i := len(v.path) - 1; i >= depth; i-- {
		format := "%q: {%s}"
		if v.isList(i + 1) {
			format = "%q: [%s]"
		}
		text = fmt.Sprintf(format, v.path[i], text)
	}
	return text
}

// isList reports whether a list is at a depth of the path, and no object.
func (v jsonValue) isList(depth int) bool { return depth == len(v.path) && v.name == "" }

// locate finds the objects and lists on the value's path that are there, from the outermost on, and the place of our
// value in the last one, as we wrote it or not; -1 if it is not there. Two members of one name are an error: agents
// differ in which one they take.
func (v jsonValue) locate(doc *hujson.Value) (outer []*hujson.Value, i int, err error) {
	outer = []*hujson.Value{doc}
	for depth, name := range v.path {
		var found []*hujson.Value
		for _, m := range membersOf(outer[depth]) {
			if m.name == name {
				found = append(found, m.value)
			}
		}
		if len(found) == 0 {
			return outer, -1, nil
		}
		_, isList := found[0].Value.(*hujson.Array)
		_, isObject := found[0].Value.(*hujson.Object)
		switch wantsList := v.isList(depth + 1); {
		case len(found) > 1:
			return nil, -1, fmt.Errorf("it has %q %d times", name, len(found))
		case wantsList && !isList:
			return nil, -1, fmt.Errorf("%q is no list", name)
		case !wantsList && !isObject:
			return nil, -1, fmt.Errorf("%q is no object", name)
		}
		outer = append(outer, found[0])
	}
	return outer, slices.IndexFunc(membersOf(outer[len(v.path)]), func(m jsonMember) bool {
		return v.name != "" && m.name == v.name || v.name == "" && bytes.Contains(m.value.Pack(), []byte(v.sign))
	}), nil
}

// jsonMember is a member of an object, or an element of a list.
type jsonMember struct {
	name   string
	from   int          // where it begins
	before hujson.Extra // white space and comments before it
	value  *hujson.Value
	outer  []*hujson.Value // see locate
	i      int
}

func membersOf(of *hujson.Value) (all []jsonMember) {
	switch c := of.Value.(type) {
	case *hujson.Object:
		for i, m := range c.Members {
			name, _ := m.Name.Value.(hujson.Literal) // it is one
			all = append(all, jsonMember{
				name: name.String(), from: m.Name.StartOffset, before: m.Name.BeforeExtra, value: &c.Members[i].Value,
			})
		}
	case *hujson.Array:
		for i, e := range c.Elements {
			all = append(all, jsonMember{from: e.StartOffset, before: e.BeforeExtra, value: &c.Elements[i]})
		}
	}
	return all
}

// existing is our value in a text, as we wrote it or not; nil if it is not there.
func (v jsonValue) existing(text []byte) *jsonMember {
	doc, err := v.parse(text)
	if err != nil {
		return nil
	}
	outer, i, err := v.locate(&doc)
	if err != nil || i < 0 {
		return nil
	}
	m := membersOf(outer[len(v.path)])[i]
	m.outer, m.i = outer, i
	return &m
}

// remove leaves the objects and lists that were there before, if our value stands as add wrote it. Of what somebody has
// formatted anew, it takes out all that would be left empty.
func (v jsonValue) remove(text []byte, former bool) (rest []byte, at int) {
	var ours any
	found := v.existing(text)
	if found == nil || json.Unmarshal([]byte(v.value), &ours) != nil ||
		!reflect.DeepEqual(withoutComments(found.value), ours) {
		return text, -1
	}
	body, outer, i := withoutBOM(text), found.outer, found.i
	mark := text[:len(text)-len(body)]
	asWritten := !former && string(body[found.from:found.value.EndOffset]) == v.textAtDepth(len(v.path))
	for depth := len(v.path); ; depth-- {
		all := membersOf(outer[depth])
		if len(all) > 1 || asWritten && len(all[0].before) > 0 || depth == 0 && !asWritten {
			return slices.Concat(mark, cutMember(body, all, i)), found.from
		}
		if depth == 0 {
			_, behind, _ := bytes.Cut(body[outer[0].EndOffset:], []byte("\n"))
			return slices.Concat(mark, body[:outer[0].StartOffset], behind), found.from
		}
		i = slices.IndexFunc(membersOf(outer[depth-1]), func(m jsonMember) bool { return m.value == outer[depth] })
	}
}

// cutMember takes a member or an element out of a text, with the white space before it and one comma. Comments stay.
func cutMember(text []byte, all []jsonMember, i int) []byte {
	comma := func(m jsonMember) int { return m.value.EndOffset + len(m.value.AfterExtra) }
	m := all[i]
	from := m.from - len(m.before)
	if kept := bytes.TrimRight(m.before, " \t"); !isBlank(kept) {
		from += len(kept)
	}
	switch next := comma(m); {
	case text[next] == ',':
		return slices.Concat(text[:from], text[m.value.EndOffset:next], text[next+1:])
	case i > 0:
		before := comma(all[i-1])
		return slices.Concat(text[:before], text[before+1:from], text[m.value.EndOffset:])
	}
	return slices.Concat(text[:from], text[m.value.EndOffset:])
}

// parse refuses what is no JSON object of this agent.
func (v jsonValue) parse(text []byte) (hujson.Value, error) {
	doc, err := hujson.Parse(withoutBOM(text))
	switch _, isObject := doc.Value.(*hujson.Object); {
	case err != nil:
		return doc, fmt.Errorf("it is not valid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	case !v.comments && !doc.IsStandard():
		return doc, errors.New("it is not valid JSON: it has comments, or a comma behind the last member")
	case !isObject:
		return doc, errors.New("it is not a JSON object")
	}
	return doc, nil
}

func withoutBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte(bom)) }

func (v jsonValue) find(text []byte) (present bool, problem string) {
	if v.name == "" {
		return hasHooks(text), ""
	}
	found := v.existing(text)
	if found == nil {
		return false, ""
	}
	server, _ := withoutComments(found.value).(map[string]any)
	return true, serverProblem(server)
}

// withoutComments is what a value says, without comments.
func withoutComments(v *hujson.Value) (out any) {
	plain := v.Clone()
	plain.Standardize()
	_ = json.Unmarshal(plain.Pack(), &out) // it was parsed
	return out
}
