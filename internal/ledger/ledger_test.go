package ledger_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var (
	background = context.Background()
	morning    = time.Date(2026, 11, 20, 9, 41, 7, 312_000_000, time.UTC)
	someone    = git.Signature{Name: "A", Email: "A@Example.com", When: morning.Truncate(time.Second)}
)

const ref = "refs/heads/rekal/a@example.com"

// store is a real repository without a commit of code.
type store struct {
	*harness.Place
	dir string
}

func newStore(t *testing.T) *store {
	t.Helper()
	p := harness.New(t)
	p.Init("repo")
	return &store{p, p.At("repo")}
}

func (s *store) git(args ...string) string {
	s.T.Helper()
	return s.Git(s.dir, args...)
}

func (s *store) repo() *git.Repo {
	s.T.Helper()
	r, err := git.Open(s.T.Context(), s.dir, s.Environ())
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(r.Close)
	return r
}

func (s *store) own() *ledger.Ledger {
	s.T.Helper()
	l, err := ledger.OpenOwn(s.repo(), someone, rand.Reader)
	if err != nil {
		s.T.Fatal(err)
	}
	return l
}

// fsck checks every object, strictly.
func (s *store) fsck() {
	s.T.Helper()
	out := s.git("fsck", "--strict", "--full", "--no-progress", "--no-dangling")
	if out != "" && out != "notice: HEAD points to an unborn branch (main)" {
		s.T.Errorf("git fsck: %s", out)
	}
}

// note is a record that says one thing: n of a purge.
func note(t testing.TB, n int, ts time.Time) ledger.Record {
	t.Helper()
	return record(t, session.Entry{Purges: []session.Mark{{ID: "01M7W59H3G669C5312M9CYEVJ5", N: n, TS: ts}}},
		fmt.Sprint("note ", n), ts)
}

func record(t testing.TB, e session.Entry, subject string, ts time.Time) ledger.Record {
	t.Helper()
	e.Subject = subject
	clean, _, err := harness.Redactor().Apply(background, e)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Record{Entry: clean, TS: ts}
}

