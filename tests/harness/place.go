package harness

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Place is a folder of the test's own, with a home in it and nothing of the machine's git configuration.
type Place struct {
	T    testing.TB
	Root string   // without links in it
	Env  []string // added to the environment; the last value of a variable counts
}

// Settings are what git's configuration in the home says.
const Settings = `[user]
	name = A U Thor
	email = a@example.com
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
[advice]
	detachedHead = false
`

// New makes a place, with Settings in home/.gitconfig.
func New(t testing.TB) *Place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &Place{T: t, Root: dir}
	p.Write("home/.gitconfig", Settings)
	return p
}

// At is a path below the root; an absolute one stays as it is.
func (p *Place) At(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Root, filepath.FromSlash(path))
}

// Home is the home folder.
func (p *Place) Home() string { return p.At("home") }

// Environ is all that the programs get of the environment. With GIT_DEFAULT_HASH=sha256 in that of the tests,
// repositories have such names.
func (p *Place) Environ() []string {
	return append([]string{
		"GIT_DEFAULT_HASH=" + cmp.Or(os.Getenv("GIT_DEFAULT_HASH"), "sha1"),
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.Home(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"REKAL_EMBED=off", "TZ=UTC", "LC_ALL=C.UTF-8",
	}, p.Env...)
}

// Write makes a file, and its folders.
func (p *Place) Write(path, text string) {
	p.T.Helper()
	full := p.At(path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, []byte(text), 0o666)); err != nil {
		p.T.Fatal(err)
	}
}

// Try runs git in a folder below the root, and returns both its streams, without newlines at the end.
func (p *Place) Try(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(p.T.Context(), "git", args...)
	cmd.Dir, cmd.Env = p.At(dir), p.Environ()
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

// Git is Try for what must succeed.
func (p *Place) Git(dir string, args ...string) string {
	p.T.Helper()
	out, err := p.Try(dir, args...)
	if err != nil {
		p.T.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return out
}

// Init makes an empty repository on the branch main, as `git init ARGS DIR` does.
func (p *Place) Init(dir string, args ...string) {
	p.T.Helper()
	if len(args) > 0 {
		p.Git(".", append(append([]string{"init", "-q"}, args...), p.At(dir))...)
		return
	}
	template, err := empty()
	if err != nil {
		p.T.Fatal(err)
	}
	for path, text := range template {
		full := filepath.Join(p.At(dir), ".git", path)
		if text == nil {
			err = os.MkdirAll(full, 0o777)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, text, 0o666))
		}
		if err != nil {
			p.T.Fatal(err)
		}
	}
}

// empty is what git makes of an empty repository, without the samples of hooks: contents by path, nil for
// folders. A process asks git once.
var empty = sync.OnceValues(func() (out map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "rekal-template")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cmd := exec.Command("git", "init", "-q", "-b", "main", dir)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_DEFAULT_HASH=" + cmp.Or(os.Getenv("GIT_DEFAULT_HASH"), "sha1"),
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(err, errors.New(string(out)))
	}
	out = map[string][]byte{}
	git := filepath.Join(dir, ".git")
	err = filepath.WalkDir(git, func(path string, d os.DirEntry, err error) error {
		rel, err2 := filepath.Rel(git, path)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		switch {
		case strings.HasSuffix(path, ".sample"):
		case d.IsDir():
			out[rel] = nil
		default:
			out[rel], err = os.ReadFile(path)
		}
		return err
	})
	return out, err
})

// Commit writes files (path, text, path, text…) into a worktree, commits all that is there, and returns the
// commit's OID.
func (p *Place) Commit(dir, message string, files ...string) string {
	p.T.Helper()
	for i := 0; i < len(files); i += 2 {
		p.Write(filepath.Join(p.At(dir), files[i]), files[i+1])
	}
	p.Git(dir, "add", "-A")
	p.Git(dir, "commit", "-q", "--allow-empty", "-m", message)
	return p.Git(dir, "rev-parse", "HEAD")
}

// With is the place with more in the environment.
func (p *Place) With(env ...string) *Place {
	return &Place{T: p.T, Root: p.Root, Env: slices.Concat(p.Env, env)}
}
