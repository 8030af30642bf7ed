package git_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

func TestWriteCommit(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	first := repos.Must(r.WriteCommit(git.Draft{
		Files: map[string][]byte{
			"README.md": []byte("hi\n"), "seg/1/a": []byte("a"), "seg/1/b": []byte("b"),
			"seg/2/c": nil,
		},
		Message: "first\n", Author: git.Signature{
			Name: "Ä", Email: "ä@example.com",
			When: time.Unix(1_800_000_000, 0).In(time.FixedZone("", 5400)),
		},
	}))(t)
	base := repos.Must(r.Commit(first))(t)
	second := repos.Must(r.WriteCommit(git.Draft{
		Base: base.Tree, Files: map[string][]byte{"seg/1/b": []byte("B"), "seg/3/d": []byte("d")},
		Remove:  []string{"seg/2/c", "README.md"},
		Parents: []git.OID{first, p.Rev("r", "HEAD")}, Message: "second\n\nwith a body\n", Author: repos.Someone(),
	}))(t)
	p.Git("r", "update-ref", "refs/heads/written", string(second))
	p.Fsck("r")

	harness.Equal(t, "tree", "seg/1/a\nseg/1/b\nseg/3/d", p.Git("r", "ls-tree", "-r", "--name-only", string(second)))
	harness.Equal(t, "no folder without files", "seg/1\nseg/3",
		p.Git("r", "ls-tree", "--name-only", string(second), "seg/"))
	harness.Equal(t, "kept", "a", p.Git("r", "cat-file", "-p", string(second)+":seg/1/a"))
	harness.Equal(t, "replaced", "B", p.Git("r", "cat-file", "-p", string(second)+":seg/1/b"))
	harness.Equal(t, "the first, as git reads it", "Ä <ä@example.com> 1800000000 +0130|first",
		p.Git("r", "log", "-1", "--date=raw", "--format=%an <%ae> %ad|%B", string(first)))
	harness.Equal(t, "is signed", "N", p.Git("r", "log", "-1", "--format=%G?", string(second)))

	got := repos.Must(r.Commit(second))(t)
	harness.Equal(t, "the second", git.Commit{
		OID: second, Tree: p.Rev("r", "written^{tree}"), Parents: []git.OID{first, p.Rev("r", "HEAD")},
		Author: repos.Someone(), Committer: repos.Someone(), Message: "second\n\nwith a body\n",
	}, got)
	harness.Equal(t, "subject", "second", got.Subject())
}

func TestWriteCommitMovesNothing(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Write("r/file", "edited\n")
	before := p.Git("r", "for-each-ref") + p.Git("r", "status", "--porcelain=v2", "--branch")
	draft(t, p.Open("r"), "x")
	harness.Equal(t, "refs, index and work tree", before,
		p.Git("r", "for-each-ref")+p.Git("r", "status", "--porcelain=v2", "--branch"))
}

