package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// with runs git with standard input.
func (s *store) with(input string, args ...string) git.OID {
	s.T.Helper()
	cmd := exec.CommandContext(s.T.Context(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, s.Environ(), strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		s.T.Fatalf("git %q: %v", args, err)
	}
	return git.OID(strings.TrimSpace(string(out)))
}

func (s *store) blob(text string) git.OID { return s.with(text, "hash-object", "-w", "--stdin") }

// folder is a tree of entries "<mode> <type> <OID>\t<name>".
func (s *store) folder(entries ...string) git.OID {
	return s.with(strings.Join(entries, "\n")+"\n", "mktree", "--missing")
}

func entry(kind, name string, id git.OID) string {
	mode := map[string]string{"blob": "100644", "tree": "040000", "link": "120000", "commit": "160000"}[kind]
	return fmt.Sprintf("%s %s %s\t%s", mode, strings.Replace(kind, "link", "blob", 1), id, name)
}

// root is a ledger's tree around a folder of segments.
func (s *store) root(segments string) git.OID {
	return s.folder(entry("blob", "format", s.blob("1\n")), segments)
}

func (s *store) day(files ...string) string {
	day := s.folder(entry("tree", "20", s.folder(files...)))
	return entry("tree", "segments", s.folder(entry("tree", "2026", s.folder(entry("tree", "11", day)))))
}

func (s *store) commit(tree git.OID, parents ...git.OID) git.OID {
	args := []string{"-c", "user.name=E", "-c", "user.email=evil@x.y", "commit-tree", "-m", "x", string(tree)}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	return s.with("", args...)
}

func name(n int) string { return fmt.Sprintf("01M7W59H3G669C5312M9CY%04d.ndjson", n) }

// purge is a segment that says n.
func purge(n int) string {
	return fmt.Sprintf(`{"t":"purge","id":"01M7W59H3G669C5312M9CYEVJ5","n":%d,"ts":""}`+"\n", n)
}

// TestHostileLedgers: whatever lies on the branch, reading it ends soon, with an error or with
// the segments that are some.
func TestHostileLedgers(t *testing.T) {
	s := newStore(t)
	one := s.blob(purge(1))
	file := entry("blob", name(1), one)
	bomb := s.folder(file)
	for range 4 {
		var many []string
		for i := range 500 {
			many = append(many, entry("tree", fmt.Sprintf("%04d", 1000+i), bomb))
		}
		bomb = s.folder(many...)
	}
	var crowd []string
	for i := range 1001 {
		crowd = append(crowd, entry("blob", name(i), one))
	}
	none := git.OID(strings.Repeat("1", 40))
	for _, tt := range []struct {
		name string
		tree git.OID
		err  error
		want []int
	}{
		{name: "an honest one", tree: s.root(s.day(file)), want: []int{1}},
		{name: "a tree bomb", tree: s.root(entry("tree", "segments", bomb)), err: git.ErrMalformed},
		{name: "a tree bomb beside the segments", tree: s.folder(entry("blob", "format", s.blob("1\n")),
			entry("tree", "other", bomb), s.day(file)), want: []int{1}},
		{name: "a tree bomb below a day", tree: s.root(s.day(file, entry("tree", "x", bomb))), want: []int{1}},
		{name: "a thousand segments and one", tree: s.root(s.day(crowd...)), err: git.ErrMalformed},
		{name: "segments is a file", tree: s.root(entry("blob", "segments", one))},
		{name: "segments is a link", tree: s.root(entry("link", "segments", one))},
		{name: "segments is a submodule", tree: s.root(entry("commit", "segments", none))},
		{name: "a day that is not here", tree: s.root(s.day(entry("tree", "x", none), file)), want: []int{1}},
		{name: "segments that are not here", tree: s.root(entry("tree", "segments", none)), err: git.ErrNotFound},
		{
			name: "segments that are links, submodules, folders",
			tree: s.root(s.day(entry("link", name(1), one), entry("commit", name(2), none), entry("tree", name(3), bomb),
				entry("blob", name(4), one))), want: []int{1},
		},
		{name: "one segment under two names", tree: s.root(s.day(file, entry("blob", name(2), one))), want: []int{1}},
		{
			name: "a format that is a folder", tree: s.folder(entry("tree", "format", bomb), s.day(file)),
			err: ledger.ErrFormat,
		},
		{name: "a format that is not here", tree: s.folder(entry("blob", "format", none), s.day(file)), err: git.ErrNotFound},
		{
			name: "a format of 2 MB", tree: s.folder(entry("blob", "format", s.blob(strings.Repeat("1\n", 1<<20))), s.day(file)),
			err: ledger.ErrFormat,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tip := s.commit(tt.tree)
			commits, err := ledger.Since(background, s.repo(), tip)
			if !errors.Is(err, tt.err) || err != nil && (commits != nil || len(err.Error()) > 300) {
				t.Fatalf("%v, %v; want the error %v", commits, err, tt.err)
			}
			harness.Equal(t, "notes", tt.want, notes(t, s.repo(), commits))
		})
	}
}

