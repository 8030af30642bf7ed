// Package git is the only package with libgit2, and the only one that knows how a repository is stored. It deals in
// refs, OIDs, paths and bytes, and never learns of sessions. Two packages stand on it: worktree and history.
//
// In: a directory inside a repository, and the process's environment. Out: where the repository keeps things (Layout),
// objects by OID, and a ref that moves only by compare-and-swap. One small interface (store) reads objects and refs.
// libgit2 implements it, or git's own plumbing for SHA-256 and reftables. The repository's format decides which;
// nothing is tried.
//
// Promises: a method that writes has written everything or returns an error; objects are immutable, so a crash leaves
// at most unreachable ones. A Repo belongs to one goroutine. Several processes may work on one repository at once.
//
// It never touches the index or the worktree, and never signs. It leaves the network to the user's own `git fetch` and
// `git push`. These may ask for a password only if the caller says that somebody is there.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	git2 "github.com/libgit2/git2go/v34"

	"github.com/git-rekal/git-rekal/internal/advice"
)

// OID is a hexadecimal object ID, of 40 characters in a SHA-1 repository and of 64 in a SHA-256 one; "" is none.
type OID string

// Errors that callers decide on.
var (
	ErrNotRepository = advice.New("not a git repository", "run it inside a git repository")
	ErrUnsupported   = advice.New("unsupported repository format",
		"git-rekal works with SHA-1 repositories and refs in files")
	ErrNotFound   = errors.New("not found")
	ErrMoved      = errors.New("ref moved")
	ErrNoIdentity = advice.New("no identity",
		`run "git config user.email you@example.com" and "git config user.name You"; no session is lost, the next checkpoint captures it`)
	ErrAmbiguous = errors.New("ambiguous")

	errNotCommit = errors.New("not a commit")
)

// Layout says where a repository keeps things. All paths are absolute and cleaned, and
// WorkTree is "" in a bare repository.
type Layout struct {
	WorkTree  string // root of the worktree that the process stands in
	MainTree  string // root of the main worktree; "" when that one is bare
	GitDir    string // this worktree's git directory
	CommonDir string // the git directory that all worktrees share
}

// Repo is an open repository.
type Repo struct {
	ctx      context.Context  // ends every process that is started for it
	r        *git2.Repository // found it, and reads its configuration
	format   ObjectFormat
	store    store
	git      *plumbing // the store, or beside libgit2 for what that does not know
	reftable bool      // refs and their reflogs are in a reftable
	shared   shared    // with whom, by core.sharedRepository
	layout   Layout
	dir      string
	env      []string
	sign     func(ctx context.Context, payload []byte) ([]byte, error) // see SignWith
	beside   *Repo                                                     // see AlsoReadFrom; nil: none
	trusts   func() bool                                               // see TrustIf; nil: it is trusted
	renames  map[TreePair]map[string]string                            // of commits, as git told
}

// Open finds the repository that dir lies in, as git would: GIT_DIR and its companions count when env sets them. With
// ctx end all processes that are started for it, as a hook's time is bounded; nothing that needs one is answered
// afterwards. It returns ErrNotRepository outside of one, ErrUnsupported for formats or extensions that can't be read,
// and an OwnerError where git refuses.
func Open(ctx context.Context, dir string, env []string) (*Repo, error) {
	if err := prepare(); err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}
	r, err := openRepository(dir, env)
	if err != nil {
		return nil, openError(dir, err)
	}
	repo := &Repo{ctx: ctx, r: r, dir: dir, env: env, renames: map[TreePair]map[string]string{}}
	if err := repo.inspect(); err != nil {
		r.Free()
		return nil, err
	}
	return repo, nil
}

// Reopen opens the repository once more, for another goroutine.
func (r *Repo) Reopen() (*Repo, error) {
	out, err := Open(r.ctx, r.dir, r.env)
	if err != nil {
		return nil, err
	}
	if out.trusts = r.trusts; r.beside == nil {
		return out, nil
	}
	beside, err := r.beside.Reopen()
	if err != nil {
		out.Close()
		return nil, err
	}
	out.AlsoReadFrom(beside)
	return out, nil
}

// Init makes a bare repository in a folder that does not exist, and opens it.
func Init(ctx context.Context, dir string) (*Repo, error) {
	r, err := git2.InitRepository(dir, true)
	if err != nil {
		return nil, fmt.Errorf("git: make %q: %w", dir, err)
	}
	r.Free()
	return OpenBare(ctx, dir)
}

