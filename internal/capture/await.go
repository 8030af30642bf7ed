package capture

import (
	"context"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/agent"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Copilot CLI writes its transcript in batches, so that turns may reach the file after the hook of their commit has
// run. A hook in Copilot's shell waits shortly for the file of that session, and for no other. If nothing comes, the
// commit is left to a later capture, as if no hook had seen it (missed.go). That capture finds its lines in any
// worktree (wrote.go).

// patience is how long a hook waits at most, lookEach how long between two looks at the file.
const (
	patience = 150 * time.Millisecond
	lookEach = 10 * time.Millisecond
)

// awaitCopilot waits until the transcript of the Copilot session in whose shell git runs holds the call that runs git,
// for patience at most.
func (c *Capturer) awaitCopilot(ctx context.Context) {
	id := c.Getenv(agent.CopilotSession)
	path := transcript.Copilot{}.RunningFile(transcript.Env{Home: c.Home, Getenv: c.Getenv}, id)
	if id == "" || path == "" {
		return
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for !(transcript.Copilot{}).HasOpenCall(path) {
		select {
		case <-ctx.Done():
			return
		case <-enough.C:
			return
		case <-time.After(lookEach):
		}
	}
}

// awaitsSession reports whether git runs in the shell of a session, and the round has found nothing new of that
// session.
func (g *collector) awaitsSession() bool {
	return len(g.shells) > 0 && !slices.ContainsFunc(g.fresh,
		func(s *session.Session) bool { return slices.Contains(g.shells, s.NativeID) })
}
