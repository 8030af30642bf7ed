package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/machine"
	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// setupWait is how long an init or clean waits for another one: each takes milliseconds.
const setupWait = 10 * time.Second

// cacheWait is how long clean waits for those who use the caches.
const cacheWait = 5 * time.Second

// Layout says where setup installs things.
func (w *Workspace) Layout(ctx context.Context) (setup.Layout, error) {
	hooks, err := w.Repo.Hooks(ctx)
	if err != nil {
		return setup.Layout{}, err
	}
	l := w.Repo.Layout()
	return setup.Layout{
		WorkTree: l.WorkTree, GitDir: l.GitDir, CommonDir: l.CommonDir, HooksDir: hooks.Dir, HooksPathScope: hooks.Scope, HooksOff: hooks.Off,
		Exclude: w.exclude(), RekalDir: w.RekalDir(), Binary: w.Exe,
	}, nil
}

// AgentsAt are the names of the agents that have sessions of some folders, which need not be there any more. What can't be looked at is
// not there.
func (w *Workspace) AgentsAt(ctx context.Context, roots []string) (names []string) {
	for _, agent := range transcript.Agents() {
		found, err := agent.Locate(ctx, transcript.Env{Home: w.Home, Getenv: w.Getenv, Roots: roots})
		if err == nil && len(found.Files) > 0 {
			names = append(names, agent.Name())
		}
	}
	return names
}

// Held is a session whose transcript its agent still has on this machine.
type Held struct {
	w      *Workspace
	source string
	file   transcript.File
}

// searched bounds how many bytes of other folders' transcripts are searched for sessions of this repository.
const searched = 64 << 20

// Held are the sessions that an agent still has here, by the IDs that it gave them.
func (w *Workspace) Held(ctx context.Context, source string) (map[string]Held, error) {
	roots, err := w.Repo.Worktrees()
	if err != nil {
		return nil, err
	}
	files, err := transcript.Held(ctx, source, transcript.Env{Home: w.Home, Getenv: w.Getenv, Roots: roots, Search: searched})
	out := map[string]Held{}
	for id, f := range files {
		out[id] = Held{w, source, f}
	}
	return out, err
}

// Dir is where the agent worked when the session began; "" where the transcript does not say so.
func (h Held) Dir(ctx context.Context) (string, error) {
	roots, err := h.w.Repo.Worktrees()
	if err != nil {
		return "", err
	}
	return transcript.Folder(ctx, h.source, h.file, roots)
}

// Install sets the repository up, while no other process does so or undoes it, and lists it among those of this machine.
func (w *Workspace) Install(ctx context.Context, l setup.Layout) (report setup.Report, err error) {
	err = w.alone(ctx, func() error {
		report, err = setup.Install(l)
		return errors.Join(err, w.leaveOther(ctx))
	})
	if err == nil {
		if unlisted := w.Machine().Add(ctx, w.Root()); unlisted != nil { // it works without
			report.Hints = append(report.Hints, fmt.Sprintf("this repository is not among those of --all: %v", unlisted))
		}
	}
	return report, err
}

// Finish sets up what a template could not; see setup.InstallTemplate. Anywhere else it does nothing.
func (w *Workspace) Finish(ctx context.Context) error {
	if !setup.Unfinished(w.Repo.Layout().CommonDir) {
		return nil
	}
	l, err := w.Layout(ctx)
	if err != nil {
		return err
	}
	_, err = w.Install(ctx, l)
	return err
}

// Machine keeps which repositories are set up for this user.
func (p Process) Machine() machine.Machine { return machine.Of(p.Home, p.Getenv) }

// Root is the repository's one place, whichever worktree the user is in: the root of the main one, or the git directory where that is bare.
func (w *Workspace) Root() string { return cmp.Or(w.Repo.Layout().MainTree, w.Repo.Layout().CommonDir) }

// Uninstall takes out what Install made, while no other process does so, and none reads or
// writes the caches. A .rekal that git tracks is the repository's, and stays; so does a skill.
func (w *Workspace) Uninstall(ctx context.Context, l setup.Layout) (report setup.Report, err error) {
	if l.Foreign, err = w.tracks(ctx, l.RekalDir); err != nil {
		return report, err
	}
	l.Tracked = func(path string) bool {
		in, err := worktree.Tracked(ctx, w.Repo, path) // where there is no worktree any more, nothing is
		return err == nil && in || ctx.Err() != nil
	}
	err = w.alone(ctx, func() error {
		if l.Foreign {
			report, err = setup.Remove(l)
			return err
		}
		free, err := w.holdCaches(ctx)
		if err != nil {
			return err
		}
		report, err = setup.Remove(l)
		return errors.Join(err, w.leaveOther(ctx), free())
	})
	if err == nil {
		err = w.Machine().Remove(ctx, w.Root())
	}
	if w.displaced {
		report.Hints = append(report.Hints, rekalDir+" stays, because git tracks files there that are not git-rekal's")
	}
	return report, err
}

