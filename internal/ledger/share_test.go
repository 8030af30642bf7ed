package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const (
	tracking = "refs/remotes/origin/rekal/a@example.com"
	bobs     = "refs/heads/rekal/bob@example.com"
	held     = "refs/rekal/origin/bob@example.com"
)

// machines are clones of one author, with a remote that accepts no force.
func machines(t *testing.T, n int) (remote *store, clones []*store) {
	t.Helper()
	remote = newStore(t)
	remote.git("config", "receive.denyNonFastForwards", "true")
	for range n {
		c := newStore(t)
		c.git("remote", "add", "origin", filepath.Join(remote.dir, ".git"))
		clones = append(clones, c)
	}
	return remote, clones
}

func push(t *testing.T, l *ledger.Ledger) int {
	t.Helper()
	sent, err := l.Push(t.Context(), "origin", false)
	if err != nil {
		t.Fatal(err)
	}
	return sent.Commits
}

// all lists the notes behind a tip, sorted.
func all(t *testing.T, r *git.Repo, tip git.OID) []int {
	t.Helper()
	out := notes(t, r, since(t, r, tip))
	slices.Sort(out)
	return out
}

func TestPush(t *testing.T) {
	remote, clones := machines(t, 1)
	l := clones[0].own()
	if sent := push(t, l); sent != 0 {
		t.Errorf("without a ledger: %d sent", sent)
	}
	add(t, l, note(t, 1, morning), note(t, 2, morning))
	if sent := push(t, l); sent != 3 { // with the first commit, which has the README
		t.Errorf("first: %d sent", sent)
	}
	if sent := push(t, l); sent != 0 {
		t.Errorf("nothing new: %d sent", sent)
	}
	if ok, err := l.IsSent("origin"); !ok || err != nil {
		t.Errorf("Sent: %v, %v", ok, err)
	}
	add(t, l, note(t, 3, morning))
	if ok, err := l.IsSent("origin"); ok || err != nil {
		t.Errorf("Sent with something new: %v, %v", ok, err)
	}
	if sent := push(t, l); sent != 1 {
		t.Errorf("one more: %d sent", sent)
	}
	// A lock that a dead process left on the remote-tracking ref keeps nobody from pushing. Without it the next push notes
	// what is there.
	add(t, l, note(t, 4, morning))
	locked := filepath.Join(clones[0].dir, ".git", filepath.FromSlash(tracking)+".lock")
	write(t, locked, "")
	if sent := push(t, l); sent != 1 {
		t.Errorf("past a stale lock: %d sent", sent)
	}
	if err := os.Remove(locked); err != nil {
		t.Fatal(err)
	}
	if sent := push(t, l); sent != 0 {
		t.Errorf("without the lock: %d sent", sent)
	}
	if ok, err := l.IsSent("origin"); !ok || err != nil {
		t.Errorf("Sent: %v, %v", ok, err)
	}
	harness.Equal(t, "refs of the remote", ref, remote.git("for-each-ref", "--format=%(refname)"))
	harness.Equal(t, "the remote's", []int{1, 2, 3, 4}, all(t, remote.repo(), git.OID(remote.git("rev-parse", ref))))
}

func TestPushFails(t *testing.T) {
	remote, clones := machines(t, 1)
	l := clones[0].own()
	add(t, l, note(t, 1, morning))
	for name, try := range map[string]struct {
		remote string
		want   string
	}{
		"no such remote": {"nowhere", `ledger: git: push to "nowhere": `},
		"it is gone":     {"gone", "does not appear to be a git repository"},
		"it refuses":     {"origin", "pre-receive hook declined"},
	} {
		t.Run(name, func(t *testing.T) {
			clones[0].git("config", "remote.gone.url", filepath.Join(t.TempDir(), "gone"))
			remote.git("config", "core.hooksPath", hooksThatRefuse(t))
			_, err := l.Push(t.Context(), try.remote, false)
			if err == nil || !strings.Contains(err.Error(), try.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q in one line", err, try.want)
			}
		})
	}
}

