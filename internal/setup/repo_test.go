package setup_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// repo is a real repository in a folder of its own. Root holds the worktree, a home, and all else that a
// test makes.
type repo struct {
	*harness.Place
	tree string // worktree, or the git directory of a bare repository
}

// newRepo makes an empty repository in the named folder; args go to `git init`.
func newRepo(t *testing.T, folder string, args ...string) *repo {
	t.Helper()
	r := &repo{Place: harness.New(t)}
	r.tree = filepath.Join(r.Root, folder)
	r.Env = []string{"LOG=" + filepath.Join(r.Root, "log")}
	for _, dir := range []string{"bin", "log"} {
		r.mkdir(filepath.Join(r.Root, dir))
	}
	r.inDir(r.Root, append(append([]string{"init", "-q"}, args...), r.tree)...)
	return r
}

// exec runs a program in a folder and returns its output, both streams, and exit status.
func (r *repo) exec(dir, stdin, name string, args ...string) (string, int) {
	r.T.Helper()
	c := exec.CommandContext(r.T.Context(), name, args...)
	c.Dir, c.Env, c.Stdin = dir, r.Environ(), strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.T.Fatalf("%s %q: %v", name, args, err)
	}
	return string(out), c.ProcessState.ExitCode()
}

func (r *repo) inDir(dir string, args ...string) string {
	r.T.Helper()
	out, code := r.exec(dir, "", "git", args...)
	if code != 0 {
		r.T.Fatalf("git %q: exit %d\n%s", args, code, out)
	}
	return strings.TrimSpace(out)
}

func (r *repo) git(args ...string) string { r.T.Helper(); return r.inDir(r.tree, args...) }

// at is a path below the worktree.
func (r *repo) at(path string) string { return filepath.Join(r.tree, filepath.FromSlash(path)) }

func (r *repo) mkdir(path string) {
	r.T.Helper()
	if err := os.MkdirAll(path, 0o777); err != nil {
		r.T.Fatal(err)
	}
}

// write makes a file, and its folder, with exactly this mode.
func (r *repo) write(path, text string, mode fs.FileMode) {
	r.T.Helper()
	r.mkdir(filepath.Dir(path))
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		r.T.Fatal(err)
	}
}

func (r *repo) link(target, path string) {
	r.T.Helper()
	r.mkdir(filepath.Dir(path))
	if err := os.Symlink(target, path); err != nil {
		r.T.Fatal(err)
	}
}

func (r *repo) remove(path string) {
	r.T.Helper()
	if err := os.RemoveAll(path); err != nil {
		r.T.Fatal(err)
	}
}

func (r *repo) rename(from, to string) {
	r.T.Helper()
	if err := os.Rename(from, to); err != nil {
		r.T.Fatal(err)
	}
}

// read is a file's content; "" when there is none.
func (r *repo) read(path string) string {
	r.T.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.T.Fatal(err)
	}
	return string(text)
}

// layout asks git for the paths, from the worktree at dir.
func (r *repo) layoutAt(dir string) setup.Layout {
	r.T.Helper()
	ask := func(args ...string) string {
		return r.inDir(dir, append([]string{"rev-parse", "--path-format=absolute"}, args...)...)
	}
	l := setup.Layout{
		GitDir: ask("--git-dir"), CommonDir: ask("--git-common-dir"),
		HooksDir: ask("--git-path", "hooks"), Exclude: ask("--git-path", "info/exclude"),
		Binary: filepath.Join(r.Root, "nowhere", "git-rekal"),
	}
	l.RekalDir = filepath.Join(l.CommonDir, "rekal")
	if ask("--is-bare-repository") == "false" {
		l.WorkTree = ask("--show-toplevel")
	}
	if out, code := r.exec(dir, "", "git", "config", "--show-scope", "core.hooksPath"); code == 0 {
		l.HooksPathScope, _, _ = strings.Cut(out, "\t")
	}
	return l
}

func (r *repo) layout() setup.Layout { r.T.Helper(); return r.layoutAt(r.tree) }

func install(t *testing.T, l setup.Layout) setup.Report {
	t.Helper()
	rep, err := setup.Install(l)
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	return rep
}

func remove(t *testing.T, l setup.Layout) setup.Report {
	t.Helper()
	rep, err := setup.Remove(l)
	if err != nil {
		t.Fatalf("Remove: %v", err)
	}
	return rep
}

// snapshot is every path below the root with its mode and content or target.
func (r *repo) snapshot() map[string]string {
	r.T.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(r.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			text, err = os.Readlink(path)
		case info.Mode().IsRegular():
			text = r.read(path)
		}
		rel, _ := filepath.Rel(r.Root, path)
		files[rel] = info.Mode().String() + " " + text
		return err
	})
	if err != nil {
		r.T.Fatal(err)
	}
	return files
}

// contains checks that each part is in the joined lines, in that order.
func contains(t *testing.T, lines []string, parts ...string) {
	t.Helper()
	rest := strings.Join(lines, "\n")
	for _, p := range parts {
		_, after, found := strings.Cut(rest, p)
		if !found {
			t.Errorf("no %q in:\n%s", p, strings.Join(lines, "\n"))
			return
		}
		rest = after
	}
}
