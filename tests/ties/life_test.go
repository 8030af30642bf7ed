package ties

import (
	"fmt"
	"iter"
)

// kinds are what histories are about. In "all" everything happens.
var kinds = []string{
	"plain", "some files", "amend", "rebase", "rebase-merge", "squash-merge", "merge", "cherry-pick", "revert", "mv",
	"formatter", "talk",
	"closing words", "seen late", "at once", "edit stop", "all",
}

// often draws whether a thing happens, that is what a history may be about.
func (h *history) often(what string) bool {
	switch h.kind {
	case what:
		return h.rng.IntN(10) < 6
	case "all":
		return h.rng.IntN(10) < 2
	}
	return false
}

// live lets both authors work at the same time, and tells both what came of it.
func (h *history) live(rounds int) {
	h.t.Helper()
	one, stop := iter.Pull(h.authors[0].life(rounds))
	defer stop()
	other, halt := iter.Pull(h.authors[1].life(rounds))
	defer halt()
	alive := []func() (struct{}, bool){one, other}
	for len(alive) > 0 {
		i := h.rng.IntN(len(alive))
		if _, more := alive[i](); !more {
			alive = append(alive[:i], alive[i+1:]...)
		}
	}
	h.ends()
}

// ends gives both authors all that there is.
func (h *history) ends() {
	h.t.Helper()
	a, b := h.authors[0], h.authors[1]
	a.push()
	b.push()
	a.update()
	if h.late {
		a.setUp()
		b.setUp()
	}
	for _, who := range []*author{a, b, a} {
		who.git("rekal", "sync", "--yes")
	}
}

// life is what an author does, with a pause behind each thing, in which the other may do something.
func (a *author) life(rounds int) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		for range rounds {
			a.round(func() { yield(struct{}{}) })
		}
	}
}

// round is a piece of work from its first edit until it is on the server.
func (a *author) round(pause func()) {
	a.update()
	way := a.way()
	if way != "push" {
		a.leaves()
	}
	was := a.head
	for range 1 + a.rng.IntN(3) {
		for range 1 + a.rng.IntN(4) {
			a.acts()
			pause()
		}
		a.commits()
		pause()
	}
	if len(a.changed()) > 0 {
		a.commit(fmt.Sprintf("Change %d", a.count), nil)
	}
	if a.often("mv") {
		a.moves()
	}
	a.lands(way, topic{a.branch, a.head, was}, pause)
	a.rests()
}

// rests is what happens between two pieces of work.
func (a *author) rests() {
	a.tellsWhole()
	if a.often("revert") {
		a.reverts()
	}
	if n := len(a.topics); n > 0 && a.often("cherry-pick") {
		a.picks(a.topics[a.rng.IntN(n)])
	}
	if !a.late && a.rng.IntN(4) == 0 {
		a.git("rekal", "sync", "--yes")
		a.notes(0, "sync")
	}
	if len(a.talks) > 0 && a.rng.IntN(2) == 0 {
		a.talks = a.talks[1:]
	}
}

// way is how a piece of work gets to the server.
func (a *author) way() string {
	for _, way := range []string{"rebase", "rebase-merge", "squash-merge", "merge", "cherry-pick"} {
		if a.often(way) {
			return way
		}
	}
	return "push"
}

// leaves begins a branch.
func (a *author) leaves() {
	a.branch = fmt.Sprintf("%s-topic-%d", a.name, a.count)
	a.git("checkout", "-q", "-b", a.branch)
	a.notes(0, "branch %s", a.branch)
}

// home goes back to main as it is on the server.
func (a *author) home() {
	a.branch, a.head = "main", a.main
	a.git("checkout", "-q", "main")
	a.work = a.head.tree
	a.update()
}

// update gets what the server has into main. What can't be joined is given up.
func (a *author) update() {
	theirs := a.there
	switch base(a.head, theirs) {
	case theirs:
	case a.head:
		a.git("pull", "-q", "--ff-only", "origin", "main")
		a.to(theirs)
		a.notes(0, "pull %.7s", theirs.sha)
	default:
		if a.rng.IntN(2) == 0 && a.rebases("pull", "-q", "--rebase", "origin", "main") ||
			a.merges(theirs, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main") {
			return
		}
		a.git("fetch", "-q", "origin")
		a.git("reset", "-q", "--hard", theirs.sha)
		a.to(theirs)
		a.notes(0, "gave up, reset to %.7s", theirs.sha)
	}
}

// push sends main.
func (a *author) push() {
	a.update()
	a.git("push", "-q", "origin", "main")
	a.there = a.head
	a.notes(0, "push %.7s", a.head.sha)
}

// lands brings a piece of work to the server. What does not go is left behind.
func (a *author) lands(way string, t topic, pause func()) {
	switch way {
	case "push":
	case "rebase":
		a.git("fetch", "-q", "origin")
		gone := base(a.head, a.there) == a.there || a.rebases("rebase", "-q", "origin/main")
		done := a.head
		if a.home(); gone && base(a.head, done) == a.head {
			a.git("merge", "-q", "--ff-only", t.name)
			a.to(done)
		}
	case "merge":
		if a.home(); a.head != t.head {
			a.merges(t.head, "merge", "-q", "--no-ff", "--no-edit", t.name)
		}
	default:
		a.git("push", "-q", "origin", t.name)
		a.topics = append(a.topics, t)
		pause()
		if way != "cherry-pick" {
			a.mergesThere(way, t)
		}
		if a.home(); way == "cherry-pick" {
			a.picks(t)
		}
	}
	a.push()
}
