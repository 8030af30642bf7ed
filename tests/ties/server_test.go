package ties

import (
	"os"
	"strings"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// mergesThere lets the server merge a branch of the author's as hosts do, without any hook: as one commit, or each
// of them anew.
func (a *author) mergesThere(way string, t topic) {
	by := a
	if a.rng.IntN(4) == 0 {
		by = a.authors[a.rng.IntN(2)] // who pressed the button
	}
	a.tick()
	desk := a.hub.With("PATH="+os.Getenv("PATH"), "GIT_COMMITTER_NAME=GitHub", "GIT_COMMITTER_EMAIL=noreply@github.com",
		"GIT_COMMITTER_DATE="+a.date())
	desk.Git("desk", "checkout", "-q", "--detach", "main")
	var c *commit
	if way == "squash-merge" {
		desk = desk.With("GIT_AUTHOR_NAME="+by.name, "GIT_AUTHOR_EMAIL="+by.email, "GIT_AUTHOR_DATE="+a.date())
		c = a.squashed(desk, t)
	} else {
		c = a.rebased(desk, t)
	}
	if c == nil {
		_, _ = desk.Try("desk", "rebase", "--abort") // it may not have begun
		desk.Git("desk", "reset", "-q", "--hard", "main")
		a.notes(0, "%s of %s did not go", way, t.name)
		return
	}
	desk.Git("server.git", "update-ref", "refs/heads/main", c.sha)
	a.there = c
	a.notes(0, "%s of %s: %.7s", way, t.name, c.sha)
}

func (a *author) squashed(desk *harness.Place, t topic) *commit {
	main := a.there
	now, ok := mergedTrees(base(main, t.head).tree, main.tree, t.head.tree)
	if !ok || now.equal(main.tree) {
		return nil
	}
	if _, err := desk.Try("desk", "merge", "-q", "--squash", t.name); err != nil || !lies(desk.At("desk"), now) {
		return nil
	}
	desk.Git("desk", "commit", "-q", "-m", "Work of "+t.name+" (#1)")
	return a.made(desk.Git("desk", "rev-parse", "HEAD"), now, main)
}

func (a *author) rebased(desk *harness.Place, t topic) *commit {
	main := a.there
	list, linear := t.head.since(base(main, t.head))
	trees := replayed(list, main)
	if !linear || len(trees) == 0 {
		return nil
	}
	if _, err := desk.Try("desk", "rebase", "-q", "--no-ff", "main", t.name+"^0"); err != nil ||
		!lies(desk.At("desk"), trees[len(trees)-1]) {
		return nil
	}
	return a.chain(main, strings.ReplaceAll(desk.Git("desk", "rev-list", "--reverse", "main..HEAD"), "\n", " "), trees)
}