func TestWriteCommitFails(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	tree := repos.Must(r.Commit(p.Rev("r", "HEAD")))(t).Tree
	none := git.OID(strings.Repeat("1", 40))
	for name, d := range map[string]git.Draft{
		"a path of git's own":    {Files: map[string][]byte{".git/config": nil}, Author: repos.Someone()},
		"a path out of the tree": {Files: map[string][]byte{"../x": nil}, Author: repos.Someone()},
		"an empty name":          {Files: map[string][]byte{"a//b": nil}, Author: repos.Someone()},
		"a base that is not":     {Base: none, Author: repos.Someone()},
		"a base that is no OID":  {Base: "HEAD", Author: repos.Someone()},
		"a parent that is not":   {Base: tree, Parents: []git.OID{none}, Author: repos.Someone()},
		"no author":              {Base: tree},
	} {
		if id, err := r.WriteCommit(d); err == nil || id != "" {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
}

func TestReading(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Add("r", "two", "dir/a", "A\x00\n", "dir/sub/b", "", "dirt", "x")
	r := p.Open("r")
	tree := repos.Must(r.Commit(p.Rev("r", "HEAD")))(t).Tree
	harness.Equal(t, "a blob by OID", "x", string(repos.Must(r.Blob(p.Rev("r", "HEAD:dirt")))(t)))

	none := git.OID(strings.Repeat("1", 40))
	for name, err := range map[string]error{
		"a blob that is not":  second(r.Blob(none)),
		"a commit not there":  second(r.Commit(none)),
		"a ref that is not":   second(r.Ref("refs/heads/none")),
		"a name that is not":  second(r.Resolve("none")),
		"a parent too far":    second(r.Resolve("HEAD~99")),
		"what is no revision": second(r.Resolve("HEAD^^{]")),
	} {
		if !errors.Is(err, git.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	for name, err := range map[string]error{
		"a blob that is a tree": second(r.Blob(tree)), "a commit that is a tree": second(r.Commit(tree)),
		"no OID": second(r.Commit("xyz")), "a tree, resolved": second(r.Resolve("HEAD^{tree}")),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestResolve(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Add("r", "two", "file", "2\n")
	p.Git("r", "tag", "-a", "-m", "annotated", "v1.0.0")
	r := p.Open("r")
	for _, rev := range []string{
		"HEAD", "main", "v1.0.0", "HEAD~1", "HEAD^", "@", "refs/heads/main",
		string(p.Rev("r", "HEAD")[:7]),
	} {
		harness.Equal(t, rev, p.Rev("r", rev+"^{commit}"), repos.Must(r.Resolve(rev))(t))
	}
}

// merged is a repository with a merge: 1, then 2 and 3 side by side, then 4 of both.
func merged(t *testing.T) (*repos.Place, []git.OID) {
	t.Helper()
	p := repos.New(t)
	p.Start("r")
	at := func(n int) { p.Env = []string{fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", 1_800_000_000+n)} }
	at(1)
	p.Git("r", "commit", "-q", "--amend", "-m", "1")
	ids := []git.OID{"", p.Rev("r", "HEAD")}
	at(2)
	ids = append(ids, p.Add("r", "2", "two", "2\n"))
	p.Git("r", "checkout", "-q", "-b", "side", "HEAD~1")
	at(3)
	ids = append(ids, p.Add("r", "3", "three", "3\n"))
	at(4)
	p.Git("r", "merge", "-q", "-m", "4", "main")
	p.Env = nil
	return p, append(ids, p.Rev("r", "HEAD"))
}

func TestWalk(t *testing.T) {
	p, ids := merged(t)
	r := p.Open("r")
	none := git.OID(strings.Repeat("1", 40))
	for _, tt := range []struct {
		name string
		walk func(func(git.Commit, error) bool)
		want []git.OID
	}{
		{"all", r.Walk(background, ids[4:], nil), ids[1:]},
		{"without", r.Walk(background, ids[4:], []git.OID{ids[2]}), ids[3:]},
		{"without itself", r.Walk(background, ids[4:], ids[4:]), nil},
		{"two tips", r.Walk(background, []git.OID{ids[2], ids[3]}, nil), ids[1:4]},
		{"without what is not here", r.Walk(background, ids[2:3], []git.OID{none}), ids[1:3]},
		{"newest first", r.Newest(background, ids[4:], nil), []git.OID{ids[4], ids[3], ids[2], ids[1]}},
		{"from nowhere", r.Walk(background, nil, nil), nil},
	} {
		t.Run(tt.name, func(t *testing.T) { harness.Equal(t, "commits", tt.want, repos.OIDs(t, tt.walk)) })
	}
	t.Run("stopped", func(t *testing.T) {
		for c, err := range r.Newest(background, ids[4:], nil) {
			if err != nil || c.OID != ids[4] {
				t.Errorf("%s, %v", c.OID, err)
			}
			break
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(background)
		cancel()
		for c, err := range r.Walk(ctx, ids[4:], nil) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %v", c.OID, err)
			}
		}
	})
	t.Run("from a commit that is not here", func(t *testing.T) {
		for c, err := range r.Walk(background, []git.OID{none}, nil) {
			if !errors.Is(err, git.ErrNotFound) {
				t.Errorf("%s, and no error", c.OID)
			}
		}
	})
}

// TestWalkInAShallowClone cuts the history at every depth. libgit2's own walk fails there.
func TestWalkInAShallowClone(t *testing.T) {
	p, ids := merged(t)
	p.Git("r", "checkout", "-q", "main")
	tip := ids[4]
	for depth, want := range map[int][]git.OID{1: {ids[4]}, 2: ids[2:], 3: ids[1:]} {
		t.Run(fmt.Sprint("depth ", depth), func(t *testing.T) {
			dir := fmt.Sprint("clone", depth)
			p.Git(".", "clone", "-q", fmt.Sprint("--depth=", depth), "--branch=side", "file://"+p.At("r"), dir)
			r := p.Open(dir)
			got := repos.OIDs(t, r.Walk(background, []git.OID{tip}, nil))
			parentsFirst(t, r, got)
			harness.Equal(t, "all", sorted(want), sorted(got))
			back := slices.Clone(want)
			slices.Reverse(back)
			harness.Equal(t, "newest first", back, repos.OIDs(t, r.Newest(background, []git.OID{tip}, nil)))
			for _, id := range want {
				harness.Equal(t, "is behind the tip", true, repos.Must(r.IsAncestor(id, tip))(t))
				harness.Equal(t, "the tip is behind it", id == tip, repos.Must(r.IsAncestor(tip, id))(t))
			}
			harness.Equal(t, "without one", []git.OID{tip},
				repos.OIDs(t, r.Walk(background, []git.OID{tip}, []git.OID{ids[2], ids[3]})))
		})
	}
	t.Run("in a linked worktree", func(t *testing.T) {
		p.Git("clone2", "worktree", "add", "-q", "--detach", "../linked", "HEAD")
		harness.Equal(t, "all", sorted(ids[2:]), sorted(repos.OIDs(t,
			p.Open("linked").Walk(background, []git.OID{tip}, nil))))
	})
	t.Run("a parent that is lost, not cut", func(t *testing.T) {
		who := "A U Thor <a@example.com> 1800000000 +0000\n"
		lost := p.Object("clone1", "commit", "tree "+string(p.Rev("clone1", "HEAD^{tree}"))+"\nparent "+strings.Repeat("1",
			40)+"\nauthor "+who+"committer "+who+"\nx\n")
		r := p.Open("clone1")
		if _, err := r.IsAncestor(tip, lost); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("is it behind: %v", err)
		}
		for c, err := range r.Walk(background, []git.OID{lost}, nil) {
			if !errors.Is(err, git.ErrNotFound) {
				t.Errorf("%q, %v", c.OID, err)
			}
		}
	})
	t.Run("from a commit that is not here", func(t *testing.T) {
		for c, err := range p.Open("clone1").Walk(background, []git.OID{ids[1]}, nil) {
			if !errors.Is(err, git.ErrNotFound) {
				t.Errorf("%q, %v", c.OID, err)
			}
		}
	})
}

func sorted(ids []git.OID) []git.OID { return slices.Sorted(slices.Values(ids)) }

func parentsFirst(t testing.TB, r *git.Repo, ids []git.OID) {
	t.Helper()
	for i, id := range ids {
		for _, parent := range repos.Must(r.Commit(id))(t).Parents {
			if slices.Contains(ids[i:], parent) {
				t.Errorf("%s comes before its parent", id)
			}
		}
	}
}

func TestIsAncestor(t *testing.T) {
	p, ids := merged(t)
	r := p.Open("r")
	none := git.OID(strings.Repeat("1", 40))
	for _, tt := range []struct {
		name     string
		old, new git.OID
		want     bool
	}{
		{"a parent", ids[1], ids[2], true},
		{"across a merge", ids[1], ids[4], true},
		{"itself", ids[1], ids[1], true},
		{"a child", ids[2], ids[1], false},
		{"side by side", ids[2], ids[3], false},
		{"what is not here", none, ids[4], false},
		{"of what is not here", ids[1], none, false},
	} {
		if got := repos.Must(r.IsAncestor(tt.old, tt.new))(t); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if _, err := r.IsAncestor("", ids[1]); err == nil {
		t.Error("no OID, and no error")
	}
}
