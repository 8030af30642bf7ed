package capture

import (
	"context"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// An agent may write its transcript behind the hook's back: Copilot CLI does so in batches. A hook of a commit that runs in its shell waits for that
// session's file, shortly, and for no other one. A commit whose session has not come is left to a later capture, as if no hook had seen it
// (missed.go); that finds its lines in whichever worktree it runs (wrote.go).

// patience is how long a hook waits in all, lookEach how long between two looks.
const (
	patience = 150 * time.Millisecond
	lookEach = 10 * time.Millisecond
)

// await waits for the transcript of the session that commits.
func (c *Capturer) await(ctx context.Context) {
	id := c.Getenv(copilotShell)
	path := transcript.Copilot{}.Running(transcript.Env{Home: c.Home, Getenv: c.Getenv}, id)
	if id == "" || path == "" {
		return
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for !(transcript.Copilot{}).Runs(path) {
		select {
		case <-ctx.Done():
			return
		case <-enough.C:
			return
		case <-time.After(lookEach):
		}
	}
}

// awaitsSession reports whether git runs in the shell of a session of which nothing new has come.
func (g *collector) awaitsSession() bool {
	ids := shellSessions(g.getenv)
	return len(ids) > 0 && !slices.ContainsFunc(g.fresh, func(s *session.Session) bool { return slices.Contains(ids, s.NativeID) })
}
