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

// jsonValue is a section of a configuration in JSON: a member of an object, or an element of a list.
type jsonValue struct {
	path     []string // the members that lead to the object or list
	name     string   // of the member; "" for an element
	value    string   // as it is written at its depth
	sign     string   // an element that holds these bytes is ours
	comments bool     // the agent takes comments, and a comma behind the last member
}

// jsonServer is our MCP server in the object that holds the servers.
func jsonServer(list string, comments bool, members ...string) jsonValue {
	value := "{\n      " + strings.Join(members, ",\n      ") + "\n    }"
	return jsonValue{path: []string{list}, name: serverName, value: value, comments: comments}
}

func (v jsonValue) pieceToAdd(text []byte) (*piece, error) {
	if isBlank(text) {
		return &piece{len(text), withLineEndsOf(text, "{\n  "+v.formatAtDepth(0)+"\n}\n")}, nil
	}
	doc, err := v.parse(text)
	if err != nil {
		return nil, err
	}
	inside, depth, err := v.container(&doc)
	if err != nil || depth == len(v.path) && v.index(inside) >= 0 {
		return nil, err
	}
	first := "\n" + strings.Repeat("  ", depth+1) + v.formatAtDepth(depth)
	if countMembers(inside) > 0 {
		first += ","
	}
	return &piece{len(text) - len(withoutBOM(text)) + inside.StartOffset + 1, withLineEndsOf(text, first)}, nil
}

// formatAtDepth is what is put into the object or list at a depth: the value, with the members around it that are
// missing.
func (v jsonValue) formatAtDepth(depth int) string {
	if depth == len(v.path) {
		if v.name == "" {
			return v.value
		}
		return fmt.Sprintf("%q: %s", v.name, v.value)
	}
	opening, closing := "{", "}"
	if depth+1 == len(v.path) && v.name == "" {
		opening, closing = "[", "]"
	}
	indent := "\n" + strings.Repeat("  ", depth+1)
	return fmt.Sprintf("%q: %s%s  %s%s%s", v.path[depth], opening, indent, v.formatAtDepth(depth+1), indent, closing)
}

// container is the innermost object or list on the value's path that is there, and its depth.
func (v jsonValue) container(doc *hujson.Value) (inside *hujson.Value, depth int, err error) {
	inside = doc
	for ; depth < len(v.path); depth++ {
		next, err := memberValue(inside, v.path[depth])
		if err != nil || next == nil {
			return inside, depth, err
		}
		inside = next
		_, isList := inside.Value.(*hujson.Array)
		_, isObject := inside.Value.(*hujson.Object)
		switch wantsList := depth+1 == len(v.path) && v.name == ""; {
		case wantsList && !isList:
			return nil, 0, fmt.Errorf("%q is no list", v.path[depth])
		case !wantsList && !isObject:
			return nil, 0, fmt.Errorf("%q is no object", v.path[depth])
		}
	}
	return inside, depth, nil
}

// memberValue is the value of an object's member; nil if there is none. Two members of one name are an error: agents
// differ in which one they take.
func memberValue(of *hujson.Value, name string) (found *hujson.Value, err error) {
	object, ok := of.Value.(*hujson.Object)
	if !ok {
		return nil, nil //nolint:nilnil // what is no object has no members
	}
	times := 0
	for i, m := range object.Members {
		if nameOf(m) == name {
			times++
			found = &object.Members[i].Value
		}
	}
	if times > 1 {
		return nil, fmt.Errorf("it has %q %d times", name, times)
	}
	return found, nil
}

func nameOf(m hujson.ObjectMember) string {
	name, ok := m.Name.Value.(hujson.Literal)
	if !ok {
		return ""
	}
	return name.String()
}

// index is the place of our value in its object or list, as we wrote it or not; -1 if it is not there.
func (v jsonValue) index(inside *hujson.Value) int {
	switch c := inside.Value.(type) {
	case *hujson.Object:
		return slices.IndexFunc(c.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == v.name })
	case *hujson.Array:
		return slices.IndexFunc(c.Elements, func(e hujson.Value) bool { return bytes.Contains(e.Pack(), []byte(v.sign)) })
	}
	return -1
}