// TestWhatWasAddedCounts: later commits that change, remove or repeat a segment take nothing
// away and add nothing twice, from the start and incrementally.
func TestWhatWasAddedCounts(t *testing.T) {
	s := newStore(t)
	one, two, three := s.blob(purge(1)), s.blob(purge(2)), s.blob(purge(3))
	a := s.commit(s.root(s.day(entry("blob", name(1), one), entry("blob", name(2), two))))
	b := s.commit(s.root(s.day(entry("blob", name(1), three), entry("blob", name(2), two))), a) // changes a segment
	c := s.commit(s.root(s.day(entry("blob", name(2), two))), b)                                // removes it
	d := s.commit(s.root(s.day(entry("blob", name(1), three), entry("blob", name(2), two), entry("blob", name(3), three))),
		c)
	r := s.repo()
	for _, tt := range []struct {
		name string
		tip  git.OID
		have []git.OID
		want []int
	}{
		{"changed", b, nil, []int{1, 2}},
		{"removed", c, nil, []int{1, 2}},
		{"there again, with something new", d, nil, []int{1, 2, 3}},
		{"what changed is not new", b, []git.OID{a}, nil},
		{"what was removed is not new", c, []git.OID{b}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			harness.Equal(t, "notes", tt.want,
				notes(t, r, since(t, r, tt.tip, tt.have...)))
		})
	}
}

// TestSinceAMissingCommit: a history with a hole is not one that begins behind it.
func TestSinceAMissingCommit(t *testing.T) {
	s := newStore(t)
	l := s.own()
	add(t, l, note(t, 1, morning))
	lost := add(t, l, note(t, 2, morning.Add(time.Second)))
	tip := add(t, l, note(t, 3, morning.Add(2*time.Second)))
	if err := exec.Command("rm", "-f", filepath.Join(s.dir, ".git/objects", string(lost[:2]),
		string(lost[2:]))).Run(); err != nil {
		t.Fatal(err)
	}
	if commits, err := ledger.Since(background, s.repo(), tip); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("%v, %v", commits, err)
	}
}

func TestSinceEndsWithTheContext(t *testing.T) {
	s := newStore(t)
	id := add(t, s.own(), note(t, 1, morning))
	ctx, cancel := context.WithCancel(background)
	cancel()
	if commits, err := ledger.Since(ctx, s.repo(), id); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", commits, err)
	}
}

// TestLongShallow: where the history is cut, the commit at the cut adds what its tree holds, each
// entry with an ID of its own. What comes later is read as ever.
func TestLongShallow(t *testing.T) {
	s := newStore(t)
	l := s.own()
	for n := range 5 {
		add(t, l, note(t, n, morning.AddDate(0, 0, n)))
	}
	full := tip(t, l)
	for _, depth := range []int{1, 2, 4, 6, 7} {
		t.Run(fmt.Sprint("depth ", depth), func(t *testing.T) {
			dir := t.TempDir()
			s.git("clone", "-q", "--no-single-branch", fmt.Sprint("--depth=", depth), "--branch=rekal/a@example.com",
				"file://"+s.dir, dir)
			clone := &store{s.Place, dir}
			clone.git("update-ref", "refs/heads/rekal/a@example.com", string(full))
			r := clone.repo()
			commits := since(t, r, full)
			harness.Equal(t, "all of it", []int{0, 1, 2, 3, 4}, notes(t, r, commits))
			var ids []git.OID
			for _, c := range commits {
				ids = append(ids, c.OID)
			}
			slices.Sort(ids)
			harness.Equal(t, "an ID for each", ids, slices.Compact(slices.Clone(ids)))

			next := add(t, clone.own(), note(t, 5, morning.AddDate(0, 0, 5)))
			harness.Equal(t, "what came later", []int{5}, notes(t, r, since(t, r, next, full)))
			harness.Equal(t, "all of it then", []int{0, 1, 2, 3, 4, 5}, notes(t, r, since(t, r, next)))
			clone.git("fsck", "--full", "--no-progress", "--no-dangling")
		})
	}
}

// TestPartial: a clone without blobs says so, and that is no unreadable segment.
func TestPartial(t *testing.T) {
	s := newStore(t)
	s.git("config", "uploadpack.allowFilter", "true")
	l := s.own()
	id := add(t, l, note(t, 1, morning))
	dir := t.TempDir()
	s.git("clone", "-q", "--filter=blob:limit=10", "--no-checkout", "--branch=rekal/a@example.com", "file://"+s.dir, dir)
	r := (&store{s.Place, dir}).repo()
	commits := since(t, r, id)
	segments := commits[len(commits)-1].Segments
	if len(segments) != 1 {
		t.Fatalf("segments %v", segments)
	}
	_, err := ledger.ReadSegment(r, segments[0])
	if !errors.Is(err, git.ErrNotFound) || errors.Is(err, ledger.ErrUnreadable) ||
		!strings.Contains(err.Error(), "partial") {
		t.Errorf("error %v", err)
	}
}

func TestOwnRefusesControlCharacters(t *testing.T) {
	if _, err := ledger.OpenOwn(newStore(t).repo(), git.Signature{Name: "A", Email: "a\x1b[2J@b.c"}, nil); err == nil {
		t.Error("no error")
	}
}
