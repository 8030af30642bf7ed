package ties

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// commit commits files by their numbers, or all, and returns what the model has of it.
func (a *author) commit(message string, numbers []int, env ...string) {
	a.T.Helper()
	a.tick()
	t, add := a.work, []string{"add", "-A"}
	var parents []*commit
	if a.head != nil {
		parents = append(parents, a.head)
	}
	if numbers != nil {
		t, add = a.head.tree, append(add, "--")
		for _, n := range numbers {
			t, add = t.with(n, a.work[n]), append(add, a.work[n].path)
		}
	}
	a.git(add...)
	a.machine(env...).Git(a.dir, "commit", "-q", "--allow-empty", "-m", message)
	a.at(a.made(a.git("rev-parse", "HEAD"), t, parents...))
	a.notes(0, "commit %.7s %s", a.head.sha, message)
}

// at says where the author's branch is.
func (a *author) at(c *commit) {
	a.head = c
	if a.branch == "main" {
		a.main = c
	}
}

// to is at for a clean folder.
func (a *author) to(c *commit) {
	a.T.Helper()
	a.at(c)
	a.work = c.tree
}

// changed are the files that differ from the last commit.
func (a *author) changed() []int {
	return slices.DeleteFunc(a.work.numbers(), func(n int) bool { return a.work[n].equal(a.head.tree[n]) })
}

// commits commits what was done, in one of the ways in which that is done; some sessions say a last word.
func (a *author) commits() {
	numbers := a.changed()
	if a.often("some files") && len(numbers) > 1 {
		numbers = numbers[:1+a.rng.IntN(len(numbers)-1)]
	} else {
		numbers = nil
	}
	message := fmt.Sprintf("Change %d", a.count)
	switch {
	case a.often("amend") && !a.there.past()[a.head] && len(a.head.parents) == 1:
		a.amend()
	case a.rng.IntN(2) == 0 && len(a.talks) > 0:
		k := a.talks[a.rng.IntN(len(a.talks))]
		a.runs(k, "git commit -m '"+message+"'", func() {
			a.commit(message+" by "+k.name, numbers, k.shell()...)
		})
	default:
		a.commit(message, numbers)
	}
	for _, k := range a.talks {
		if k.edited && a.rng.IntN(2) == 0 {
			a.says(k, "Done. The tests pass.")
			a.notes(0, "%s says a last word", k.name)
			k.edited = false
		}
	}
}

func (a *author) amend() {
	a.tick()
	a.git("add", "-A")
	a.git("commit", "-q", "--allow-empty", "--amend", "--no-edit")
	a.at(a.made(a.git("rev-parse", "HEAD"), a.work, a.head.parents...))
	a.notes(0, "amend: %.7s", a.head.sha)
}

// moves renames a file, which a session may also change, and commits.
func (a *author) moves() {
	n, f := a.some()
	to := fmt.Sprintf("lib%d/%s", a.count, filepath.Base(f.path))
	a.must(os.MkdirAll(filepath.Join(a.dir, filepath.Dir(to)), 0o777))
	a.git("mv", f.path, to)
	a.work = a.work.with(n, file{to, f.text})
	a.notes(n, "mv %s %s", f.path, to)
	if a.rng.IntN(2) == 0 {
		c := a.idea(a.work[n])
		a.edits(a.one(), n, c, c, "edit")
	}
	a.commit("Move "+f.path, nil)
}

// applies makes a commit of git's own with one parent, as a pick or a revert; it goes back where it can't be foreseen.
func (a *author) applies(base, theirs tree, args ...string) {
	t, ok := mergedTrees(base, a.head.tree, theirs)
	if !ok || t.equal(a.head.tree) {
		return
	}
	a.tick()
	if !a.try(args...) || !lies(a.dir, t) {
		a.back(args[0])
		return
	}
	a.to(a.made(a.git("rev-parse", "HEAD"), t, a.head))
	a.notes(0, "%s: %.7s", strings.Join(args, " "), a.head.sha)
}

// back undoes what git did otherwise than foreseen.
func (a *author) back(what string) {
	a.try(what, "--abort")
	a.git("reset", "-q", "--hard", a.head.sha)
	a.git("clean", "-fdq")
	a.notes(0, "%s did not go", what)
}

func (a *author) reverts() {
	var list []*commit
	for c := a.head; len(c.parents) == 1 && len(list) < 5; c = c.parents[0] {
		list = append(list, c)
	}
	if len(list) > 0 {
		c := list[a.rng.IntN(len(list))]
		a.applies(c.tree, c.parents[0].tree, "revert", "--no-edit", c.sha)
	}
}

// picks takes a commit from a branch on the server.
func (a *author) picks(from topic) {
	list, _ := from.head.since(from.was)
	if len(list) == 0 {
		return
	}
	c := list[a.rng.IntN(len(list))]
	if len(c.parents) == 1 && !a.head.past()[c] {
		a.git("fetch", "-q", "origin")
		a.applies(c.parents[0].tree, c.tree, "cherry-pick", c.sha)
	}
}

// replayed is what a rebase makes of commits; nil where it stops.
func replayed(list []*commit, onto *commit) (trees []tree) {
	now := onto.tree
	for _, c := range list {
		t, ok := mergedTrees(c.parents[0].tree, now, c.tree)
		if !ok {
			return nil
		}
		if !t.equal(now) {
			now = t
			trees = append(trees, t)
		}
	}
	return trees
}

// chain puts commits with these names and trees upon another; nil where they are not as many.
func (h *history) chain(onto *commit, names string, trees []tree) *commit {
	shas := strings.Fields(names)
	if len(shas) != len(trees) {
		return nil
	}
	for i, t := range trees {
		onto = h.made(shas[i], t, onto)
	}
	return onto
}

// rebases puts the branch upon what the server has.
func (a *author) rebases(args ...string) bool {
	onto := a.there
	list, linear := a.head.since(base(a.head, onto))
	trees := replayed(list, onto)
	if !linear || len(trees) == 0 {
		return false
	}
	a.tick()
	if a.try(args...) && lies(a.dir, trees[len(trees)-1]) {
		if c := a.chain(onto, a.git("rev-list", "--reverse", onto.sha+"..HEAD"), trees); c != nil {
			a.to(c)
			a.notes(0, "%s: %d commits, %.7s", strings.Join(args, " "), len(trees), c.sha)
			return true
		}
	}
	a.back("rebase")
	return false
}

// merges joins another commit into the branch.
func (a *author) merges(c *commit, args ...string) bool {
	t, ok := mergedTrees(base(a.head, c).tree, a.head.tree, c.tree)
	if !ok {
		return false
	}
	a.tick()
	if !a.try(args...) || !lies(a.dir, t) {
		a.back("merge")
		return false
	}
	a.to(a.made(a.git("rev-parse", "HEAD"), t, a.head, c))
	a.notes(0, "%s: %.7s", strings.Join(args, " "), a.head.sha)
	return true
}
