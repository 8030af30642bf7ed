package setup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/pelletier/go-toml/v2"
)

// table is Codex's configuration, in TOML: our server is a table behind all others.
type table struct{}

const (
	tableList = "mcp_servers"
	tableText = "[" + tableList + "." + serverName + "]\ncommand = \"git-rekal\"\nargs = [\"mcp\"]\n"
)

// parse gives the servers of a text, by their names.
func (table) parse(text []byte) (servers map[string]any, err error) {
	var doc map[string]any
	var syntax *toml.DecodeError
	switch err := toml.Unmarshal(text, &doc); {
	case errors.As(err, &syntax):
		line, _ := syntax.Position()
		return nil, fmt.Errorf("it is not valid TOML, in line %d", line)
	case err != nil:
		return nil, errors.New("it is not valid TOML")
	}
	if doc[tableList] == nil {
		return nil, nil
	}
	servers, ok := doc[tableList].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is no table", tableList)
	}
	return servers, nil
}

func (t table) add(text []byte) ([]byte, error) {
	servers, err := t.parse(text)
	if err != nil || servers[serverName] != nil {
		return text, err
	}
	if text == nil {
		return []byte(tableText), nil
	}
	out := append(bytes.Clone(text), likeEnds(text, "\n"+tableText)...) // the newline tells how the text ended
	if servers, err = t.parse(out); err != nil || !t.isOurs(servers) {
		return nil, fmt.Errorf("%q takes no further table", tableList)
	}
	return out, nil
}

func (t table) cut(text []byte) (rest []byte, ours bool) {
	servers, err := t.parse(text)
	if err != nil || !t.isOurs(servers) {
		return text, false
	}
	if string(text) == tableText {
		return nil, true
	}
	for _, ours := range []string{likeEnds(text, "\n"+tableText), "\n" + tableText, tableText} {
		at := bytes.LastIndex(text, []byte(ours))
		if at < 0 {
			continue
		}
		rest = append(bytes.Clone(text[:at]), text[at+len(ours):]...) // not nil: the file was there
		if servers, err = t.parse(rest); err == nil && servers[serverName] == nil {
			return rest, true
		}
	}
	return text, false
}

func (table) isOurs(servers map[string]any) bool {
	return reflect.DeepEqual(servers[serverName], map[string]any{"command": "git-rekal", "args": []any{"mcp"}})
}

func (t table) line(text []byte) (command []string, named bool) {
	servers, _ := t.parse(text)
	server, _ := servers[serverName].(map[string]any)
	if name, ok := server["command"].(string); ok {
		command = []string{name}
		args, _ := server["args"].([]any)
		for _, a := range args {
			command = append(command, fmt.Sprint(a))
		}
	}
	return command, servers[serverName] != nil
}
