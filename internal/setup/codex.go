package setup

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/pelletier/go-toml/v2"
)

// codexServer is the section for our MCP server in Codex's configuration, which is TOML: a table at the end of the
// file.
type codexServer struct{}

const (
	codexTables = "mcp_servers"
	codexTable  = "[" + codexTables + "." + serverName + "]\ncommand = \"git-rekal\"\nargs = [\"mcp\"]\n"
)

// parseServers reads the MCP servers of a configuration, by their names.
func (codexServer) parseServers(text []byte) (servers map[string]any, err error) {
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

func (s codexServer) add(text []byte) (more []byte, err error) {
	servers, err := s.parseServers(text)
	if err != nil || servers[serverName] != nil {
		return text, err
	}
	more = appendLines(text, codexTable)
	if servers, err = s.parseServers(more); err != nil || !s.isOurs(servers) {
		return nil, fmt.Errorf("%q takes no further table", codexTables)
	}
	return more, nil
}

func (s codexServer) remove(text []byte, _ bool) (rest []byte, at int) {
	if servers, err := s.parseServers(text); err != nil || !s.isOurs(servers) {
		return text, -1
	}
	rest, at = cutLines(text, codexTable)
	if servers, err := s.parseServers(rest); err != nil || servers[serverName] != nil {
		return text, -1
	}
	return rest, at
}

func (codexServer) isOurs(servers map[string]any) bool {
	return reflect.DeepEqual(servers[serverName], map[string]any{"command": "git-rekal", "args": []any{"mcp"}})
}

func (s codexServer) find(text []byte) (present bool, problem string) {
	servers, _ := s.parseServers(text)
	server, _ := servers[serverName].(map[string]any)
	return servers[serverName] != nil, serverProblem(server)
}