// tracks reports whether the commit that is checked out, or the index, holds something in a folder.
func (w *Workspace) tracks(ctx context.Context, dir string) (bool, error) {
	if w.Repo.Layout().MainTree == "" || w.displaced {
		return false, nil
	}
	return worktree.Tracked(ctx, w.Repo, dir)
}

// alone runs what changes the installation under a lock of its own, outside of what it
// changes. The file is gone afterwards; one that a killed process left is taken over.
func (w *Workspace) alone(ctx context.Context, do func() error) error {
	held, err := lock.Acquire(ctx, filepath.Join(w.Repo.Layout().CommonDir, "rekal-setup.lock"), lock.ToWrite, setupWait)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return errors.Join(do(), held.Remove())
}

// holdCaches keeps everybody else from the caches, today's and those of past moments, in the order
// in which materialize takes its locks. Where there are no caches there is nothing to hold.
func (w *Workspace) holdCaches(ctx context.Context) (free func() error, err error) {
	var held []*lock.Lock
	free = func() error {
		var errs []error
		for _, l := range held {
			errs = append(errs, l.Release())
		}
		return errors.Join(errs...)
	}
	if !exists(w.RekalDir()) {
		return free, nil
	}
	dirs := []string{w.RekalDir()}
	past, _ := os.ReadDir(filepath.Join(w.RekalDir(), "at")) // what can't be listed can't be held
	for _, e := range past {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(w.RekalDir(), "at", e.Name()))
		}
	}
	for _, dir := range dirs {
		for _, name := range []string{"lock.writer", "lock.tables"} {
			l, err := lock.Acquire(ctx, filepath.Join(dir, name), lock.ToWrite, cacheWait)
			switch {
			case err == nil:
				held = append(held, l)
			case errors.Is(err, fs.ErrPermission): // where we can't write, nobody writes
			case errors.Is(err, fs.ErrNotExist) && dir != w.RekalDir(): // somebody let it go just now
			default:
				return nil, errors.Join(fmt.Errorf("workspace: %w", err), free())
			}
		}
	}
	return free, nil
}

// folder makes the folder of the caches where somebody deleted it, but not behind the back of
// a clean that runs at the same time.
func (w *Workspace) folder(ctx context.Context) error {
	if exists(w.RekalDir()) && (w.displaced || w.Repo.Layout().MainTree == "" || !exists(w.otherDir())) {
		return nil
	}
	if setup.Unfinished(w.Repo.Layout().CommonDir) {
		return w.Finish(ctx)
	}
	return w.alone(ctx, func() error {
		if err := w.Ready(); err != nil {
			return err
		}
		if err := os.Mkdir(w.RekalDir(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("workspace: %w", err)
		}
		if w.displaced {
			w.Warn(w.Displaced())
		}
		return w.leaveOther(ctx)
	})
}

// otherDir is where the caches do not lie now, and may have lain before a commit with a .rekal was checked out, or went.
func (w *Workspace) otherDir() string {
	l := w.Repo.Layout()
	if w.displaced {
		return filepath.Join(l.MainTree, rekalDir)
	}
	return filepath.Join(l.CommonDir, rekalDir)
}

// leaveOther removes the caches from there: nobody would take out of them what a scrub takes out. What git tracks stays.
func (w *Workspace) leaveOther(ctx context.Context) error {
	dir := w.otherDir()
	if info, err := os.Lstat(dir); w.Repo.Layout().MainTree == "" || err != nil || !info.IsDir() {
		return nil //nolint:nilerr // what can't be looked at is not there
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !setup.OurCache(e.Name()) {
			continue
		}
		if w.displaced {
			if tracked, unknown := worktree.Tracked(ctx, w.Repo, path); tracked || unknown != nil {
				err = errors.Join(err, unknown)
				continue
			}
		}
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return fmt.Errorf("workspace: leave %s: %w", dir, err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("workspace: leave %s: %w", dir, err)
	}
	return nil
}