func hooksThatRefuse(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pre-receive"), "#!/bin/sh\nexit 1\n")
	return dir
}

// Two machines of one author take turns; what the other sent is merged before the own goes.
func TestLongPushFromTwoMachines(t *testing.T) {
	remote, clones := machines(t, 2)
	one, two := clones[0].own(), clones[1].own()
	var want []int
	for n := range 6 {
		l := []*ledger.Ledger{one, two}[n%2]
		add(t, l, note(t, n, morning.Add(time.Duration(n)*time.Minute)))
		push(t, l)
		want = append(want, n)
	}
	push(t, two)
	if _, err := one.Adopt(t.Context(), "origin"); err != nil {
		t.Fatal(err)
	}
	if err := ledger.Fetch(t.Context(), clones[0].repo(), "origin", false); err != nil {
		t.Fatal(err)
	}
	taken, err := one.Adopt(t.Context(), "origin")
	harness.Equal(t, "taken", ledger.Adopted{Ledgers: 1, Own: tip(t, two)}, taken)
	if err != nil || tip(t, one) != tip(t, two) {
		t.Errorf("%v: tips %s and %s", err, tip(t, one), tip(t, two))
	}
	harness.Equal(t, "notes", want, all(t, clones[0].repo(), tip(t, one)))
	// The tree says it, too: every segment of both sides, and the files beside them.
	files := strings.Fields(clones[0].git("ls-tree", "-r", "--name-only", ref))
	harness.Equal(t, "files", len(want)+2, len(files))
	remote.fsck()
	clones[0].fsck()
}

