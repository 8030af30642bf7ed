// Package world makes repositories with sessions in them, for the tests of what `git rekal web` shows: one as a team
// has it, and one in which whoever could write anything tried to make markup of it.
package world

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/full"
	"github.com/git-rekal/git-rekal/internal/workspace"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// World is a home with a repository in it.
type World struct {
	*harness.Place
	Dir string // the working directory
	now time.Time
}

func create(t testing.TB, name string) *World {
	t.Helper()
	w := &World{Place: harness.New(t), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	w.Dir = w.At("home/" + name)
	w.Init(w.Dir)
	w.at("2026-03-02T09:00:00Z")
	w.as("Alice Adler", "alice@example.com")
	w.Write(filepath.Join(w.Dir, "README.md"),
		"# Gateway\n\nTakes requests from browsers and asks the services behind it.\n")
	w.commit("Begin")
	w.Run("init")
	return w
}

// at moves the clock, of git, too.
func (w *World) at(stamp string) {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		w.T.Fatal(err)
	}
	w.now = t
}

// as changes who commits.
func (w *World) as(name, email string) {
	w.Git(w.Dir, "config", "user.name", name)
	w.Git(w.Dir, "config", "user.email", email)
}

func (w *World) commit(message string) {
	w.T.Helper()
	stamp := w.now.Format(time.RFC3339)
	w.Env = []string{"GIT_AUTHOR_DATE=" + stamp, "GIT_COMMITTER_DATE=" + stamp, "REKAL_SKIP=1"}
	defer func() { w.Env = nil }()
	w.Git(w.Dir, "add", "-A")
	w.Git(w.Dir, "commit", "-q", "--allow-empty", "-m", message)
}

// Process is what a process of this world is given; its clock stands.
func (w *World) Process() workspace.Process {
	return workspace.Process{
		Dir: w.Dir, Env: w.Environ(), Home: w.Home(), Exe: filepath.Join(w.Home(), "bin", "git-rekal"), Rand: rand.Reader,
		Now: func() time.Time { return w.now }, Warn: func(err error) { w.T.Log(err) },
	}
}

// Run runs a command in this process, which must succeed, and returns what it printed.
func (w *World) Run(args ...string) string {
	w.T.Helper()
	var out, errs bytes.Buffer
	app := &cli.App{
		Process: w.Process(), Version: harness.Version, Full: full.Parts(), Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &errs,
	}
	if status := cli.Main(w.T.Context(), app, args); status != 0 {
		w.T.Fatalf("%q: exit status %d\n%s", args, status, errs.String())
	}
	return out.String()
}

// Web starts `git rekal web --no-open` with some flags in this process, and returns the address that it prints. It ends
// with the test.
func (w *World) Web(flags ...string) string {
	w.T.Helper()
	ctx, end := context.WithCancel(context.Background())
	said, out := io.Pipe()
	app := &cli.App{
		Process: w.Process(), Version: harness.Version, Full: full.Parts(), Stdin: strings.NewReader(""),
		Stdout: out, Stderr: w.T.Output(),
	}
	status := make(chan int, 1)
	go func() { status <- cli.Main(ctx, app, append([]string{"web", "--no-open"}, flags...)) }()
	w.T.Cleanup(func() {
		end()
		if s := <-status; s != 0 {
			w.T.Errorf("web: exit status %d", s)
		}
	})
	var address string
	if _, err := fmt.Fscanln(said, &address); err != nil {
		w.T.Fatalf("web printed no address: %v", err)
	}
	return address
}

// work is one session of somebody, and the commit behind it.
type work struct {
	id, at, name, email, branch, message string
	said                                 []harness.Said
	files                                map[string]string
}

func (w *World) do(k work) {
	w.T.Helper()
	w.at(k.at)
	w.as(k.name, k.email)
	w.Talk(w.Dir, k.id, k.branch, w.now.Add(-time.Duration(len(k.said)+1)*time.Minute), k.said...)
	for _, path := range slices.Sorted(maps.Keys(k.files)) {
		w.Write(filepath.Join(w.Dir, path), k.files[path])
	}
	w.now = w.now.Add(time.Minute)
	w.commit(k.message)
	w.Run("hook", "post-commit")
}
