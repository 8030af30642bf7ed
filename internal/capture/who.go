package capture

import (
	"cmp"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

// maxAgent bounds the name of an agent, in bytes.
const maxAgent = 128

// Variables that coding agents set in the shells in which they run commands, so that a hook can tell in whose shell it runs (seen
// in November 2026).

// copilotShell is the variable of Copilot CLI.
const copilotShell = "COPILOT_AGENT_SESSION_ID"

// shellSessions are the native IDs of the sessions in whose shells git runs.
func shellSessions(getenv func(string) string) (ids []string) {
	for _, name := range [...]string{"CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", copilotShell, "QWEN_CODE_SESSION_ID", "PI_SESSION_ID"} {
		if id := getenv(name); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// agentOfShell is the agent in whose shell git runs; "" where none is known.
func agentOfShell(getenv func(string) string) string {
	for _, v := range [...]struct{ name, agent string }{
		{"CLAUDECODE", "claude-code"},
		{"GEMINI_CLI", "gemini-cli"},
		{"KILO", "kilo"},
		{"OPENCODE", "opencode"},
		{"COPILOT_CLI", "copilot-cli"},
		{"PI_CODING_AGENT", "pi"},
	} {
		if getenv(v.name) != "" {
			return v.agent
		}
	}
	name := getenv("AI_AGENT")
	if len(name) > maxAgent || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return name
}

// InAgent reports whether the environment is that of a shell in which an agent runs commands: no person reads what they print, also on
// a terminal.
func InAgent(getenv func(string) string) bool {
	return agentOfShell(getenv) != "" || len(shellSessions(getenv)) > 0
}

// checkpointActor is who made the checkpoint: an agent if all its sessions are automated runs. The agent is the one in whose
// shell git runs, or else that of the first session.
func (g *collector) checkpointActor() (actor, agent string) {
	actor = session.ActorHuman
	if g.CI || len(g.fresh) > 0 {
		actor = session.ActorAgent
	}
	for _, s := range g.fresh {
		if s.ActorType == session.ActorHuman {
			actor = session.ActorHuman
		}
	}
	actor = cmp.Or(g.Actor, actor)
	if agent = agentOfShell(g.getenv); agent == "" && actor == session.ActorAgent && len(g.fresh) > 0 {
		agent = g.fresh[0].AgentID
	}
	return actor, agent
}
