package ties

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// What stands behind a commit is known where a piece of work is told whole: all that is in the commit is of one
// session, or of a person.

// expected says which session alone stands behind a commit; nil for none.
type expected struct {
	commit *commit
	by     *talk
	what   string
}

// expects notes who stands behind the last commit.
func (a *author) expects(by *talk, what string) {
	a.behindIs = append(a.behindIs, expected{a.head, by, what})
}

// begins is a session of its own, which is asked for something. Nothing that others have done waits for a commit then.
func (a *author) begins() *talk {
	if len(a.changed()) > 0 {
		a.commit(fmt.Sprintf("Change %d", a.count), nil)
	}
	k := a.turns(a.open())
	a.all = append(a.all, k)
	// What begins with the same words at the same moment would be a fork.
	a.prompts(k, "please "+verbs[a.rng.IntN(len(verbs))]+" the "+nouns[a.rng.IntN(len(nouns))]+" in a file of its own, as "+k.name)
	return k
}

// byHand makes a new file by hand.
func (a *author) byHand() {
	a.tick()
	path := fmt.Sprintf("docs/hand%d.go", a.files)
	a.notes(a.creates(path, tongueOf(path).beginning(a.rng, 1), nil, "person"), "person makes %s", path)
}

// shell is the environment of a session's shell.
func (k *talk) shell() []string {
	if k.dialect != nil {
		return k.dialect.env(k.id)
	}
	return []string{"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ID=" + k.id}
}

// commitsBy has a session commit all, in whose shell git runs.
func (a *author) commitsBy(k *talk, message string) {
	a.runs(k, "git commit -m '"+message+"'", func() { a.commit(message, nil, k.shell()...) })
}

// closes is a session that commits and says its closing words; what a person commits then, also days later, is not its.
func (a *author) closes() {
	k := a.begins()
	a.fresh(k)
	a.commitsBy(k, fmt.Sprintf("Work %d of %s", a.count, k.name))
	a.expects(k, "its own commit, before closing words")
	a.says(k, "Done. It is committed.")
	a.byHand()
	a.commit(fmt.Sprintf("By hand %d", a.count), nil)
	a.expects(nil, "by hand, after closing words")
}

// comesLate is a session whose transcript is seen long after its commit; a person changes another line of its file
// before that.
func (a *author) comesLate() {
	k := a.begins()
	if k.dialect != nil && k.dialect.name != "codex" { // its folder has more than the transcript
		a.fresh(k)
		a.commit(fmt.Sprintf("Work %d of %s", a.count, k.name), nil)
		a.expects(k, "its own commit")
		return
	}
	seen := k.path
	hidden := filepath.Join(a.Home(), "hidden", filepath.Base(seen))
	a.must(os.MkdirAll(filepath.Dir(hidden), 0o777))
	a.must(os.Rename(seen, hidden))
	k.path = hidden
	a.fresh(k)
	number := a.files
	a.commit(fmt.Sprintf("Work %d of %s", a.count, k.name), nil)
	own := a.head
	a.types(number, append(a.work[number].text.lines(), "// typed by hand "+a.name))
	a.must(os.Rename(hidden, seen))
	k.path = seen
	a.commit(fmt.Sprintf("By hand %d", a.count), nil)
	a.expects(nil, "by hand, as a session comes late")
	a.behindIs = append(a.behindIs, expected{own, k, "of a session that comes late"})
}

// together are two sessions that commit in one clone at the same moment.
func (a *author) together() {
	both := [2]*talk{a.begins(), a.begins()}
	var numbers [2]int
	for i, k := range both {
		a.fresh(k)
		numbers[i] = a.files
	}
	a.git("add", "-A")
	before := a.head
	defer a.holdsHook(before)()
	a.runs(both[0], "git commit -m 'Work of "+both[0].name+"'", func() {
		a.runs(both[1], "git commit -m 'Work of "+both[1].name+"'", func() {
			var wait sync.WaitGroup
			for i, k := range both {
				wait.Go(func() { a.commitsWhenFree(k, a.work[numbers[i]].path) })
			}
			wait.Wait()
		})
	})
	for sha := range strings.FieldsSeq(a.git("rev-list", "--reverse", before.sha+"..HEAD")) {
		i := slices.IndexFunc(both[:], func(k *talk) bool {
			return a.git("log", "-1", "--format=%s",
				sha) == "Work of "+k.name
		})
		a.at(a.made(sha, a.head.tree.with(numbers[i], a.work[numbers[i]]), a.head))
		a.notes(0, "commit %.7s of %s, at once with another", sha, both[i].name)
		a.expects(both[i], "at once with another")
	}
	if len(a.changed()) > 0 {
		a.T.Fatalf("%s and %s did not both commit", both[0].name, both[1].name)
	}
}

