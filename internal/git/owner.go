package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// OwnerError is a repository that git does not trust, because it belongs to another user.
type OwnerError struct {
	Dir    string
	Advice string // the command by which a user may trust it, in git's words
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("git: open %q: the repository belongs to another user", e.Dir)
}

// Hint says what to do.
func (e *OwnerError) Hint() string { return fmt.Sprintf("if you trust it, run %q", e.Advice) }

// checkOwner leaves it to git whether a repository of another user may be used: git knows safe.directory in all its
// forms, sudo, and when not to ask. It also knows safe.bareRepository. It is asked only where the owner is another one,
// or a bare repository was found and not named. Until then nothing but configuration was read, and nothing of it was
// run.
func (r *Repo) checkOwner() error {
	mine := true
	for _, path := range []string{r.layout.GitDir, r.layout.WorkTree, filepath.Join(r.layout.WorkTree, ".git")} {
		mine = mine && isOwn(path)
	}
	if mine && !r.IsFoundBare() {
		return nil
	}
	_, err := r.Run(r.ctx, "rev-parse", "--git-dir")
	var refused *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refused):
		return fmt.Errorf("git: ask whether the repository may be used: %w", err)
	}
	advice := trustAdvice.FindString(strings.TrimSuffix(err.Error(), ": "+refused.Error()))
	if advice == "" {
		return fmt.Errorf("git: open %q: %w", r.dir, err)
	}
	return &OwnerError{Dir: r.dir, Advice: advice}
}

// IsFoundBare reports whether the repository was found by a folder in it that is no worktree of it: nobody named it,
// and no .git leads there. A clone may carry such a one as plain files, whose configuration somebody else wrote,
// whatever that says of a worktree (safe.bareRepository in git-config(1)).
func (r *Repo) IsFoundBare() bool {
	if r.Variable("GIT_DIR") != "" || filepath.Base(r.layout.CommonDir) == ".git" {
		return false
	}
	here, err := os.Stat(r.layout.GitDir)
	for dir := r.dir; err == nil; dir = filepath.Dir(dir) {
		if at, err := os.Stat(dir); err == nil && os.SameFile(at, here) {
			return true
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return false
}

// TrustIf makes the programs that the repository's own configuration names depend on a condition, which is asked when
// git is first started for it.
func (r *Repo) TrustIf(trusted func() bool) { r.trusts = trusted }

// IsTrusted reports whether programs may start that the repository's own configuration names.
func (r *Repo) IsTrusted() bool { return r.trusts == nil || r.trusts() }

// withoutPrograms are options with which git starts no hook, and no file monitor that the repository's own
// configuration names.
func (r *Repo) withoutPrograms() []string {
	if r.IsTrusted() {
		return nil
	}
	return []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}
}

// asConfigured is the repository to ask for settings, which starts no program.
func (r *Repo) asConfigured() *Repo {
	out := *r
	out.trusts = nil
	return &out
}

// trustAdvice is what git advises.
var trustAdvice = lazy.Expr(`(?s)git config --global --add safe\.directory .*`)

// isOwn reports whether a path belongs to the process's user; what is not there does.
func isOwn(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
