package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lock"
)

// Ref reads the OID that a full ref name points at; ErrNotFound when there is none.
func (r *Repo) Ref(name string) (OID, error) {
	id, err := OID(""), ErrNotFound
	if ValidRef(name) { // else it may be a revision
		id, err = r.store.ref(name)
	}
	if err != nil {
		return "", fmt.Errorf("git: ref %s: %w", name, err)
	}
	return id, nil
}

// Refs maps every full ref name that matches one of the globs to its OID. Symbolic refs are
// left out.
func (r *Repo) Refs(globs ...string) (map[string]OID, error) {
	refs, err := r.store.refs(globs)
	if err != nil {
		return nil, fmt.Errorf("git: list %s: %w", strings.Join(globs, ", "), err)
	}
	return refs, nil
}

// lockTries and lockPause bound how long a change of a ref or of the configuration waits for
// another process that holds the lock file for an instant (a commit, pack-refs, git config):
// about half a second.
const (
	lockTries = 50
	lockPause = 10 * time.Millisecond
)

// CompareAndSwap moves a ref from old to new, or creates it when old is "". It returns
// ErrMoved when the ref is not at old any more. A lock file that a dead process left is
// removed.
func (r *Repo) CompareAndSwap(ctx context.Context, name string, old, new OID, reflog string) error {
	by := r.store
	if r.shared.bits != 0 { // which libgit2 does not know
		by = r.git
	}
	swap := func() error { return by.swap(ctx, name, old, new, reflog) }
	err := whenFree(ctx, swap)
	if errors.Is(err, errLocked) && r.unlock(ctx, r.lockFile(name)) {
		err = whenFree(ctx, swap)
	}
	if err != nil {
		return fmt.Errorf("git: move %s: %w", name, err)
	}
	return nil
}

// errLocked is a lock file in the way.
var errLocked = errors.New("locked by another process")

// whenFree does what takes a lock file, and again while another process holds that.
func whenFree(ctx context.Context, do func() error) error {
	var err error
	for range lockTries {
		if err = ctx.Err(); err != nil {
			return err
		}
		if err = do(); !errors.Is(err, errLocked) {
			return err
		}
		time.Sleep(lockPause)
	}
	return err
}

// lockFile is the file that git and libgit2 hold while they move a ref.
func (r *Repo) lockFile(ref string) string {
	return filepath.Join(r.layout.CommonDir, filepath.FromSlash(ref)+".lock")
}

// sameFile reports whether a path still names the file that it did, untouched.
func sameFile(path string, before os.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, before) && now.ModTime().Equal(before.ModTime())
}

// staleAfter is how long a ref's lock file must stand untouched to count as a dead
// process's: git and libgit2 hold it for the time of a rename.
const staleAfter = time.Second

// unlock removes a ref's lock file that nobody moves, and reports whether the way is free.
// Of several processes that see it, one removes it: the lock is for that alone.
func (r *Repo) unlock(ctx context.Context, path string) bool {
	before, err := os.Stat(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(staleAfter):
	}
	held, err := lock.Acquire(ctx, filepath.Join(r.layout.CommonDir, "rekal-refs.lock"), lock.ToWrite, staleAfter)
	if err != nil {
		return false
	}
	if sameFile(path, before) {
		err = os.Remove(path)
	}
	return errors.Join(err, held.Remove()) == nil
}

// InTheWay is a ref whose name keeps another one from being made, "" when there is none: git
// keeps refs as files, so a/b and a/b/c can't both be.
func (r *Repo) InTheWay(name string) string {
	for up := path.Dir(name); strings.Count(up, "/") > 1; up = path.Dir(up) {
		if _, err := r.Ref(up); err == nil {
			return up
		}
	}
	below, err := r.Refs(name + "/*")
	if err != nil || len(below) == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(below)))
}

// InTheWayAt is InTheWay on a remote, which is asked.
func (r *Repo) InTheWayAt(ctx context.Context, remote, name string, attended Attended) (string, error) {
	args := []string{"ls-remote", "--refs", remote, name + "/*"}
	for up := path.Dir(name); strings.Count(up, "/") > 1; up = path.Dir(up) {
		args = append(args, up)
	}
	out, _, err := r.network(ctx, attended, args...)
	if err != nil {
		return "", fmt.Errorf("git: list refs of %q: %w", remote, err)
	}
	for line := range strings.Lines(out) {
		_, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(ref, name+"/") || slices.Contains(args, ref) { // git looks at the ends of names
			return ref, nil
		}
	}
	return "", nil
}

// DeleteRef removes a ref; one that is not there is no error.
func (r *Repo) DeleteRef(name string) error {
	err := r.git.drop(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("git: delete %s: %w", name, err)
	}
	r.removeEmpty(name)
	return nil
}

// removeEmpty removes the folders of the last ref of a namespace of ours, which libgit2 leaves: "refs/rekal". What is not empty stays.
func (r *Repo) removeEmpty(name string) {
	if strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") { // git tells a repository by such folders
		return
	}
	for dir := path.Dir(name); strings.Contains(dir, "/"); dir = path.Dir(dir) {
		_ = os.Remove(filepath.Join(r.layout.CommonDir, dir))
		_ = os.Remove(filepath.Join(r.layout.CommonDir, "logs", dir))
	}
}
