package setup

import (
	"path/filepath"
	"slices"
)

// serverName is what our server is called in every configuration.
const serverName = "git-rekal"

// config is the file in a worktree in which an agent looks for MCP servers. Teams commit it, so it is not ignored, and names no
// path of this machine.
type config struct {
	path  string   // slash-separated, below the worktree
	agent string   // whose sessions ask for it, by its name as a source
	signs []string // what else does: files and folders below the worktree
	form  form
}

// form is how a configuration is written. Both directions leave every byte that is not our entry's.
type form interface {
	// add adds our server; where one has our name, the text stays as it is. nil is a file that is not there.
	add(text []byte) ([]byte, error)
	// cut undoes add; ours is whether our server was there, as add writes it. nil is a file that was not there.
	cut(text []byte) (rest []byte, ours bool)
	// line is the command line of the server that has our name; named is whether one has.
	line(text []byte) (command []string, named bool)
}

// configs are those that are known, as of November 2026: the documentation of each agent. Claude Code, Copilot CLI and VS Code read the
// first, which is always written. Cursor may start a server in the home folder, so it is told the repository.
func configs() []config {
	stdio := []string{`"command": "git-rekal"`, `"args": ["mcp"]`}
	return []config{
		{path: ".mcp.json", form: object{"mcpServers", stdio, false}},
		{".codex/config.toml", "codex", []string{".codex"}, table{}},
		{".gemini/settings.json", "gemini-cli", []string{".gemini"}, object{"mcpServers", stdio, true}},
		{"opencode.json", "opencode", []string{"opencode.json", ".opencode"}, opencode()},
		{"opencode.jsonc", "", []string{"opencode.jsonc"}, opencode()},
		{".vscode/mcp.json", "", []string{".vscode"}, object{"servers", append([]string{`"type": "stdio"`}, stdio...), true}},
		{".cursor/mcp.json", "cursor", []string{".cursor"}, object{
			"mcpServers", []string{`"command": "git"`, `"args": ["-C", "${workspaceFolder}", "rekal", "mcp"]`}, true,
		}},
	}
}

func opencode() object {
	return object{"mcp", []string{`"type": "local"`, `"command": ["git-rekal", "mcp"]`}, true}
}

// wanted are the configurations of agents that are used here.
func (l Layout) wanted() []config {
	return slices.DeleteFunc(configs(), func(c config) bool {
		switch {
		case c.agent == "" && c.signs == nil:
			return false
		case c.path == "opencode.json" && exists(filepath.Join(l.WorkTree, "opencode.jsonc")):
			return !exists(filepath.Join(l.WorkTree, c.path)) // it reads both
		}
		return !l.uses(c.agent, c.signs...)
	})
}

// uses reports whether an agent has sessions of this repository, or something of its own in the worktree.
func (l Layout) uses(agent string, signs ...string) bool {
	return slices.Contains(l.Agents, agent) || slices.ContainsFunc(signs, func(s string) bool { return exists(filepath.Join(l.WorkTree, s)) })
}

// configAt is what is known of a path; its form is nil where that is no configuration.
func configAt(path string) config {
	for _, c := range configs() {
		if hasTail(path, c.path) {
			return c
		}
	}
	return config{}
}

// hasTail reports whether a path ends with a slash-separated one.
func hasTail(path, tail string) bool {
	tail = filepath.FromSlash(tail)
	return len(path) > len(tail) && path[len(path)-len(tail)-1] == filepath.Separator && path[len(path)-len(tail):] == tail
}
