package setup

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// agentFile is a file in a worktree in which agents look for MCP servers, for hooks, or for both. Teams commit most of
// them, so they are not ignored, and name no path of this machine.
type agentFile struct {
	path  string // slash-separated, below the worktree
	agent string // its name as a source
	// files and folders below the worktree that show that the agent is used, as its sessions do; nil: it is always written
	signs  []string
	server section // our MCP server; nil where the agent looks elsewhere for servers
	hooks  *hookFormat
}

// hookFormat is how an agent's hooks are called, of those to which it takes a context as an answer.
type hookFormat struct {
	comments      bool   // the agent takes comments, and a comma behind the last member
	startMatcher  string // of SessionStart; "" where the agent matches nothing there
	prompt        string // the event of a prompt; "" where the agent takes no context there
	edit          string // the matcher of PreToolUse for edits; "" where the agent takes no context there
	failure       string // the matcher of PostToolUseFailure for commands; "" where the agent takes no context there
	timeout       int    // in the agent's unit
	trustHint     string // what a user of this agent has to know
	privateToUser bool   // the file is for one user alone
}

// agentFiles are those that are known as of November 2026: by the documentation of each agent. Hooks were tried with
// the real programs (docs/agents.md). Claude Code, Copilot CLI and VS Code read .mcp.json, which is always written.
// Cursor may start a server in the home folder, so it is told the repository.
//
// The agents' own commands, tried in November 2026, do worse than an insertion: "claude mcp add" writes the whole file
// anew, "gemini mcp add" takes nine seconds and drops the other servers of a file with comments, and "codex mcp add"
// knows only the user's own configuration.
func agentFiles() []agentFile {
	const begins = "startup|resume|clear|compact"
	const command, stdio = `"command": "git-rekal"`, `"type": "stdio"`
	const args, cursorArgs = `"args": ["mcp"]`, `"args": ["-C", "${workspaceFolder}", "rekal", "mcp"]`
	opencode := jsonServer("mcp", true, `"type": "local"`, `"command": ["git-rekal", "mcp"]`)
	return []agentFile{
		{path: ".mcp.json", server: jsonServer("mcpServers", false, command, args)},
		{
			path: ".claude/settings.local.json", agent: "claude-code",
			hooks: &hookFormat{
				startMatcher: begins, prompt: "UserPromptSubmit", edit: "Edit|MultiEdit", failure: "Bash",
				timeout: 5, privateToUser: true,
			},
		},
		{path: ".codex/config.toml", agent: "codex", signs: []string{".codex"}, server: codexServer{}},
		{
			path: ".codex/hooks.json", agent: "codex", signs: []string{".codex"},
			hooks: &hookFormat{
				startMatcher: begins, prompt: "UserPromptSubmit", timeout: 5,
				trustHint: "Codex runs hooks of a project only when you trust them: /hooks shows them",
			},
		},
		{
			path: ".gemini/settings.json", agent: "gemini-cli", signs: []string{".gemini"},
			server: jsonServer("mcpServers", true, command, args),
			hooks:  &hookFormat{comments: true, prompt: "BeforeAgent", timeout: 5000},
		},
		{
			path: ".github/hooks/git-rekal.json", agent: "copilot-cli",
			signs: []string{".github/hooks", ".github/copilot-instructions.md"},
			hooks: &hookFormat{prompt: "UserPromptSubmit", timeout: 5},
		},
		{path: "opencode.json", agent: "opencode", signs: []string{"opencode.json", ".opencode"}, server: opencode},
		{path: "opencode.jsonc", signs: []string{"opencode.jsonc"}, server: opencode},
		{
			path: ".qwen/settings.json", agent: "qwen-code", signs: []string{".qwen"},
			server: jsonServer("mcpServers", true, command, args),
			hooks:  &hookFormat{comments: true, startMatcher: begins, prompt: "UserPromptSubmit", timeout: 5},
		},
		{path: ".factory/settings.json", agent: "droid", signs: []string{".factory"}, hooks: &hookFormat{timeout: 5}},
		{
			path: ".factory/mcp.json", agent: "droid", signs: []string{".factory"},
			server: jsonServer("mcpServers", true, stdio, command, args),
		},
		{path: "kilo.json", agent: "kilo", signs: []string{"kilo.json", ".kilo"}, server: opencode},
		{path: ".pi/mcp.json", agent: "pi", signs: []string{".pi"}, server: jsonServer("mcpServers", false, command, args)},
		{path: ".vscode/mcp.json", signs: []string{".vscode"}, server: jsonServer("servers", true, stdio, command, args)},
		{
			path: ".cursor/mcp.json", agent: "cursor", signs: []string{".cursor"},
			server: jsonServer("mcpServers", true, `"command": "git"`, cursorArgs),
		},
	}
}

// Brief says which hooks of agents Install adds that have them told what they did not ask for.
type Brief struct {
	Start   bool // at a session's start, and after a compaction
	Prompts bool // at a prompt, too
	Edits   bool // before an edit, too
}

