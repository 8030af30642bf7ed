package git_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

func TestVersion(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	got := repos.Must(p.Open("r").Version(t.Context()))(t)
	if len(got) < 2 || got[0] < 2 {
		t.Errorf("got %v", got)
	}
}

// A commit that nothing leads to any more goes from the object folder; one that something leads
// to is named with what does; one in a pack is left.
func TestDiscard(t *testing.T) {
	const ref = "refs/heads/x"
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	first := draft(t, r, "first")
	second := draft(t, r, "second", first)
	for _, step := range [][2]git.OID{{"", first}, {first, second}, {second, first}} {
		if err := r.CompareAndSwap(t.Context(), ref, step[0], step[1], "test"); err != nil {
			t.Fatal(err)
		}
	}
	harness.Equal(t, "reflog", []git.OID{first, second}, repos.Must(r.Reflog(ref))(t))
	harness.Equal(t, "reachable by the reflog", []git.OID{second},
		repos.Must(r.Reachable(t.Context(), []git.OID{second}))(t))
	if err := r.ExpireReflog(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "reflog", []git.OID(nil), repos.Must(r.Reflog(ref))(t))
	harness.Equal(t, "no reflog", []git.OID(nil), repos.Must(r.Reflog("refs/heads/none"))(t))
	harness.Equal(t, "reachable", []git.OID{first}, repos.Must(r.Reachable(t.Context(), []git.OID{second, first}))(t))

	p.Git("r", "tag", "kept", string(second))
	harness.Equal(t, "refs", []string{"refs/tags/kept"}, repos.Must(r.RefsHolding(t.Context(), []git.OID{second}))(t))
	harness.Equal(t, "reachable by a tag", []git.OID{second}, repos.Must(r.Reachable(t.Context(), []git.OID{second}))(t))
	p.Git("r", "worktree", "add", "-q", "--detach", "../w", string(second))
	p.Git("r", "tag", "-d", "kept")
	harness.Equal(t, "reachable by a worktree", []git.OID{second},
		repos.Must(r.Reachable(t.Context(), []git.OID{second}))(t))
	p.Git("r", "worktree", "remove", "--force", "../w")

	p.Git("r", "update-ref", "refs/keep", string(second))
	p.Git("r", "commit-graph", "write", "--reachable")
	p.Git("r", "update-ref", "-d", "refs/keep")
	harness.Equal(t, "left", []git.OID(nil), repos.Must(r.Discard(t.Context(), []git.OID{second, second}))(t))
	if _, err := p.Open("r").Commit(second); err == nil {
		t.Error("it is still there")
	}
	p.Git("r", "fsck", "--strict") // the commit-graph included
	third := draft(t, r, "third", first)
	p.Git("r", "update-ref", "refs/keep", string(third))
	p.Git("r", "repack", "-adq")
	harness.Equal(t, "left in a pack", []git.OID{third}, repos.Must(r.Discard(t.Context(), []git.OID{third}))(t))
	p.Fsck("r")
	if _, err := r.Discard(t.Context(), []git.OID{"../../HEAD"}); err == nil {
		t.Error("a path passed as an ID")
	}
}

// What can't be read is still here.
func TestDiscardUnreadable(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r", "--object-format="+format)
			r := p.Open("r")
			id := draft(t, r, "unreadable")
			p.Write("lent/"+string(id[:2])+"/"+string(id[2:]), "no object")
			p.Write("r/.git/objects/info/alternates", p.At("lent")+"\n")
			harness.Equal(t, "left", []git.OID{id}, repos.Must(r.Discard(t.Context(), []git.OID{id}))(t))
		})
	}
}

// An object that can't be read is not one that was never here.
func TestMissing(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Write("r/.git/objects/aa/"+strings.Repeat("a", 38), "no object")
	unreadable, never := git.OID(strings.Repeat("a", 40)), git.OID(strings.Repeat("b", 40))
	harness.Equal(t, "missing", map[git.OID]bool{never: true},
		p.Open("r").MissingObjects([]git.OID{unreadable, never, p.Rev("r", "HEAD")}))
}

func TestCheckedOut(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "branch", "side")
	r := p.Open("r")
	harness.Equal(t, "nowhere", "", repos.Must(r.CheckedOut(t.Context(), "refs/heads/side"))(t))
	p.Git("r", "worktree", "add", "-q", "../w", "side")
	harness.Equal(t, "in a worktree", p.At("w"), repos.Must(r.CheckedOut(t.Context(), "refs/heads/side"))(t))
}

// Paths that are removed need not be there, and no empty folder is made for them.
func TestRemoveWhatIsNotThere(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	blob := repos.Must(r.WriteBlob([]byte("x\n")))(t)
	id := repos.Must(r.WriteCommit(git.Draft{
		Blobs: map[string]git.OID{"a/b": blob}, Remove: []string{"a/c", "d/e/f", "g"},
		Message: "m\n", Author: git.Signature{Name: "A", Email: "a@b.c"},
	}))(t)
	harness.Equal(t, "tree", "a/b", p.Git("r", "ls-tree", "-r", "--name-only", string(id), "a/"))
	harness.Equal(t, "top", "a", p.Git("r", "ls-tree", "--name-only", string(id)))
	trees := r.Trees(1 << 20)
	tree := repos.Must(r.Commit(id))(t).Tree
	var held []bool
	for _, path := range []string{"a/b", "a", "a/c", "b", "a/b/c", ""} {
		held = append(held, repos.Must(trees.File(tree, path))(t) != "")
	}
	if !slices.Equal(held, []bool{true, false, false, false, false, false}) {
		t.Errorf("holds: %v", held)
	}
}
