package git_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

const plenty = 1 << 20

func trees(t *testing.T, r *git.Repo, bytes int) *git.Trees {
	t.Helper()
	return r.Trees(bytes)
}

func TestAdded(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Add("r", "two", "seg/a/x", "1\n", "seg/a/gone", "2\n", "seg/b/x", "3\n", "seg/top", "4\n", "seg/a/deep/x", "5\n",
		"segment/a/x", "6\n")
	p.Git("r", "rm", "-q", "seg/a/gone")
	p.Add("r", "three", "seg/a/x", "changed\n", "seg/a/y", "7\n", "seg/a.b/x", "8\n", "seg/c/x", "9\n", "other", "10\n")
	r := p.Open("r")
	tree := func(rev string) git.OID { return p.Rev("r", rev+"^{tree}") }
	entries := func(rev string, paths ...string) (out []git.Entry) {
		for _, path := range paths {
			out = append(out, git.Entry{Path: path, OID: p.Rev("r", rev+":"+path)})
		}
		return out
	}
	for _, tt := range []struct {
		name         string
		older, newer git.OID
		want         []git.Entry
	}{
		{"to an empty tree", "", tree("HEAD~1"), entries("HEAD~1", "seg/a/gone", "seg/a/x", "seg/b/x")},
		{
			"to another tree, in which one changed and one is gone", tree("HEAD~1"), tree("HEAD"),
			entries("HEAD", "seg/a.b/x", "seg/a/y", "seg/c/x"),
		},
		{"to itself", tree("HEAD"), tree("HEAD"), nil},
		{
			"to a tree without the folder", tree("HEAD~2"), tree("HEAD~1"),
			entries("HEAD~1", "seg/a/gone", "seg/a/x", "seg/b/x"),
		},
		{"to a tree that lost the folder", tree("HEAD~1"), tree("HEAD~2"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			harness.Equal(t, "added", tt.want, repos.Must(trees(t, r, plenty).Added(tt.older, tt.newer, "seg", 1, 10))(t))
		})
	}
}

func raw(mode, name string, id git.OID) string {
	b, err := hex.DecodeString(string(id))
	if err != nil {
		panic(err)
	}
	return mode + " " + name + "\x00" + string(b)
}

// fan is a tree with the same entry under many names.
func fan(mode string, id git.OID, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(raw(mode, fmt.Sprintf("%06d", i), id))
	}
	return b.String()
}

// TestLongHostileTrees: what somebody made on purpose costs no more than the bounds, and is an
// error or nothing, never a file that is none.
func TestLongHostileTrees(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	blob := p.Object("r", "blob", "x")
	tree := func(content string) git.OID { return p.Object("r", "tree", content) }
	under := func(content string) git.OID { return tree(raw("40000", "seg", tree(content))) }
	bomb := tree(fan("100644", blob, 1000))
	for range 3 {
		bomb = tree(fan("40000", bomb, 1000)) // 10^12 files in four objects
	}
	deep := tree(raw("100644", "x", blob))
	for range 300 {
		deep = tree(raw("40000", "d", deep))
	}
	none := git.OID(strings.Repeat("1", 40))
	for _, tt := range []struct {
		name string
		tree git.OID
		want error
		is   []git.Entry
	}{
		{name: "a bomb", tree: tree(raw("40000", "seg", bomb)), want: git.ErrMalformed},
		{name: "a chain of folders", tree: tree(raw("40000", "seg", deep))},
		{
			name: "more files than allowed", tree: under(raw("40000", "a", tree(fan("100644", blob, 11)))),
			want: git.ErrMalformed,
		},
		{
			name: "a tree above the budget", tree: under(raw("40000", "a", tree(fan("120000", blob, 40_000)))),
			want: git.ErrMalformed,
		},
		{name: "the folder is a file", tree: tree(raw("100644", "seg", blob))},
		{name: "the folder is a link", tree: tree(raw("120000", "seg", blob))},
		{name: "the folder is a submodule", tree: tree(raw("160000", "seg", none))},
		{
			name: "links and submodules in it", tree: under(raw("40000", "a",
				tree(raw("120000", "l", blob)+raw("160000", "m", none)+raw("100644", "x", blob)))),
			is: []git.Entry{{Path: "seg/a/x", OID: blob}},
		},
		{name: "a folder that says it is a file", tree: under(raw("100644", "a", bomb))},
		{name: "a file that says it is a folder", tree: under(raw("40000", "a", blob)), want: git.ErrMalformed},
		{name: "a folder that is not here", tree: under(raw("40000", "a", none)), want: git.ErrNotFound},
		{name: "a root that is not here", tree: none, want: git.ErrNotFound},
		{name: "a root that is a file", tree: blob, want: git.ErrMalformed},
		{name: "a name twice", tree: under(raw("40000", "a", deep) + raw("40000", "a", deep)), want: git.ErrMalformed},
		{name: "names out of order", tree: under(raw("40000", "b", deep) + raw("40000", "a", deep)), want: git.ErrMalformed},
		{name: "no name", tree: under(raw("40000", "", deep)), want: git.ErrMalformed},
		{name: "a torn entry", tree: under("40000 a\x00123"), want: git.ErrMalformed},
		{name: "no entry", tree: under("40000"), want: git.ErrMalformed},
		{name: "empty", tree: under("")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := trees(t, r, plenty).Added("", tt.tree, "seg", 1, 10)
			if !errors.Is(err, tt.want) || err != nil && got != nil {
				t.Errorf("%v, %v; want the error %v", got, err, tt.want)
			}
			if diff := cmp.Diff(tt.is, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAddedReadsWhatDiffers: the cost of a new file does not grow with the folders beside
// its own.
func TestAddedReadsWhatDiffers(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	blob := p.Object("r", "blob", "x")
	beside := fan("40000", p.Object("r", "tree", fan("100644", blob, 5000)), 20)
	root := func(files int) git.OID {
		last := p.Object("r", "tree", fan("100644", blob, files))
		return p.Object("r", "tree", raw("40000", "seg", p.Object("r", "tree", beside+raw("40000", "new", last))))
	}
	const entry = 40 // bytes, at most
	tr := trees(t, r, 0)
	for n := range 5 {
		tr.AllowMore(2 * entry * (1 + 21 + n + 1))
		got := repos.Must(tr.Added(root(n), root(n+1), "seg", 1, 10))(t)
		if len(got) != 1 || !strings.HasPrefix(got[0].Path, "seg/new/") {
			t.Errorf("added %v", got)
		}
	}
}