// holdsHook has the hook of a commit wait until there are two upon another one, so that HEAD has moved on for the
// first; until the end that it returns.
func (a *author) holdsHook(before *commit) (end func()) {
	a.T.Helper()
	if a.late {
		return func() {}
	}
	hook := filepath.Join(a.dir, ".git", "hooks", "post-commit.pre-rekal") // runs first
	a.must(os.WriteFile(hook, fmt.Appendf(nil, `#!/bin/sh
for i in $(seq 200); do
	[ "$(git rev-list --count %s..HEAD)" != 2 ] || exit 0
	sleep .05
done
`, before.sha), 0o700))
	return func() { a.must(os.Remove(hook)) }
}

// commitsWhenFree has a session commit a file, as soon as nobody else holds the index.
func (a *author) commitsWhenFree(k *talk, path string) {
	for range 1000 {
		if _, err := a.machine(k.shell()...).Try(a.dir, "commit", "-q", "-m", "Work of "+k.name, "--", path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stops adds a commit where a rebase stops behind another one: that is still there, and became nothing.
func (a *author) stops() {
	first, second := a.begins(), a.begins()
	a.fresh(first)
	a.commitsBy(first, fmt.Sprintf("Work %d of %s", a.count, first.name))
	a.expects(first, "its own commit, at which a rebase stops")
	edited := a.head
	a.fresh(second)
	number := a.files
	a.commitsBy(second, fmt.Sprintf("Work %d of %s", a.count, second.name))
	moved := a.head.tree[number]
	a.machine("GIT_SEQUENCE_EDITOR=sed -i 1s/^pick/edit/").Git(a.dir, "rebase", "-q", "-i", "HEAD~2")
	a.to(edited)
	if a.git("rev-parse", "HEAD") != edited.sha {
		a.T.Fatalf("the rebase did not stop at %s", edited.sha)
	}
	if a.rng.IntN(2) == 0 {
		a.byHand()
		a.commit(fmt.Sprintf("By hand %d", a.count), nil)
		a.expects(nil, "by hand, where a rebase stops")
	} else {
		k := a.begins()
		a.fresh(k)
		a.commitsBy(k, fmt.Sprintf("Work %d of %s", a.count, k.name))
		a.expects(k, "its own commit, where a rebase stops")
	}
	a.tick()
	a.git("rebase", "--continue")
	a.to(a.made(a.git("rev-parse", "HEAD"), a.head.tree.with(number, moved), a.head))
	a.notes(0, "rebase goes on to %.7s", a.head.sha)
	a.expects(second, "its own commit, moved by a rebase that stopped")
}

// tellsWhole does the pieces of work that are told whole, between two pushes, so that their commits stay.
func (a *author) tellsWhole() {
	for _, x := range []struct {
		kind string
		do   func()
	}{{"closing words", a.closes}, {"seen late", a.comesLate}, {"at once", a.together}, {"edit stop", a.stops}} {
		if a.often(x.kind) {
			a.push()
			x.do()
			a.push()
		}
	}
}

// judgeBehind asks who stands behind the commits of which that is known.
func (a *author) judgeBehind() (asked int, mistakes []string) {
	a.T.Helper()
	past := a.head.past()
	for _, e := range a.behindIs {
		if !past[e.commit] {
			continue
		}
		var want []string
		if e.by != nil {
			want = append(want, e.by.id)
		}
		asked++
		if got := a.behind(e.commit.sha); !slices.Equal(got, want) {
			mistakes = append(mistakes, fmt.Sprintf("behind %.7s in %s's clone, %s, stand %v, not %v", e.commit.sha, a.name,
				e.what, a.called(got), a.called(want)))
		}
	}
	return asked, mistakes
}