// However many push at once, nobody's is lost.
func TestLongPushAtOnce(t *testing.T) {
	const each = 3
	remote, clones := machines(t, 4)
	errs := make([]error, len(clones))
	var wg sync.WaitGroup
	for i, c := range clones {
		l := c.own()
		for n := range each {
			add(t, l, note(t, i*each+n, morning.Add(time.Duration(n)*time.Second)))
		}
		wg.Go(func() { _, errs[i] = l.Push(t.Context(), "origin", false) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var want []int
	for n := range each * len(clones) {
		want = append(want, n)
	}
	harness.Equal(t, "notes", want, all(t, remote.repo(), git.OID(remote.git("rev-parse", ref))))
	remote.fsck()
}

// Whoever merges two tips writes the same commit.
func TestMergeIsTheSameFromBothSides(t *testing.T) {
	_, clones := machines(t, 2)
	var tips []git.OID
	for i, c := range clones {
		tips = append(tips, add(t, c.own(), note(t, i, morning.Add(time.Duration(i)*time.Hour))))
	}
	var merged []git.OID
	for i, c := range clones {
		c.git("fetch", "-q", filepath.Join(clones[1-i].dir, ".git"), ref+":"+tracking)
		c.git("config", "user.name", fmt.Sprint("Somebody ", i)) // of no consequence
		taken, err := c.own().Adopt(t.Context(), "origin")
		if err != nil || taken.Own == "" {
			t.Fatalf("%+v, %v", taken, err)
		}
		merged = append(merged, taken.Own)
		c.fsck()
	}
	harness.Equal(t, "merges", merged[0], merged[1])
	c := mustCommit(t, clones[0].repo(), merged[0])
	slices.Sort(tips)
	harness.Equal(t, "parents", tips, c.Parents)
}

// A segment that one side removed on purpose does not come back by a merge; any other does.
func TestMergeKeepsScrubbedSegmentsOut(t *testing.T) {
	_, clones := machines(t, 2)
	a, b := clones[0], clones[1]
	base := add(t, a.own(), note(t, 1, morning), note(t, 2, morning.Add(time.Second)))
	b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+ref)
	leaked := strings.Fields(a.git("ls-tree", "-r", "--name-only", ref, "segments/"))[0]

	// a scrubs the first segment and loses the second for no reason; b goes on.
	gone := add(t, a.own(), record(t, session.Entry{Scrubs: []session.Scrub{{Segment: leaked, TS: morning}}}, "scrub",
		morning.Add(time.Minute)))
	r := a.repo()
	c := mustCommit(t, r, gone)
	other := strings.Fields(a.git("ls-tree", "-r", "--name-only", ref, "segments/"))[1]
	without, err := r.WriteCommit(git.Draft{
		Base: c.Tree, Remove: []string{leaked, other}, Parents: []git.OID{gone},
		Message: "x\n", Author: someone,
	})
	if err != nil {
		t.Fatal(err)
	}
	a.git("update-ref", ref, string(without))
	add(t, b.own(), note(t, 3, morning.Add(time.Hour)))
	b.git("fetch", "-q", filepath.Join(a.dir, ".git"), ref+":"+tracking)
	taken, err := b.own().Adopt(t.Context(), "origin")
	if err != nil || len(taken.Refused) > 0 {
		t.Fatalf("%+v, %v", taken, err)
	}
	got := strings.Fields(b.git("ls-tree", "-r", "--name-only", ref, "segments/"))
	if slices.Contains(got, leaked) || !slices.Contains(got, other) || len(got) != 3 {
		t.Errorf("%s scrubbed, %s not; got %q", leaked, other, got)
	}
	// Not in history, either, and what only b had is there.
	if blob := b.git("rev-parse", string(base)+":"+leaked); strings.Contains(b.git("rev-list", "--objects", ref), blob) {
		t.Errorf("%s can still be reached", leaked)
	}
	harness.Equal(t, "notes", []int{2, 3}, all(t, b.repo(), taken.Own))
	b.fsck()
}

// What others' branches became on the remote never takes away what is held of them.
func TestAdopt(t *testing.T) {
	remote, clones := machines(t, 1)
	here := clones[0]
	bob := newStore(t)
	bob.git("config", "user.email", "bob@example.com")
	who := git.Signature{Name: "Bob", Email: "bob@example.com", When: morning}
	theirs, err := ledger.OpenOwn(bob.repo(), who, strings.NewReader(strings.Repeat("entropy!", 99)))
	if err != nil {
		t.Fatal(err)
	}
	first := add(t, theirs, note(t, 1, morning))
	second := add(t, theirs, note(t, 2, morning.Add(time.Second)))
	root := bob.git("commit-tree", "-m", "anew", string(second)+"^{tree}")
	future := bob.git("commit-tree", "-p", string(second), "-m", "format 2", bob.git("mktree"))
	bob.git("tag", "-a", "-m", "a tag", "a-tag", string(second))
	for _, id := range []string{string(second), root, future, "a-tag"} {
		bob.git("push", "-q", filepath.Join(remote.dir, ".git"), id+":refs/keep/"+bob.git("rev-parse", id))
	}
	blob := remote.git("hash-object", "-w", "--stdin")
	for _, step := range []struct {
		name, remote string
		want         []int
		refused      int
		moved        bool
	}{
		{"at first", string(first), []int{1}, 0, true},
		{"again", string(first), []int{1}, 0, false},
		{"it goes on", string(second), []int{1, 2}, 0, true},
		{"truncated", string(first), []int{1, 2}, 0, false},
		{"rewritten", root, []int{1, 2}, 0, true}, // twice in history, and counted once
		{"of no known format", future, []int{1, 2}, 1, false},
		{"a blob", blob, []int{1, 2}, 1, false},
		{"a tag", bob.git("rev-parse", "a-tag"), []int{1, 2}, 1, false},
		{"deleted", "", []int{1, 2}, 0, false},
	} {
		t.Run(step.name, func(t *testing.T) {
			args := []string{"update-ref", bobs, step.remote}
			if step.remote == "" {
				args = []string{"update-ref", "-d", bobs}
			}
			if step.name == "a blob" || step.name == "a tag" {
				write(t, filepath.Join(remote.dir, ".git", filepath.FromSlash(bobs)), step.remote+"\n")
			} else {
				remote.git(args...)
			}
			if err := ledger.Fetch(t.Context(), here.repo(), "origin", false); err != nil {
				t.Fatal(err)
			}
			if step.remote == "" {
				here.git("fetch", "-q", "--prune", "origin")
			}
			taken, err := here.own().Adopt(t.Context(), "origin")
			if err != nil || len(taken.Refused) != step.refused || (taken.Ledgers == 1) != step.moved {
				t.Errorf("%+v, %v", taken, err)
			}
			harness.Equal(t, "notes", step.want, all(t, here.repo(), git.OID(here.git("rev-parse", held))))
		})
	}
	harness.Equal(t, "own", "", string(tip(t, here.own())))
	here.fsck()
}

// Whoever can write to a branch can name a segment as they like: one of no day, or of the end
// of time, is neither read nor followed.
func TestSegmentsOfNoDay(t *testing.T) {
	_, clones := machines(t, 1)
	l, r := clones[0].own(), clones[0].repo()
	good := add(t, l, note(t, 1, morning))
	c := mustCommit(t, r, good)
	bad, err := r.WriteCommit(git.Draft{
		Base: c.Tree, Parents: []git.OID{good}, Message: "x\n", Author: someone,
		Files: map[string][]byte{
			"segments/9999/12/31/7ZZZZZZZZZZZZZZZZZZZZZZZZZ.ndjson": nil, // of the year 10889
			"segments/2026/11/19/01M7W59H3G669C5312M9CYEVJ5.ndjson": nil, // of the 20th
			"segments/9999/12/31/76EZ91ZPZZ0000000000000000.ndjson": nil, // its last millisecond
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, c := range since(t, r, bad, good) {
		for _, s := range c.Segments {
			paths = append(paths, s.Path)
		}
	}
	harness.Equal(t, "read", []string{"segments/9999/12/31/76EZ91ZPZZ0000000000000000.ndjson"}, paths)
}

// A few objects can describe more folders than anybody can visit, and a commit can be as large
// as it likes: taking such a branch in is refused or bounded.
func TestAdoptWithinBounds(t *testing.T) {
	_, clones := machines(t, 1)
	here := clones[0]
	here.git("config", "user.email", "bob@example.com")
	here.git("config", "user.name", "Bob")
	r := here.repo()
	base := add(t, here.own(), note(t, 1, morning))
	tree := here.git("rev-parse", ref+"^{tree}")
	bomb := func(leaf string) string {
		id := here.mktree("100644 blob " + leaf + "\tf\n")
		for range 4 {
			var b strings.Builder
			for i := range 300 {
				fmt.Fprintf(&b, "040000 tree %s\td%03d\n", id, i)
			}
			id = here.mktree(b.String())
		}
		return id
	}
	entries := here.git("ls-tree", tree) + "\n"
	one := here.mktree(entries + "040000 tree " + bomb(here.git("hash-object", "-w", "--stdin")) + "\tx\n")
	write(t, filepath.Join(here.dir, "leaf"), "other\n")
	two := here.mktree(entries + "040000 tree " + bomb(here.git("hash-object", "-w", "leaf")) + "\tx\n")
	write(t, filepath.Join(here.dir, "message"), strings.Repeat("very long\n", 200_000))
	for _, step := range []struct {
		name, tip string
		refused   int
	}{
		{"a bomb beside the segments", here.git("commit-tree", "-p", string(base), "-m", "x", one), 0},
		{"another one, to be merged with it", here.git("commit-tree", "-m", "y", two), 0},
		{"a commit of two megabytes", here.git("commit-tree", "-p", string(base), "-F", "message", tree), 1},
	} {
		t.Run(step.name, func(t *testing.T) {
			here.git("update-ref", "refs/remotes/origin/rekal/bob@example.com", step.tip)
			taken, err := here.own().Adopt(t.Context(), "origin")
			if err != nil || len(taken.Refused) != step.refused {
				t.Errorf("%+v, %v", taken, err)
			}
		})
	}
	harness.Equal(t, "notes", []int{1}, all(t, r, git.OID(here.git("rev-parse", held))))
}

func (s *store) mktree(entries string) string {
	s.T.Helper()
	cmd := exec.CommandContext(s.T.Context(), "git", "mktree")
	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, s.Environ(), strings.NewReader(entries)
	out, err := cmd.Output()
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