// existing is our value in a text, as we wrote it or not; nil if it is not there.
func (v jsonValue) existing(text []byte) *hujson.Value {
	doc, err := v.parse(text)
	if err != nil {
		return nil
	}
	inside, depth, err := v.container(&doc)
	if err != nil || depth < len(v.path) {
		return nil
	}
	at := v.index(inside)
	if at < 0 {
		return nil
	}
	switch c := inside.Value.(type) {
	case *hujson.Object:
		return &c.Members[at].Value
	case *hujson.Array:
		return &c.Elements[at]
	}
	return nil
}

func (v jsonValue) remove(text []byte) (rest []byte, removed bool) {
	var ours any
	if found := v.existing(text); found == nil || json.Unmarshal([]byte(v.value), &ours) != nil ||
		!reflect.DeepEqual(withoutComments(found), ours) {
		return text, false
	}
	doc, err := v.parse(text)
	if err != nil {
		return text, false
	}
	v.removeFrom(&doc, 0)
	return slices.Concat(text[:len(text)-len(withoutBOM(text))], doc.Pack()), true
}

// removeFrom takes the value out of the object or list at a depth, and the members around it that are left empty.
func (v jsonValue) removeFrom(inside *hujson.Value, depth int) {
	if depth == len(v.path) {
		removeAt(inside, v.index(inside))
		return
	}
	next, _ := memberValue(inside, v.path[depth])
	v.removeFrom(next, depth+1)
	if countMembers(next) == 0 {
		named := jsonValue{name: v.path[depth]}
		removeAt(inside, named.index(inside))
	}
}

// removeAt takes a member or an element away. Comments before it stay, before what follows.
func removeAt(inside *hujson.Value, i int) {
	var before, following *hujson.Extra
	switch c := inside.Value.(type) {
	case *hujson.Object:
		before, following = &c.Members[i].Name.BeforeExtra, &c.AfterExtra
		if i+1 < len(c.Members) {
			following = &c.Members[i+1].Name.BeforeExtra
		}
		keepComments(*before, following)
		c.Members = slices.Delete(c.Members, i, i+1)
	case *hujson.Array:
		before, following = &c.Elements[i].BeforeExtra, &c.AfterExtra
		if i+1 < len(c.Elements) {
			following = &c.Elements[i+1].BeforeExtra
		}
		keepComments(*before, following)
		c.Elements = slices.Delete(c.Elements, i, i+1)
	}
}

func keepComments(before hujson.Extra, following *hujson.Extra) {
	if !before.IsStandard() {
		*following = slices.Concat(bytes.TrimRight(before, " \t"), *following)
	}
}

// countMembers is how many members or elements a value has.
func countMembers(v *hujson.Value) int {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return len(c.Members)
	case *hujson.Array:
		return len(c.Elements)
	}
	return 0
}

// parse refuses what is no JSON object of this agent.
func (v jsonValue) parse(text []byte) (hujson.Value, error) {
	doc, err := hujson.Parse(bytes.Clone(withoutBOM(text)))
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
	if server, _ := withoutComments(found).(map[string]any); !startsServer(append(stringsOf(server["command"]),
		stringsOf(server["args"])...)) {
		problem = serverWrong
	}
	return true, problem
}

// serverWrong is what a Report says of a server by our name that is another one.
const serverWrong = "runs something else and was left alone; take it out and run `git rekal init --mcp` again, or register `git-rekal mcp` under another name"

// withoutComments is what a value says, without comments.
func withoutComments(v *hujson.Value) (out any) {
	plain := v.Clone()
	plain.Standardize()
	_ = json.Unmarshal(plain.Pack(), &out) // it was parsed
	return out
}

// stringsOf are a string, or those of a list.
func stringsOf(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			out = append(out, fmt.Sprint(e))
		}
	}
	return out
}