// InitBeside makes a bare repository in a folder that does not exist, with object IDs as this one has them, for its
// user alone.
func (r *Repo) InitBeside(dir string) error {
	made, err := git2.InitRepository(dir, true)
	if err == nil {
		made.Free()
		err = os.Chmod(dir, 0o700)
	}
	if err == nil && r.format.OIDSize == sha256Format.OIDSize {
		text := "[core]\n\tbare = true\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
		err = os.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o600)
	}
	if err != nil {
		return fmt.Errorf("git: make %q: %w", dir, err)
	}
	return nil
}

// OpenBare opens a repository of ours by its name, as safe.bareRepository asks for.
func OpenBare(ctx context.Context, dir string) (*Repo, error) {
	return Open(ctx, dir, []string{"GIT_DIR=."})
}

// inspect finds out where things are, whether they may be read, and by whom.
func (r *Repo) inspect() (err error) {
	if r.layout, err = layoutOf(r.r); err != nil {
		return err
	}
	if err := r.checkOwner(); err != nil {
		return err
	}
	r.shared = parseShared(r.Setting("core.sharedrepository"))
	if err := r.chooseStore(); err != nil {
		return fmt.Errorf("git: open %q: %w", r.dir, err)
	}
	return nil
}

// openRepository heeds GIT_DIR and GIT_WORK_TREE itself: libgit2 1.5 would read them from the process
// and refuses the second.
func openRepository(dir string, env []string) (*git2.Repository, error) {
	path, flags := dir, git2.RepositoryOpenCrossFs
	if d := envValue(env, "GIT_DIR"); d != "" {
		path, flags = absoluteFrom(dir, d), git2.RepositoryOpenNoSearch
	}
	r, err := git2.OpenRepositoryExtended(path, flags, "")
	if err != nil {
		return nil, err
	}
	tree := envValue(env, "GIT_WORK_TREE")
	if tree == "" && flags == git2.RepositoryOpenNoSearch && isSeparate(r) {
		tree = "." // as for git; libgit2 takes the folder above
	}
	if tree != "" {
		if err := r.SetWorkdir(absoluteFrom(dir, tree), false); err != nil {
			r.Free()
			return nil, fmt.Errorf("GIT_WORK_TREE %q: %w", tree, err)
		}
	}
	return r, nil
}

// isSeparate reports whether nothing in a repository says where its working tree is: `git init --separate-git-dir`.
func isSeparate(r *git2.Repository) bool {
	common, err := r.ItemPath(git2.RepositoryItemCommonDir)
	if err != nil || r.IsBare() || common != r.Path() || filepath.Base(cleanPath(common)) == ".git" {
		return false
	}
	conf, err := r.Config()
	if err != nil {
		return false
	}
	defer conf.Free()
	_, err = conf.LookupString("core.worktree")
	return err != nil
}

// absoluteFrom makes a path absolute that is relative to dir.
func absoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func openError(dir string, err error) error {
	msg := err.Error()
	switch {
	case git2.IsErrorCode(err, git2.ErrorCodeNotFound):
		return fmt.Errorf("git: open %q: %w", dir, ErrNotRepository)
	case strings.Contains(msg, "unsupported extension"), strings.Contains(msg, "repository version"):
		return fmt.Errorf("git: open %q: %w: %s", dir, ErrUnsupported, msg)
	}
	return fmt.Errorf("git: open %q: %w", dir, err)
}

func layoutOf(r *git2.Repository) (Layout, error) {
	common, err := r.ItemPath(git2.RepositoryItemCommonDir)
	if err != nil {
		return Layout{}, fmt.Errorf("git: find the common directory of %q: %w", r.Path(), err)
	}
	l := Layout{
		WorkTree:  cleanPath(r.Workdir()),
		GitDir:    cleanPath(r.Path()),
		CommonDir: cleanPath(common),
	}
	l.MainTree = l.WorkTree
	if l.GitDir != l.CommonDir {
		main, err := git2.OpenRepository(l.CommonDir)
		if err != nil {
			return Layout{}, openError(l.CommonDir, err)
		}
		defer main.Free()
		if l.MainTree = cleanPath(main.Workdir()); isSeparate(main) {
			l.MainTree = "" // nobody knows
		}
	}
	return l, nil
}

func cleanPath(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Clean(path)
}

