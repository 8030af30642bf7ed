package capture

import (
	"cmp"
	"strings"

	"github.com/git-rekal/git-rekal/internal/agent"
	"github.com/git-rekal/git-rekal/internal/session"
)

// maxAgent bounds the name of an agent, in bytes.
const maxAgent = 128

// shellSessions are the native IDs of the sessions in whose shells git runs.
func shellSessions(getenv func(string) string) (ids []string) {
	for _, a := range agent.All() {
		for _, name := range a.Shell.Sessions {
			if id := getenv(name); id != "" {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// agentOfShell is the agent in whose shell git runs; "" where none is known.
func agentOfShell(getenv func(string) string) string {
	for _, a := range agent.All() {
		if a.Shell.Mark != "" && getenv(a.Shell.Mark) != "" {
			return a.Source
		}
	}
	name := getenv("AI_AGENT")
	if len(name) > maxAgent || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return name
}

// InAgent reports whether the environment is that of a shell in which an agent runs commands: no person reads what they
// print, also on a terminal.
func InAgent(getenv func(string) string) bool {
	return agentOfShell(getenv) != "" || len(shellSessions(getenv)) > 0
}

// checkpointActor is who made the checkpoint: an agent if all its sessions are automated runs. The agent is the one in
// whose shell git runs, or else that of the first session.
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
