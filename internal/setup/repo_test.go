package setup_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/setup"
)

// repo is a real repository in a folder of its own, with nothing of the machine's git
// configuration. root holds the worktree, a home, and all else that a test makes.
type repo struct {
	t    *testing.T
	root string
	tree string // worktree, or the git directory of a bare repository
	path string // PATH of what runs here
	env  []string
}

// newRepo makes an empty repository in the named folder; args go to `git init`.
func newRepo(t *testing.T, folder string, args ...string) *repo {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{t: t, root: root, tree: filepath.Join(root, folder), path: os.Getenv("PATH")}
	for _, dir := range []string{"home", "bin", "log"} {
		r.mkdir(filepath.Join(root, dir))
	}
	r.inDir(root, append(append([]string{"init", "-q", "-b", "main"}, args...), r.tree)...)
	return r
}

func (r *repo) environ() []string {
	return append([]string{
		"PATH=" + r.path, "HOME=" + filepath.Join(r.root, "home"), "LOG=" + filepath.Join(r.root, "log"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	}, r.env...)
}

// exec runs a program in a folder and returns its output, both streams, and exit status.
func (r *repo) exec(dir, stdin, name string, args ...string) (string, int) {
	r.t.Helper()
	c := exec.CommandContext(r.t.Context(), name, args...)
	c.Dir, c.Env, c.Stdin = dir, r.environ(), strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatalf("%s %q: %v", name, args, err)
	}
	return string(out), c.ProcessState.ExitCode()
}

func (r *repo) inDir(dir string, args ...string) string {
	r.t.Helper()
	out, code := r.exec(dir, "", "git", args...)
	if code != 0 {
		r.t.Fatalf("git %q: exit %d\n%s", args, code, out)
	}
	return strings.TrimSpace(out)
}

func (r *repo) git(args ...string) string { r.t.Helper(); return r.inDir(r.tree, args...) }

// at is a path below the worktree.
func (r *repo) at(path string) string { return filepath.Join(r.tree, filepath.FromSlash(path)) }

func (r *repo) mkdir(path string) {
	r.t.Helper()
	if err := os.MkdirAll(path, 0o777); err != nil {
		r.t.Fatal(err)
	}
}

// write makes a file, and its folder, with exactly this mode.
func (r *repo) write(path, text string, mode fs.FileMode) {
	r.t.Helper()
	r.mkdir(filepath.Dir(path))
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) link(target, path string) {
	r.t.Helper()
	r.mkdir(filepath.Dir(path))
	if err := os.Symlink(target, path); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) remove(path string) {
	r.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) rename(from, to string) {
	r.t.Helper()
	if err := os.Rename(from, to); err != nil {
		r.t.Fatal(err)
	}
}

// read is a file's content; "" when there is none.
func (r *repo) read(path string) string {
	r.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(text)
}

// layout asks git for the paths, from the worktree at dir.
func (r *repo) layoutAt(dir string) setup.Layout {
	r.t.Helper()
	ask := func(args ...string) string {
		return r.inDir(dir, append([]string{"rev-parse", "--path-format=absolute"}, args...)...)
	}
	l := setup.Layout{
		GitDir: ask("--git-dir"), CommonDir: ask("--git-common-dir"),
		HooksDir: ask("--git-path", "hooks"), Exclude: ask("--git-path", "info/exclude"),
		Binary: filepath.Join(r.root, "nowhere", "git-rekal"),
	}
	l.RekalDir = filepath.Join(l.CommonDir, ".rekal")
	if ask("--is-bare-repository") == "false" {
		l.WorkTree = ask("--show-toplevel")
		if filepath.Base(l.CommonDir) == ".git" {
			l.RekalDir = filepath.Join(filepath.Dir(l.CommonDir), ".rekal")
		}
	}
	if out, code := r.exec(dir, "", "git", "config", "--show-scope", "core.hooksPath"); code == 0 {
		l.HooksPathScope, _, _ = strings.Cut(out, "\t")
	}
	return l
}

func (r *repo) layout() setup.Layout { r.t.Helper(); return r.layoutAt(r.tree) }

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
	r.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
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
		rel, _ := filepath.Rel(r.root, path)
		files[rel] = info.Mode().String() + " " + text
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return files
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
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
