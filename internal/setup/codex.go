package setup

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// codexServer is our server in Codex's configuration, in TOML: a table behind all others.
type codexServer struct{}

const (
	codexTables = "mcp_servers"
	codexTable  = "[" + codexTables + "." + serverName + "]\ncommand = \"git-rekal\"\nargs = [\"mcp\"]\n"
)

// parse gives the servers of a text, by their names.
func (codexServer) parse(text []byte) (servers map[string]any, err error) {
	var doc map[string]any
	var syntax *toml.DecodeError
	switch err := toml.Unmarshal(text, &doc); {
	case errors.As(err, &syntax):
		line, _ := syntax.Position()
		return nil, fmt.Errorf("it is not valid TOML, in line %d", line)
	case err != nil:
		return nil, errors.New("it is not valid TOML")
	}
	if doc[codexTables] == nil {
		return nil, nil
	}
	servers, ok := doc[codexTables].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is no table", codexTables)
	}
	return servers, nil
}

func (s codexServer) missing(text []byte) (*piece, error) {
	servers, err := s.parse(text)
	if err != nil || servers[serverName] != nil {
		return nil, err
	}
	p := linesBehind(text, codexTable)
	if servers, err = s.parse(slices.Concat(text, []byte(p.Text))); err != nil || !s.isOurs(servers) {
		return nil, fmt.Errorf("%q takes no further table", codexTables)
	}
	return p, nil
}

func (s codexServer) cut(text []byte) (rest []byte, gone bool) {
	if servers, err := s.parse(text); err != nil || !s.isOurs(servers) {
		return text, false
	}
	rest, found := cutLines(text, codexTable)
	servers, err := s.parse(rest)
	if !found || err != nil || servers[serverName] != nil {
		return text, false
	}
	return rest, true
}

func (codexServer) isOurs(servers map[string]any) bool {
	return reflect.DeepEqual(servers[serverName], map[string]any{"command": "git-rekal", "args": []any{"mcp"}})
}

func (s codexServer) has(text []byte) (is bool, wrong string) {
	servers, _ := s.parse(text)
	server, _ := servers[serverName].(map[string]any)
	if !startsServer(append(words(server["command"]), words(server["args"])...)) {
		wrong = serverWrong
	}
	return servers[serverName] != nil, wrong
}
