package git_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// kinds are the repositories and who answers for them. A kind without a way is one that this machine's git can't make.
func kinds(t *testing.T) map[string]func(p *repos.Place) *git.Repo {
	t.Helper()
	with := func(option string, open func(p *repos.Place) *git.Repo) func(p *repos.Place) *git.Repo {
		return func(p *repos.Place) *git.Repo {
			if _, err := p.Try(".", "init", "-q", option, "r"); err != nil {
				p.T.Skipf("SKIPPED: this git knows no %s: %v", option, err)
			}
			p.Add("r", "one", "file", "1\n")
			return open(p)
		}
	}
	usual := func(p *repos.Place) *git.Repo { return p.Open("r") }
	asked := func(p *repos.Place) *git.Repo {
		r := p.Open("r")
		r.UsePlumbing()
		return r
	}
	return map[string]func(p *repos.Place) *git.Repo{
		"SHA-1, libgit2": with("--object-format=sha1", usual), "SHA-1, git": with("--object-format=sha1", asked),
		"SHA-256": with("--object-format=sha256", usual), "reftable": with("--ref-format=reftable", usual),
	}
}

// TestStores: whoever answers for a repository gives the same answers as git.
func TestStores(t *testing.T) { stores(t, "SHA-256") }

func TestLongStores(t *testing.T) { stores(t, "SHA-1, libgit2", "SHA-1, git", "reftable") }

func stores(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		open := kinds(t)[name]
		for what, check := range map[string]func(p *repos.Place, r *git.Repo){
			"objects": storedObjects, "refs": storedRefs, "swaps": storedSwaps, "revisions": storedRevisions,
			"prefixes": storedPrefixes,
			"history":  storedHistory, "HEAD": storedHead, "a commit": storedCommit, "differences": storedChanges,
			"reflogs": storedReflogs,
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				p := repos.New(t)
				check(p, open(p))
			})
		}
	}
}

func none(r *git.Repo) git.OID { return git.OID(strings.Repeat("1", 2*r.ObjectFormat().OIDSize)) }

