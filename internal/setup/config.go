package setup

import (
	"path/filepath"
	"slices"
	"strings"
)

// serverName is what our server is called in every configuration.
const serverName = "git-rekal"

// config is the file in a worktree in which an agent looks for MCP servers. Teams commit it, so it is not ignored, and names no
// path of this machine.
type config struct {
	path  string   // slash-separated, below the worktree
	agent string   // whose sessions ask for it, by its name as a source
	signs []string // what else does: files and folders below the worktree
	entry entry
}

// entry is how a configuration holds servers: a form, but for what its server does.
type entry interface {
	add(text []byte) ([]byte, error)
	cut(text []byte) (rest []byte, ours bool)
	// line is the command line of the server that has our name; named is whether one has.
	line(text []byte) (command []string, named bool)
}

// configs are those that are known, as of November 2026: the documentation of each agent. Claude Code, Copilot CLI and VS Code read the
// first, which is always written. Cursor may start a server in the home folder, so it is told the repository.
func configs() []config {
	stdio := []string{`"command": "git-rekal"`, `"args": ["mcp"]`}
	return []config{
		{path: ".mcp.json", entry: object{"mcpServers", stdio, false}},
		{".codex/config.toml", "codex", []string{".codex"}, table{}},
		{".gemini/settings.json", "gemini-cli", []string{".gemini"}, object{"mcpServers", stdio, true}},
		{"opencode.json", "opencode", []string{"opencode.json", ".opencode"}, opencode()},
		{"opencode.jsonc", "", []string{"opencode.jsonc"}, opencode()},
		{".qwen/settings.json", "qwen-code", []string{".qwen"}, object{"mcpServers", stdio, true}},
		{".factory/mcp.json", "droid", []string{".factory"}, object{"mcpServers", append([]string{`"type": "stdio"`}, stdio...), true}},
		{"kilo.json", "kilo", []string{"kilo.json", ".kilo"}, opencode()},
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

// serverWhat is what a Report calls a server.
const serverWhat = "MCP server"

func (c config) addition() addition {
	return addition{c.path, serverWhat, "add the server `git-rekal mcp` by hand", server{c.entry}}
}

// server is our server in a configuration.
type server struct{ entry }

func (s server) named(text []byte) (is bool, wrong string) {
	line, is := s.line(text)
	if is && !starts(line) {
		wrong = "runs something else and was left alone; take it out and run `git rekal init --mcp` again, or register `git-rekal mcp` under another name"
	}
	return is, wrong
}

// starts reports whether a command line, as somebody wrote it, starts git-rekal: by whatever path, or as a command of
// git, which may be told the folder.
func starts(line []string) bool {
	line = slices.Clone(line)
	if len(line) > 3 && line[1] == "-C" {
		line = slices.Delete(line, 1, 3)
	}
	if len(line) > 0 {
		line[0] = strings.TrimSuffix(filepath.Base(line[0]), ".exe")
	}
	return slices.Equal(line, []string{serverName, "mcp"}) || slices.Equal(line, []string{"git", "rekal", "mcp"})
}