func tip(t testing.TB, l *ledger.Ledger) git.OID {
	t.Helper()
	id, err := l.Tip()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func add(t testing.TB, l *ledger.Ledger, records ...ledger.Record) git.OID {
	t.Helper()
	id, err := l.Append(background, tip(t, l), records)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// notes reads back the notes of the commits, in their order.
func notes(t testing.TB, r *git.Repo, commits []ledger.Commit) []int {
	t.Helper()
	var out []int
	for _, c := range commits {
		for _, s := range c.Segments {
			e, err := ledger.ReadSegment(r, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range e.Purges {
				out = append(out, m.N)
			}
		}
	}
	return out
}

func since(t testing.TB, r *git.Repo, tip git.OID, have ...git.OID) []ledger.Commit {
	t.Helper()
	commits, err := ledger.Since(background, r, tip, have...)
	if err != nil {
		t.Fatal(err)
	}
	return commits
}

func TestCreate(t *testing.T) {
	s := newStore(t)
	l := s.own()
	harness.Equal(t, "ref", ref, l.Ref())
	if id := tip(t, l); id != "" {
		t.Errorf("before it is created its tip is %s", id)
	}
	for _, want := range []bool{true, false} {
		if created, err := l.Create(background); err != nil || created != want {
			t.Errorf("created %v, %v; want %v", created, err, want)
		}
	}
	harness.Equal(t, "the tree", "README.md\nformat", s.git("ls-tree", "-r", "--name-only", ref))
	harness.Equal(t, "the format", "1", s.git("show", ref+":format"))
	harness.Equal(t, "history", "1", s.git("rev-list", "--count", ref))
	harness.Equal(t, "author", "A <A@Example.com>", s.git("log", "-1", "--format=%an <%ae>", ref))
	if c := since(t, s.repo(), tip(t, l)); len(c) != 1 || len(c[0].Segments) != 0 {
		t.Errorf("an empty ledger has %v", c)
	}
	harness.Equal(t, "the user's branch", "No commits yet on main",
		strings.TrimPrefix(s.git("status", "--short", "--branch"), "## "))
	s.fsck()
}

// Where another branch has the name's room, it is named.
func TestCreateBlocked(t *testing.T) {
	for _, by := range []string{"rekal", "rekal/a@example.com/x"} {
		t.Run(by, func(t *testing.T) {
			s := newStore(t)
			s.git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x")
			s.git("branch", by)
			created, err := s.own().Create(background)
			var blocked *ledger.BlockedError
			if created || !errors.As(err, &blocked) || blocked.By != "refs/heads/"+by || blocked.Ref != ref {
				t.Errorf("created %v, %v", created, err)
			}
		})
	}
}

func TestOwnNeedsAnAddress(t *testing.T) {
	if _, err := ledger.OpenOwn(newStore(t).repo(), git.Signature{Name: "A"}, rand.Reader); err == nil {
		t.Error("no error")
	}
}

func TestAppend(t *testing.T) {
	s := newStore(t)
	l := s.own()
	first := add(t, l, note(t, 1, morning))
	second := add(t, l, note(t, 2, morning.AddDate(0, 0, 1)), note(t, 3, morning.AddDate(0, 0, 1)))
	harness.Equal(t, "the branch", string(second), s.git("rev-parse", ref))
	harness.Equal(t, "one commit a record", "note 3\nnote 2\nnote 1\nrekal ledger", s.git("log", "--format=%s", ref))
	harness.Equal(t, "nothing is changed or removed", "",
		s.git("log", "--diff-filter=MD", "--name-only", "--format=", ref))

	want := regexp.MustCompile(`^README\.md\nformat\nsegments/2026/11/20/[0-9A-Z]{26}\.ndjson\n(segments/2026/11/21/[0-9A-Z]{26}\.ndjson\n?){2}$`)
	if tree := s.git("ls-tree", "-r", "--name-only", ref); !want.MatchString(tree) {
		t.Errorf("the tree:\n%s", tree)
	}
	harness.Equal(t, "all of it", []int{1, 2, 3}, notes(t, s.repo(), since(t, s.repo(), second)))
	harness.Equal(t, "what came later", []int{2, 3}, notes(t, s.repo(), since(t, s.repo(), second, first)))
	if c := since(t, s.repo(), second, second); len(c) != 0 {
		t.Errorf("since itself: %v", c)
	}
	if id, err := l.Append(background, second, nil); err != nil || id != second {
		t.Errorf("nothing appended: %s, %v", id, err)
	}
	s.fsck()
}

func TestAppendLosesTheRace(t *testing.T) {
	s := newStore(t)
	l := s.own()
	old := add(t, l, note(t, 1, morning))
	won := add(t, l, note(t, 2, morning))
	for name, from := range map[string]git.OID{"from an old tip": old, "as if there were none": ""} {
		if id, err := l.Append(background, from, []ledger.Record{note(t, 3, morning)}); id != "" ||
			!errors.Is(err, git.ErrMoved) || !strings.Contains(err.Error(), "append to "+ref) {
			t.Errorf("%s: %q, %v; want ErrMoved", name, id, err)
		}
		harness.Equal(t, name+", the tip", won, tip(t, l))
	}
}

func TestAppendEndsWithTheContext(t *testing.T) {
	s := newStore(t)
	l := s.own()
	before := add(t, l, note(t, 1, morning))
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := l.Append(ctx, before, []ledger.Record{note(t, 2, morning)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	harness.Equal(t, "the tip", before, tip(t, l))
}

func TestFormat(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"of the future": {"format": []byte("2\n")}, "like another": {"format": []byte("1")}, "none": {"README.md": nil},
		"huge": {"format": make([]byte, 1<<16)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			r := s.repo()
			id, err := r.WriteCommit(git.Draft{Files: files, Message: "x\n", Author: someone})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.CompareAndSwap(t.Context(), ref, "", id, "test"); err != nil {
				t.Fatal(err)
			}
			if _, err := ledger.Since(background, r, id); !errors.Is(err, ledger.ErrFormat) || len(err.Error()) > 200 {
				t.Errorf("Since: %v", err)
			}
			if _, err := s.own().Append(background, id, []ledger.Record{note(t, 1, morning)}); !errors.Is(err,
				ledger.ErrFormat) {
				t.Errorf("Append: %v", err)
			}
			if created, err := s.own().Create(background); created || !errors.Is(err, ledger.ErrFormat) {
				t.Errorf("Create: %v, %v", created, err)
			}
			harness.Equal(t, "the branch", string(id), s.git("rev-parse", ref))
		})
	}
}

// TestLongLargeRecord: what is too large for one segment comes back from its parts, in order.
func TestLongLargeRecord(t *testing.T) {
	s := newStore(t)
	l := s.own()
	var big session.Entry
	for i := range 12 {
		big.Memories = append(big.Memories, session.Memory{
			ID: "01M7W59H3G669C5312M9CYEVJ5", Title: fmt.Sprint(i),
			Content: strings.Repeat("word ", segment.MaxSize/6/5), TS: morning,
		})
	}
	id := add(t, l, record(t, big, "big", morning))
	commits := since(t, s.repo(), id)
	segments := commits[len(commits)-1].Segments
	if len(segments) < 2 || !strings.HasSuffix(segments[1].Path, ".1.ndjson") {
		t.Fatalf("segments %v", segments)
	}
	var titles []string
	for _, seg := range segments {
		e, err := ledger.ReadSegment(s.repo(), seg)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range e.Memories {
			titles = append(titles, m.Title)
		}
	}
	harness.Equal(t, "what it says", strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11"), titles)
}

// TestSinceAMerge: a merge adds nothing by itself, and both sides are there, parents first.
func TestSinceAMerge(t *testing.T) {
	s := newStore(t)
	l := s.own()
	base := add(t, l, note(t, 1, morning))
	ours := add(t, l, note(t, 2, morning.Add(time.Hour)))
	s.git("update-ref", ref, string(base))
	theirs := add(t, l, note(t, 3, morning.Add(2*time.Hour)))
	r := s.repo()
	files := map[string][]byte{}
	for path := range strings.FieldsSeq(s.git("ls-tree", "-r", "--name-only", string(theirs), "segments/")) {
		files[path] = []byte(s.git("show", string(theirs)+":"+path) + "\n")
	}
	merge, err := r.WriteCommit(git.Draft{
		Base: mustCommit(t, r, ours).Tree, Files: files,
		Parents: []git.OID{ours, theirs}, Message: "merge\n", Author: someone,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := since(t, r, merge)
	var order []git.OID
	for _, c := range got {
		order = append(order, c.OID)
		if c.OID == merge && len(c.Segments) != 0 || !c.When.Equal(someone.When) {
			t.Errorf("%+v", c)
		}
	}
	if len(order) != 5 || order[1] != base || order[4] != merge {
		t.Errorf("order %v", order)
	}
	said := notes(t, r, got)
	slices.Sort(said)
	harness.Equal(t, "all of it", []int{1, 2, 3}, said)
	harness.Equal(t, "without one side", []int{3}, notes(t, r, since(t, r, merge, ours)))
}

func mustCommit(t *testing.T, r *git.Repo, id git.OID) git.Commit {
	t.Helper()
	c, err := r.Commit(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReadSegmentFails(t *testing.T) {
	s := newStore(t)
	r := s.repo()
	bad, err := r.WriteCommit(git.Draft{
		Files: map[string][]byte{"x": []byte("not a segment\n")}, Message: "x\n",
		Author: someone,
	})
	if err != nil {
		t.Fatal(err)
	}
	blob := git.OID(s.git("rev-parse", string(bad)+":x"))
	if e, err := ledger.ReadSegment(r, ledger.Segment{Blob: blob}); !errors.Is(err, ledger.ErrUnreadable) ||
		!cmp.Equal(e, session.Entry{}) || !strings.Contains(err.Error(), string(blob[:12])) {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := ledger.ReadSegment(r, ledger.Segment{Blob: mustCommit(t, r, bad).Tree}); !errors.Is(err,
		ledger.ErrUnreadable) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := ledger.ReadSegment(r, ledger.Segment{Blob: git.OID(strings.Repeat("1", 40))}); !errors.Is(err,
		git.ErrNotFound) || errors.Is(err, ledger.ErrUnreadable) {
		t.Errorf("error %v", err)
	}
}

func TestHeads(t *testing.T) {
	s := newStore(t)
	l := s.own()
	id := add(t, l, note(t, 1, morning))
	for _, name := range []string{
		"refs/heads/rekal/x%2Fy@z", "refs/rekal/origin/d@e.f", "refs/rekal/fork/d@e.f",
		"refs/heads/main",
	} {
		s.git("update-ref", name, string(id))
	}
	got, err := ledger.Heads(s.repo())
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "heads", []ledger.Head{
		{Ref: ref, Email: "a@example.com", OID: id},
		{Ref: "refs/heads/rekal/x%2Fy@z", Email: "x/y@z", OID: id},
		{Ref: "refs/rekal/fork/d@e.f", Email: "d@e.f", Remote: "fork", OID: id},
		{Ref: "refs/rekal/origin/d@e.f", Email: "d@e.f", Remote: "origin", OID: id},
	}, got)
}

// TestLongConcurrentAppends: each of eight writers appends on what it sees, and again when
// another was faster; nothing is lost, nothing is there twice.
func TestLongConcurrentAppends(t *testing.T) {
	s := newStore(t)
	if _, err := s.own().Create(background); err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		l := s.own()
		records := make([]ledger.Record, each)
		for i := range records {
			records[i] = note(t, w*each+i, morning)
		}
		wg.Go(func() {
			for _, rec := range records {
				if err := insist(l, rec); err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	wg.Wait()
	got := notes(t, s.repo(), since(t, s.repo(), tip(t, s.own())))
	slices.Sort(got)
	want := make([]int, writers*each)
	for i := range want {
		want[i] = i
	}
	harness.Equal(t, "notes", want, got)
	s.fsck()
}

func insist(l *ledger.Ledger, rec ledger.Record) error {
	for {
		tip, err := l.Tip()
		if err != nil {
			return err
		}
		if _, err := l.Append(background, tip, []ledger.Record{rec}); !errors.Is(err, git.ErrMoved) {
			return err
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