// BriefedAgents are the agents with a brief in their files of a worktree, by their names as sources.
func BriefedAgents(worktree string) (agents []string) {
	for _, f := range agentFiles() {
		if text := readText(filepath.Join(worktree, filepath.FromSlash(f.path))); f.hooks != nil && hasHooks([]byte(text)) {
			agents = append(agents, f.agent)
		}
	}
	return agents
}

// hasHooks reports whether a text speaks of our hooks in any form.
func hasHooks(text []byte) bool { return bytes.Contains(text, []byte("rekal brief --hook")) }

// isUsed reports whether the agents that read a file are used here: there are sessions of this repository, or something
// of theirs in the worktree.
func (l Layout) isUsed(f agentFile) bool {
	inTree := func(path string) bool { return exists(filepath.Join(l.WorkTree, path)) }
	if f.path == "opencode.json" && inTree("opencode.jsonc") { // it reads both
		return inTree(f.path)
	}
	return f.signs == nil || slices.Contains(l.Agents, f.agent) || slices.ContainsFunc(f.signs, inTree)
}

// serverAddition adds our MCP server to a file.
func (f agentFile) serverAddition() addition {
	return addition{
		path: f.path, what: serverWhat, byHand: "add the server `git-rekal mcp` by hand",
		sections: []section{f.server},
	}
}

// hookAddition adds the hooks that are asked for to a file.
func (f agentFile) hookAddition(b Brief) addition {
	a := addition{
		path: f.path, what: "brief", byHand: "mend it, and run `git rekal init --brief` again",
		hint: f.hooks.trustHint,
	}
	if f.hooks.privateToUser {
		a.hintIfNew = fmt.Sprintf("%s is for you alone: don't commit it", f.path)
	}
	// 2, which a git-rekal says that is too old, would deny something
	command := "git-rekal brief --hook " + f.agent + " || exit 0"
	hook := func(event, matcher string) {
		if matcher != "" {
			matcher = fmt.Sprintf(`"matcher": %q, `, matcher)
		}
		a.sections = append(a.sections, jsonValue{
			path: []string{"hooks", event}, comments: f.hooks.comments, sign: fmt.Sprintf("%q", command),
			value: fmt.Sprintf(`{%s"hooks": [{"type": "command", "command": %q, "timeout": %d}]}`, matcher, command,
				f.hooks.timeout),
		})
	}
	if b.Edits && f.hooks.edit != "" { // each goes before the others, so the last one comes first
		hook("PreToolUse", f.hooks.edit)
	}
	if b.Prompts && f.hooks.prompt != "" {
		hook(f.hooks.prompt, "")
	}
	if b.Start && f.hooks.failure != "" {
		hook("PostToolUseFailure", f.hooks.failure)
	}
	if b.Start {
		hook("SessionStart", f.hooks.startMatcher)
	}
	return a
}

// requestedAdditions are the additions that the user asks for, in the files of the agents that are used here.
func (l Layout) requestedAdditions() (all []addition) {
	for _, f := range slices.DeleteFunc(agentFiles(), func(f agentFile) bool { return !l.isUsed(f) }) {
		if l.MCP && f.server != nil {
			all = append(all, f.serverAddition())
		}
		if l.Brief != (Brief{}) && f.hooks != nil {
			all = append(all, f.hookAddition(l.Brief))
		}
	}
	if !l.Pointer {
		return all
	}
	before := len(all)
	for _, path := range pointerFiles() {
		if exists(filepath.Join(l.WorkTree, path)) {
			all = append(all, pointerAddition(path))
		}
	}
	if len(all) == before {
		all = append(all, pointerAddition(pointerFiles()[0]))
	}
	return all
}

// additionsTo are all that Install could have added to a file, in whichever worktree.
func additionsTo(path string) (all []addition) {
	isAt := func(tail string) bool { return strings.HasSuffix(filepath.ToSlash(path), "/"+tail) }
	for _, f := range agentFiles() {
		if f.hooks != nil && isAt(f.path) {
			all = append(all, f.hookAddition(Brief{true, true, true}))
		}
		if f.server != nil && isAt(f.path) {
			all = append(all, f.serverAddition())
		}
	}
	for _, p := range pointerFiles() {
		if isAt(p) {
			all = append(all, pointerAddition(p))
		}
	}
	return all
}

// serverProblem says of a server by our name that it is another one: if its command line, as somebody wrote it, does
// not start ours, by whatever path, or as a command of git, which may be told the folder.
func serverProblem(server map[string]any) string {
	words := append(stringsOf(server["command"]), stringsOf(server["args"])...)
	if len(words) > 3 && words[1] == "-C" {
		words = slices.Delete(words, 1, 3)
	}
	if len(words) > 0 {
		words[0] = strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	}
	if slices.Equal(words, []string{serverName, "mcp"}) || slices.Equal(words, []string{"git", "rekal", "mcp"}) {
		return ""
	}
	return "runs something else and was left alone; take it out and run `git rekal init --mcp` again, or register `git-rekal mcp` under another name"
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