// Close releases the repository.
func (r *Repo) Close() {
	if r.beside != nil {
		r.beside.Close()
	}
	r.store.close()
	r.git.close()
	r.r.Free()
}

// Context is what the repository was opened with.
func (r *Repo) Context() context.Context { return r.ctx }

// Layout says where the repository keeps things.
func (r *Repo) Layout() Layout { return r.layout }

// Head is what HEAD points at.
type Head struct {
	OID    OID    // "" before the first commit
	Branch string // short branch name; "HEAD" when detached
}

// Head reads HEAD of the current worktree.
func (r *Repo) Head() (Head, error) { return r.HeadIn(r.layout.GitDir) }

// HeadIn reads HEAD of the worktree with a git directory. It stands in a file, but in a repository with reftable, where
// that names a ref that can't be.
func (r *Repo) HeadIn(gitDir string) (Head, error) {
	file := filepath.Join(gitDir, "HEAD")
	ref, symbolic := "", false
	if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "refs/") { // core.preferSymlinkRefs
		ref, symbolic = to, true
	} else {
		text, err := os.ReadFile(file)
		if err != nil {
			return Head{}, fmt.Errorf("git: read HEAD: %w", err)
		}
		ref, symbolic = strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
	}
	var err error
	if ref == "refs/heads/.invalid" {
		ref, symbolic, err = r.headFromReftable(r.HeadName(gitDir))
	}
	if err != nil || !symbolic {
		return Head{OID: OID(ref), Branch: "HEAD"}, err
	}
	ref = r.followSymbolic(ref)
	h := Head{Branch: strings.TrimPrefix(ref, "refs/heads/")}
	h.OID, err = r.Ref(ref)
	if errors.Is(err, ErrNotFound) {
		return h, nil
	}
	return h, err
}

// followSymbolic is the ref that a symbolic one leads to at last, as a renamed branch has; another ref is itself. A
// symbolic ref is always a file of its own. In a reftable git has followed it.
func (r *Repo) followSymbolic(ref string) string {
	const most = 5 // as in git
	for range most {
		if !ValidRef(ref) {
			break
		}
		text, err := os.ReadFile(filepath.Join(r.layout.CommonDir, filepath.FromSlash(ref)))
		to, symbolic := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
		if err != nil || !symbolic {
			break
		}
		ref = to
	}
	return ref
}

// headFromReftable is the ref that HEAD names in a reftable, or the commit where it is detached.
func (r *Repo) headFromReftable(name string) (ref string, symbolic bool, err error) {
	ref, err = r.Run(r.ctx, "symbolic-ref", "--quiet", name)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		id, err := r.Resolve(name)
		return string(id), false, err
	}
	return strings.TrimSpace(ref), true, err
}

// HeadName is what HEAD of the worktree with a git directory is called in all of them.
func (r *Repo) HeadName(gitDir string) string {
	if gitDir == r.layout.CommonDir {
		return "main-worktree/HEAD"
	}
	return "worktrees/" + filepath.Base(gitDir) + "/HEAD"
}

// GitDirs are the git directories of the main worktree, or of a bare repository, and of the linked ones.
func (r *Repo) GitDirs() []string {
	dirs := []string{r.layout.CommonDir}
	linked, _ := os.ReadDir(filepath.Join(r.layout.CommonDir, "worktrees")) // mostly it is not there
	for _, e := range linked {
		dirs = append(dirs, filepath.Join(r.layout.CommonDir, "worktrees", e.Name()))
	}
	return dirs
}

// Heads are the commits that are checked out in the worktrees, this one's first.
func (r *Repo) Heads() (out []OID) {
	for _, dir := range append([]string{r.layout.GitDir}, r.GitDirs()...) {
		head, err := r.HeadIn(dir)
		if err != nil || slices.Contains(out, head.OID) {
			continue
		}
		if _, err := r.Commit(head.OID); err == nil {
			out = append(out, head.OID)
		}
	}
	return out
}

// Resolve turns a revision as `git rev-parse` takes it into the commit that it names.
func (r *Repo) Resolve(rev string) (OID, error) {
	id, err := r.git.resolve(rev)
	if err != nil {
		return "", fmt.Errorf("git: resolve %q: %w", rev, err)
	}
	return id, nil
}

// Signature is who made a commit, and when.
type Signature struct {
	Name, Email string
	When        time.Time
}

func envValue(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v
		}
	}
	return ""
}
