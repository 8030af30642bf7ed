package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// captureReason is why a hook captures, "" where it only looks at what arrived; false when it has nothing to do.
func (c Call) captureReason(w *workspace.Workspace, author workspace.Author) (via string, ok bool, err error) {
	switch c.Name {
	case "post-commit":
		// The picks of a sequence are not acts of the user; its last one is, and post-rewrite
		// sees the end of a rebase.
		return session.ViaCommit, !history.IsSequencing(w.Repo), nil
	case "post-merge":
		own, err := w.IsOwnMerge(author)
		if err == nil && !own {
			return "", !history.IsMerging(w.Repo), nil // what was pulled may hold lines of sessions here
		}
		return session.ViaMerge, own && !history.IsSequencing(w.Repo), err
	case "post-applypatch":
		return session.ViaAm, !history.IsSequencing(w.Repo), nil // `rebase --apply` calls it, too
	case postRewrite:
		// A rebase calls it at its end, when its own state is still there; its own amends (a
		// fixup) are not acts of the user.
		return session.ViaRewrite, slices.Contains(c.Args, "rebase") || !history.IsSequencing(w.Repo), nil
	case prePush:
		return session.ViaPush, true, nil
	}
	return "", false, fmt.Errorf("hook %q is not one of git-rekal's", c.Name)
}

// rewriteLine is a line that git gives to post-rewrite: old and new OID, and maybe more.
var rewriteLine = lazy.Expr(`^([0-9a-f]{40}(?:[0-9a-f]{24})?) ([0-9a-f]{40}(?:[0-9a-f]{24})?)(?: |$)`)

func (c Call) parseRewrites(input string) []session.Rewrite {
	var out []session.Rewrite
	for line := range strings.Lines(input) {
		if m := rewriteLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil && c.Name == postRewrite {
			out = append(out, session.Rewrite{Old: m[1], New: m[2]})
		}
	}
	return out
}
