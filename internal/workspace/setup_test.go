package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// installed is a workspace that is set up, with its ledger.
func installed(t *testing.T) (*place, *workspace.Workspace) {
	t.Helper()
	p := newPlace(t)
	w := p.open("repo")
	layout, err := w.Layout(t.Context())
	if err == nil {
		_, err = p.author(w).Ledger.Create(t.Context())
	}
	if err == nil {
		_, err = w.Install(t.Context(), layout)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, w
}

// The lock of an init that was killed is no obstacle, and gone afterwards.
func TestInstallLeavesNoLock(t *testing.T) {
	p, w := installed(t)
	path := filepath.Join(p.home, "repo", ".git", "rekal-setup.lock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	layout, err := w.Layout(t.Context())
	if err == nil {
		_, err = w.Uninstall(t.Context(), layout)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock is left: %v", err)
	}
}

// Caches that somebody writes are not taken away.
func TestUninstallWaits(t *testing.T) {
	for _, name := range []string{"lock.writer", "lock.tables", "public/lock.writer"} {
		t.Run(name, func(t *testing.T) {
			_, w := installed(t)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(w.RekalDir(), name)), 0o700); err != nil {
				t.Fatal(err)
			}
			held, err := lock.Acquire(t.Context(), filepath.Join(w.RekalDir(), name), lock.ToWrite, 0)
			if err != nil {
				t.Fatal(err)
			}
			layout, err := w.Layout(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			within, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := w.Uninstall(within, layout); !errors.Is(err, context.DeadlineExceeded) { // wherever it has come to
				t.Errorf("while it is held: %v", err)
			}
			if err := w.CheckReady(); err != nil {
				t.Errorf("it began nevertheless: %v", err)
			}
			if err := held.Release(); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Uninstall(t.Context(), layout); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(w.RekalDir()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the caches are left: %v", err)
			}
		})
	}
}

// A hook that began before a clean does not bring the caches back after it.
func TestCapturerAfterClean(t *testing.T) {
	p, w := installed(t)
	a := p.author(w)
	layout, err := w.Layout(t.Context())
	if err == nil {
		_, err = w.Uninstall(t.Context(), layout)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Capturer(t.Context(), a); !errors.Is(err, workspace.ErrNotInitialised) {
		t.Errorf("Capturer: %v", err)
	}
	if _, err := os.Stat(w.RekalDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the caches are back: %v", err)
	}
}

func TestScrubsTakeTurns(t *testing.T) {
	p, w := installed(t)
	release, err := curate.BeforeScrub(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	within, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := curate.BeforeScrub(within, w); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beside another one: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if release, err = curate.BeforeScrub(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(p.home, "repo", ".git", "*.lock")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A command beside a clean finds no caches, and says why.
func TestGone(t *testing.T) {
	_, w := installed(t)
	missing, other := fmt.Errorf("open it: %w", fs.ErrNotExist), errors.New("something else")
	if err := w.AsNotInitialised(missing); err != missing { //nolint:errorlint // the very same
		t.Errorf("where it is set up: %v", err)
	}
	layout, err := w.Layout(t.Context())
	if err == nil {
		_, err = w.Uninstall(t.Context(), layout)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AsNotInitialised(missing); !errors.Is(err, workspace.ErrNotInitialised) {
		t.Errorf("behind a clean: %v", err)
	}
	if err := w.AsNotInitialised(other); err != other { //nolint:errorlint // the very same
		t.Errorf("another error: %v", err)
	}
	if err := w.AsNotInitialised(nil); err != nil {
		t.Errorf("no error: %v", err)
	}
}
