package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/git-rekal/git-rekal/internal/model"
)

// Version is what the binary says that it is.
const Version = "v0.0.0-test"

// Binary is the folder of git-rekal, which all packages share. Hooks call it as a process, so nothing less
// than the real one will do.
func Binary(t testing.TB) string {
	t.Helper()
	look(t, "git-rekal", "internal", "templates", "go.mod", "go.sum")
	dir, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// look looks at all files of some folders, so that `go test` forgets what it knows when one changes.
func look(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(Root(t), name), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// shared builds git-rekal into .build/test where it is not there yet, or not up to date: of several
// processes that come at the same time one does, and the others find nothing left to do.
var shared = sync.OnceValues(func() (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	into := filepath.Join(dir, ".build", "test", strings.NewReplacer(",", "+", "=", "-", " ",
		"").Replace("as"+strings.Join(asThese(), "")))
	if err := os.MkdirAll(into, 0o777); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(into, "lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if err := os.Symlink(filepath.Join(dir, weights), filepath.Join(into, model.File)); err != nil &&
		!errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return into, cmp.Or(build(dir, "git-rekal", into), build(dir, "git-rekal/full", filepath.Join(into, "git-rekal-full")))
})

// weights is where the weights of the built-in model lie.
const weights = "internal/model/" + model.File

// Weights is the path of the weights of the built-in model.
func Weights(t testing.TB) string {
	t.Helper()
	return filepath.Join(Root(t), weights)
}

// Model is the built-in model.
func Model(t testing.TB) *model.Model {
	t.Helper()
	m, err := model.Open(Weights(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Build builds a program as these tests were built (their tags, and -race) into a folder, or a file there; more
// arguments go to `go build`.
func Build(t testing.TB, pkg, into string, more ...string) {
	t.Helper()
	look(t, pkg)
	if err := build(Root(t), pkg, into, more...); err != nil {
		t.Fatal(err)
	}
}

func build(root, pkg, into string, more ...string) error {
	args := append([]string{"build", "-buildvcs=false", "-ldflags=-s -w -X main.version=" + Version}, asThese()...)
	cmd := exec.Command("go", append(append(args, more...), "-o", into, "./"+pkg)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// asThese are the flags with which these tests were built.
func asThese() (flags []string) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" || s.Key == "-race" || s.Key == "-trimpath" {
				flags = append(flags, s.Key+"="+s.Value)
			}
		}
	}
	return flags
}
