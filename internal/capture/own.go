package capture

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Two sessions may commit in one worktree at the same moment. When the hook of one commit looks, HEAD may be at the
// other. git does not tell a hook for which commit it runs. But the subject stands in git's own arguments, or in the
// call by which the session in whose shell git runs makes the commit.

// together is how long after another commit the hook of one may still run.
const together = time.Minute

// ownCommit is the commit for which the hook runs: HEAD, unless another commit was made here right before it, and git
// was asked to make that.
func (g *collector) ownCommit(ctx context.Context, head git.OID, via string) git.OID {
	if via != session.ViaCommit {
		return head
	}
	made := g.madeInShell(via)
	recent := slices.DeleteFunc(history.RecentCommits(g.Repo, g.now.Add(-together)), func(c history.RecentCommit) bool {
		// Its hook has run, and found in whose shell git runs: then it is not the one that runs now.
		return len(g.st.untied(string(c.OID), slices.Clone(made))) < len(made)
	})
	if len(recent) < 2 && (len(recent) == 0 || recent[0].OID == head) {
		return head
	}
	var asked []string
	if g.Caller != nil {
		asked = append(asked, g.Caller(ctx))
	}
	for _, s := range g.fresh {
		if slices.Contains(g.shells, s.NativeID) && g.commitRunning(*s) != "" {
			asked = append(asked, s.ToolCalls[len(s.ToolCalls)-1].Cmd)
		}
	}
	for _, text := range asked {
		if id := namedCommit(recent, text); id != "" {
			return id
		}
	}
	return head
}

// namedCommit is the commit whose subject stands in a command, of several the one with the longest; "" for none, or for
// more than one.
func namedCommit(recent []history.RecentCommit, command string) (id git.OID) {
	longest := 0
	for _, c := range recent {
		if !strings.Contains(command, c.Subject) || len(c.Subject) < longest || c.Subject == "" {
			continue
		}
		if id = c.OID; len(c.Subject) == longest {
			id = ""
		}
		longest = len(c.Subject)
	}
	return id
}
