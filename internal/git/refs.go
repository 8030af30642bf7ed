package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/lazy"
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

// CompareAndSwap moves a ref from old to new, or creates it when old is "". It returns ErrMoved when the ref is not at
// old any more. A lock file in the way stays, as nobody can tell whether its owner lives; the error names it.
func (r *Repo) CompareAndSwap(ctx context.Context, name string, old, new OID, reflog string) error {
	if err := retryWhileLocked(ctx, func() error { return r.swap(ctx, name, old, new, reflog) }); err != nil {
		return fmt.Errorf("git: move %s: %w", name, err)
	}
	return nil
}

func (r *Repo) swap(ctx context.Context, name string, old, new OID, reflog string) error {
	if err := r.format.checkID(new); err != nil {
		return err
	}
	if old == "" {
		old = OID(strings.Repeat("0", 2*r.format.OIDSize))
	}
	// retryWhileLocked waits for locks
	err := r.runChange(ctx, "-c", "core.filesRefLockTimeout=0", "update-ref", "-m", reflog, name, string(new), string(old))
	if err == nil {
		return nil
	}
	for _, part := range []string{"but expected", "reference already exists", "unable to resolve reference"} {
		if strings.Contains(err.Error(), part) {
			return fmt.Errorf("%w: %w", ErrMoved, err)
		}
	}
	return err
}

// runChange runs a git that changes refs or configuration, in which nobody's hook has a say. It is errLocked where
// another process holds a lock file.
func (r *Repo) runChange(ctx context.Context, args ...string) error {
	cmd := withoutFetching(r.Command(ctx, append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)...))
	detach(cmd)
	_, err := runGit(ctx, cmd, failureLine)
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // git has done it; on a busy machine its streams were closed late
		return nil
	case errors.As(err, &exit) && err == error(exit): //nolint:errorlint // so nobody heard what it said: mostly of a lock
		return fmt.Errorf("%w: %w", errLocked, err)
	}
	return explainLock(err)
}

// detach lets a git outlive this process if that is killed: what is cut off in the middle of a change would leave locks
// behind. Asked to stop, git removes its locks.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // helpers such as ssh, too
	cmd.WaitDelay = stopGrace
}

// errLocked is a lock file in the way.
var errLocked = errors.New("locked by another process")

// lockInTheWay is how git says so of refs; of configuration it says less.
var lockInTheWay = lazy.Expr(`Unable to create '(.+\.lock)': File exists|cannot lock references|could not lock config file .*: File exists`)

// explainLock makes of git's error about a lock file one that says what to do.
func explainLock(err error) error {
	if err == nil {
		return nil
	}
	way := lockInTheWay.FindStringSubmatch(err.Error())
	switch {
	case way == nil:
		return err
	case way[1] == "":
		return fmt.Errorf("%w: %w", errLocked, err)
	}
	return fmt.Errorf("%w: where no other git runs, remove %s: %w", errLocked, way[1], err)
}

// retryWhileLocked does something that takes a lock file, again and again while another process holds that file.
func retryWhileLocked(ctx context.Context, do func() error) error {
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

// ConflictingRef is a ref whose name keeps another one from being made, "" when there is none: git
// keeps refs as files, so a/b and a/b/c can't both be.
func (r *Repo) ConflictingRef(name string) string {
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

// ConflictingRefAt is ConflictingRef on a remote, which is asked.
func (r *Repo) ConflictingRefAt(ctx context.Context, remote, name string, attended Attended) (string, error) {
	args := []string{name + "/*"}
	for up := path.Dir(name); strings.Count(up, "/") > 1; up = path.Dir(up) {
		args = append(args, up)
	}
	refs, err := r.RefsAt(ctx, remote, attended, args...)
	for ref := range refs {
		if strings.HasPrefix(ref, name+"/") || slices.Contains(args, ref) { // git looks at the ends of names
			return ref, nil
		}
	}
	return "", err
}

// RefsAt are a remote's refs that match some patterns, all without any, as git-ls-remote(1) finds them: from any slash
// of a name on.
func (r *Repo) RefsAt(ctx context.Context, remote string, attended Attended,
	patterns ...string,
) (map[string]OID, error) {
	out, _, err := r.network(ctx, attended, append([]string{"ls-remote", "--refs", remote}, patterns...)...)
	if err != nil {
		return nil, fmt.Errorf("git: list refs of %q: %w", remote, err)
	}
	refs := map[string]OID{}
	for line := range strings.Lines(out) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		refs[ref] = OID(id)
	}
	return refs, nil
}

// SHA256At reports whether a remote's objects have SHA-256 names; false where it has none yet.
func (r *Repo) SHA256At(ctx context.Context, remote string, attended Attended) (bool, error) {
	refs, err := r.RefsAt(ctx, remote, attended)
	for _, id := range refs {
		return len(id) == 2*sha256Format.OIDSize, nil
	}
	return false, err
}

// DeleteRef removes a ref. It is no error if the ref does not exist.
func (r *Repo) DeleteRef(ctx context.Context, name string) error {
	_, err := r.Ref(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err == nil {
		err = r.runChange(ctx, "update-ref", "--no-deref", "-d", name)
	}
	if err != nil {
		return fmt.Errorf("git: delete %s: %w", name, err)
	}
	r.removeEmptyFolders(name)
	return nil
}

// removeEmptyFolders removes the folders of the last ref of a namespace of ours, which libgit2 leaves: "refs/rekal".
// What is not empty stays.
func (r *Repo) removeEmptyFolders(name string) {
	// git tells a repository by such folders
	if strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") {
		return
	}
	for dir := path.Dir(name); strings.Contains(dir, "/"); dir = path.Dir(dir) {
		_ = os.Remove(filepath.Join(r.layout.CommonDir, dir))
		_ = os.Remove(filepath.Join(r.layout.CommonDir, "logs", dir))
	}
}