func refuses(t testing.TB, what string, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func storedObjects(p *repos.Place, r *git.Repo) {
	t := p.T
	for _, text := range []string{"", "1\n", "\x00\n\n", strings.Repeat("long\n", 100_000)} {
		id := repos.Must(r.WriteBlob([]byte(text)))(t)
		p.Write("text", text)
		harness.Equal(t, "name", git.OID(p.Git("r", "hash-object", p.At("text"))), id)
		harness.Equal(t, "content", text, string(repos.Must(r.Blob(id))(t)))
		harness.Equal(t, "size", uint64(len(text)), repos.Must(r.BlobSize(id))(t))
	}
	head := p.Rev("r", "HEAD")
	p.Git("r", "repack", "-adq")
	harness.Equal(t, "packed", "1\n", string(repos.Must(r.Blob(p.Rev("r", "HEAD:file")))(t)))
	harness.Equal(t, "missing", map[git.OID]bool{none(r): true}, r.MissingObjects([]git.OID{head, none(r)}))
	_, err := r.Blob(none(r))
	refuses(t, "a blob that is not", git.ErrNotFound, err)
	_, err = r.Blob(git.OID(strings.Repeat("1", 104-2*r.ObjectFormat().OIDSize)))
	refuses(t, "a name of the other format", git.ErrNotFound, err)
	_, err = r.Blob(head)
	refuses(t, "a blob that is a commit", git.ErrMalformed, err)
	_, err = r.Commit(p.Rev("r", "HEAD^{tree}"))
	refuses(t, "a commit that is a tree", git.ErrMalformed, err)
	p.Fsck("r")
}

func storedRefs(p *repos.Place, r *git.Repo) {
	t, head := p.T, p.Rev("r", "HEAD")
	p.Git("r", "tag", "-a", "-m", "x", "v1")
	p.Git("r", "branch", "rekal/a@b.c")
	p.Git("r", "branch", "rekal/deep/er")
	p.Git("r", "symbolic-ref", "refs/heads/alias", "refs/heads/main")
	for range 2 {
		harness.Equal(t, "a ref", head, repos.Must(r.Ref("refs/heads/rekal/a@b.c"))(t))
		harness.Equal(t, "a tag's object", p.Rev("r", "refs/tags/v1"), repos.Must(r.Ref("refs/tags/v1"))(t))
		harness.Equal(t, "refs", map[string]git.OID{"refs/heads/rekal/a@b.c": head, "refs/heads/rekal/deep/er": head},
			repos.Must(r.Refs("refs/heads/rekal/*"))(t))
		harness.Equal(t, "all, without the symbolic", 4, len(repos.Must(r.Refs("refs/*"))(t)))
		harness.Equal(t, "what is in the way above", "refs/heads/main", r.ConflictingRef("refs/heads/main/x/y"))
		harness.Equal(t, "what is in the way below", "refs/heads/rekal/a@b.c", r.ConflictingRef("refs/heads/rekal"))
		p.Git("r", "pack-refs", "--all")
	}
	for _, name := range []string{
		"refs/heads/none", "refs/heads/rekal", "refs/heads/main~0",
		"refs/heads/x-g" + string(head[:9]), "main", "",
	} {
		_, err := r.Ref(name)
		refuses(t, name, git.ErrNotFound, err)
	}
	if err := errors.Join(r.DeleteRef(t.Context(), "refs/heads/rekal/a@b.c"),
		r.DeleteRef(t.Context(), "refs/heads/none")); err != nil {
		t.Error(err)
	}
	_, err := r.Ref("refs/heads/rekal/a@b.c")
	refuses(t, "a ref that was deleted", git.ErrNotFound, err)
}

func storedSwaps(p *repos.Place, r *git.Repo) {
	t, head := p.T, p.Rev("r", "HEAD")
	next := draft(t, r, "next", head)
	const name = "refs/heads/rekal/a@b.c"
	swap := func(old, new git.OID) error { return r.CompareAndSwap(background, name, old, new, "said") }
	refuses(t, "none is there", git.ErrMoved, swap(next, head))
	refuses(t, "made", nil, swap("", head))
	refuses(t, "made again", git.ErrMoved, swap("", next))
	refuses(t, "moved", nil, swap(head, next))
	refuses(t, "moved meanwhile", git.ErrMoved, swap(head, next))
	harness.Equal(t, "where it is", next, repos.Must(r.Ref(name))(t))
	harness.Equal(t, "as git sees it", next, p.Rev("r", name))
	harness.Equal(t, "what the reflog has", "said", p.Git("r", "log", "-g", "-1", "--format=%gs", name))
	if err := r.CompareAndSwap(background, name+"/below", "", head, "said"); err == nil || errors.Is(err, git.ErrMoved) {
		t.Errorf("a ref below another one: %v", err)
	}
	if err := swap(next, none(r)); err == nil {
		t.Error("a ref to nothing")
	}
	p.Write("r/.git/hooks/reference-transaction", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(p.At("r/.git/hooks/reference-transaction"), 0o755); err != nil {
		t.Fatal(err)
	}
	refuses(t, "a hook of the user's has no say", nil, swap(next, head))
}

func storedReflogs(p *repos.Place, r *git.Repo) {
	t, head := p.T, p.Rev("r", "HEAD")
	next := draft(t, r, "next", head)
	const name = "refs/heads/rekal/a@b.c"
	refuses(t, "made", nil, errors.Join(r.CompareAndSwap(background, name, "", head, "said"),
		r.CompareAndSwap(background, name, head, next, "more")))
	harness.Equal(t, "what it leads to", []git.OID{head, next}, repos.Must(r.Reflog(name))(t))
	log := repos.Must(r.OpenReflog("HEAD"))(t)
	defer log.Close()
	text := make([]byte, log.Size)
	repos.Must(log.ReadAt(text, 0))(t)
	if line := string(text); !strings.HasPrefix(line, strings.Repeat("0", len(head))+" "+string(head)+" ") ||
		!strings.HasSuffix(line, "\tcommit (initial): one\n") {
		t.Errorf("of HEAD: %q", line)
	}
	refuses(t, "emptied", nil, errors.Join(r.ExpireReflog(background, name),
		r.ExpireReflog(background, "refs/heads/none")))
	harness.Equal(t, "then", 0, len(repos.Must(r.Reflog(name))(t)))
}

func storedRevisions(p *repos.Place, r *git.Repo) {
	p.Add("r", "two", "file", "2\n")
	p.Git("r", "tag", "-a", "-m", "x", "v1")
	for _, rev := range []string{
		"HEAD", "main", "v1", "HEAD~1", "HEAD^", "@", "refs/heads/main", "main@{0}",
		string(p.Rev("r", "HEAD")[:7]),
	} {
		harness.Equal(p.T, rev, p.Rev("r", rev+"^{commit}"), repos.Must(r.Resolve(rev))(p.T))
	}
	harness.Equal(p.T, "by what it says", p.Rev("r", ":/two"), repos.Must(r.Resolve(":/two"))(p.T))
	for _, rev := range []string{"none", "none@", "HEAD~1@", "HEAD~99", "", "two\nlines", "0", string(none(r))} {
		_, err := r.Resolve(rev)
		refuses(p.T, rev, git.ErrNotFound, err)
	}
	for _, rev := range []string{"HEAD^{tree}", "HEAD:file"} {
		if id, err := r.Resolve(rev); err == nil {
			p.T.Errorf("%s: %s", rev, id)
		}
	}
}

func storedPrefixes(p *repos.Place, r *git.Repo) {
	t, head := p.T, p.Rev("r", "HEAD")
	for n := 7; n <= len(head); n += 11 {
		harness.Equal(t, fmt.Sprint(n, " digits"), head, repos.Must(r.CommitByPrefix(string(head[:n])))(t))
	}
	p.Add("r", "two", "file", "2\n")
	p.Git("r", "branch", string(head[:7])) // a name that comes first for git
	harness.Equal(t, "not the branch", head, repos.Must(r.CommitByPrefix(string(head[:7])))(t))
	for _, digits := range []string{
		"", "abc", "xyzxyz", string(p.Rev("r", "HEAD:file")), string(head) + "0",
		string(none(r)[:9]),
	} {
		_, err := r.CommitByPrefix(digits)
		refuses(t, digits, git.ErrNotFound, err)
	}
}

func storedHistory(p *repos.Place, r *git.Repo) {
	t, one := p.T, p.Rev("r", "HEAD")
	p.Git("r", "checkout", "-q", "-b", "side")
	side := p.Add("r", "side", "s", "1\n")
	p.Git("r", "checkout", "-q", "main")
	two := p.Add("r", "two", "file", "2\n")
	p.Git("r", "merge", "-q", "--no-edit", "side")
	tip := p.Rev("r", "HEAD")
	for _, tt := range []struct {
		tips, hide []git.OID
		want       int
	}{
		{[]git.OID{tip}, nil, 4},
		{[]git.OID{tip}, []git.OID{two}, 2},
		{[]git.OID{two, side}, []git.OID{one, none(r)}, 2},
		{nil, nil, 0},
		{[]git.OID{one}, []git.OID{tip}, 0},
	} {
		got := repos.OIDs(t, r.Walk(background, tt.tips, tt.hide))
		parentsFirst(t, r, got)
		harness.Equal(t, fmt.Sprintf("%v without %v", tt.tips, tt.hide), tt.want, len(got))
	}
	for c, err := range r.Walk(background, []git.OID{none(r)}, nil) {
		refuses(t, string(c.OID), git.ErrNotFound, err)
	}
	for _, tt := range []struct {
		old, new git.OID
		want     bool
	}{
		{one, tip, true},
		{side, tip, true},
		{tip, one, false},
		{side, two, false},
		{two, two, true},
		{none(r), tip, false},
		{one, none(r), false},
	} {
		harness.Equal(t, fmt.Sprint(tt.old, " behind ", tt.new), tt.want, repos.Must(r.IsAncestor(tt.old, tt.new))(t))
	}
}

func storedHead(p *repos.Place, r *git.Repo) {
	t, head := p.T, p.Rev("r", "HEAD")
	harness.Equal(t, "on a branch", git.Head{OID: head, Branch: "main"}, repos.Must(r.Head())(t))
	p.Git("r", "symbolic-ref", "refs/heads/former", "refs/heads/main")
	p.Git("r", "checkout", "-q", "former")
	harness.Equal(t, "on a former name of a branch", git.Head{OID: head, Branch: "main"}, repos.Must(r.Head())(t))
	p.Git("r", "checkout", "-q", "--detach")
	harness.Equal(t, "detached", git.Head{OID: head, Branch: "HEAD"}, repos.Must(r.Head())(t))
	p.Git("r", "checkout", "-q", "--orphan", "new/one")
	harness.Equal(t, "before the first commit", git.Head{Branch: "new/one"}, repos.Must(r.Head())(t))
}

func storedCommit(p *repos.Place, r *git.Repo) {
	t, head := p.T, p.Rev("r", "HEAD")
	by := git.Signature{Name: "Ä", Email: "ä@example.com", When: time.Unix(1_800_000_000, 0).In(time.FixedZone("", 5400))}
	id := repos.Must(r.WriteCommit(git.Draft{
		Base: repos.Must(r.Commit(head))(t).Tree, Files: map[string][]byte{
			"a/b": []byte("1"), "a.b": nil,
			"a/c/d": []byte("2"),
		},
		Blobs: map[string]git.OID{"a0": p.Rev("r", "HEAD:file")}, Remove: []string{"file", "none"}, Parents: []git.OID{head},
		Message: "said\n\nmore\n", Author: by,
	}))(t)
	p.Git("r", "update-ref", "refs/heads/written", string(id))
	p.Fsck("r")
	harness.Equal(t, "tree", "a.b\na/b\na/c/d\na0", p.Git("r", "ls-tree", "-r", "--name-only", string(id)))
	want := git.Commit{
		OID: id, Tree: p.Rev("r", "written^{tree}"), Parents: []git.OID{head}, Author: by, Committer: by,
		Message: "said\n\nmore\n",
	}
	harness.Equal(t, "the commit", want, repos.Must(r.Commit(id))(t))
	_, err := r.WriteCommit(git.Draft{Parents: []git.OID{none(r)}, Author: by})
	refuses(t, "a parent that is not", git.ErrNotFound, err)
}

func storedChanges(p *repos.Place, r *git.Repo) {
	p.Add("r", "two", "file", "2\n", "old", repos.Long(), "dir/x", "1\n")
	p.Git("r", "mv", "old", "new")
	p.Git("r", "rm", "-q", "-r", "dir")
	id := p.Add("r", "three", "new", repos.Long()+"more\n", "dir", "a file now\n")
	var got []string
	for _, c := range repos.Must(r.Changes(id))(p.T) {
		got = append(got, strings.TrimSpace(fmt.Sprint(c.Kind, " ", c.OldPath, " ", c.Path)))
	}
	harness.Equal(p.T, "changes", []string{"A  dir", "D  dir/x", "R old new"}, got)
}
