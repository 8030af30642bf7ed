package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
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
	conf, err := w.Settings()
	if err != nil {
		return setup.Layout{}, err
	}
	var runs func(string) bool
	if git.SupportsConfiguredHooks(ctx, w.Env) {
		runs = func(event string) bool {
			names, err := w.Repo.HooksRunAt(ctx, event)
			return err == nil && slices.Contains(names, setup.ConfigName(event))
		}
	}
	l := w.Repo.Layout()
	return setup.Layout{
		WorkTree: l.WorkTree, GitDir: l.GitDir, CommonDir: l.CommonDir, HooksDir: hooks.Dir, HooksPathScope: hooks.Scope,
		HooksOff: hooks.Off, Runs: runs,
		Trailers: conf.Trailers != "",
		LFS:      len(conf.Git["filter.lfs.process"])+len(conf.Git["filter.lfs.clean"]) > 0,
		Exclude:  w.excludeFile(), RekalDir: w.RekalDir(), Binary: w.Exe,
		Tracked: func(path string) bool {
			tracked, err := worktree.IsTracked(ctx, w.Repo, path) // an error: the worktree is gone
			return err == nil && tracked || ctx.Err() != nil
		},
	}, nil
}

// AgentsAt are the names of the agents that have sessions of some folders, which need not be there any more. What can't
// be looked at is not there.
func (w *Workspace) AgentsAt(ctx context.Context, roots []string) (names []string) {
	for _, agent := range transcript.Agents() {
		found, err := agent.Locate(ctx, transcript.Env{
			Home: w.Home, Getenv: w.Getenv, Roots: roots,
			Search: transcript.SearchBudget,
		})
		if err == nil && len(found.Files) > 0 {
			names = append(names, agent.Name())
		}
	}
	return names
}

// LocalSession is a session whose transcript still lies in its agent's folder on this machine.
type LocalSession struct {
	w      *Workspace
	source string
	file   transcript.File
}

// LocalSessions are the sessions of this repository that an agent still has on this machine, by the agent's own IDs.
func (w *Workspace) LocalSessions(ctx context.Context, source string) (map[string]LocalSession, error) {
	roots := w.Repo.Worktrees()
	files, err := transcript.FilesOnDisk(ctx, source,
		transcript.Env{Home: w.Home, Getenv: w.Getenv, Roots: roots, Search: transcript.SearchBudget})
	out := map[string]LocalSession{}
	for id, f := range files {
		out[id] = LocalSession{w, source, f}
	}
	return out, err
}

// Dir is where the agent worked when the session began; "" where the transcript does not say so.
func (h LocalSession) Dir(ctx context.Context) (string, error) {
	return transcript.StartFolder(ctx, h.source, h.file, h.w.Repo.Worktrees())
}

// Install sets the repository up, while no other process does so or undoes it, and lists it among those of this
// machine.
func (w *Workspace) Install(ctx context.Context, l setup.Layout) (report setup.Report, err error) {
	err = w.withSetupLock(ctx, func() error {
		if err := w.adoptFormerDirs(ctx); err != nil {
			return err
		}
		report, err = setup.Install(l)
		return err
	})
	if what := w.lostHooks(); what != "" {
		_ = w.noteLostHooks(ctx, what) // else it is said once more
	}
	if err == nil {
		if !l.ByMachine { // somebody asked for it, whatever a clean left
			_, err = w.Machine().SetCleaned(ctx, w.Repo.Layout().CommonDir, false)
		}
		if unlisted := w.Machine().Add(ctx, w.Root()); unlisted != nil { // it works without
			report.Hints = append(report.Hints, fmt.Sprintf("this repository is not among those of --all: %v", unlisted))
		}
	}
	return report, err
}

// SetUpUnasked sets up a repository where the user wants that for all, and has not excluded this one; else it returns
// ErrNotInitialised.
func (w *Workspace) SetUpUnasked(ctx context.Context) error {
	exclusions, on, err := w.Machine().Global()
	if err != nil || !on || w.Repo.Layout().WorkTree == "" {
		return cmp.Or(err, ErrNotInitialised)
	}
	conf, err := w.Settings()
	if err != nil || exclusions.Excludes(w.Root(), w.Repo.Layout().CommonDir, conf.RemoteURLs()) {
		return cmp.Or(err, ErrNotInitialised)
	}
	l, err := w.Layout(ctx)
	if err != nil {
		return err
	}
	l.ByMachine = true
	_, err = w.Install(ctx, l)
	return err
}

// NoteHookRan notes which process of git has run a configured hook, so that a hook of the same event that is a file
// does nothing; see package hooks.
func (w *Workspace) NoteHookRan(by, event string) {
	// else it looks again, and finds nothing new
	_ = os.WriteFile(filepath.Join(w.RekalDir(), "ran"), []byte(by+" "+event+"\n"), 0o600)
}

// Machine is the list of the repositories that are set up for this user.
func (p Process) Machine() machine.Machine { return machine.ForUser(p.Home, p.Getenv) }

// Root is the repository's one place, whichever worktree the user is in: the root of the main one, or the git directory
// where that is bare.
func (w *Workspace) Root() string { return cmp.Or(w.Repo.Layout().MainTree, w.Repo.Layout().CommonDir) }

// Uninstall removes what Install made, while no other process does so, and none reads or
// writes the caches. A skill that git tracks belongs to the repository, and stays.
func (w *Workspace) Uninstall(ctx context.Context, l setup.Layout) (report setup.Report, err error) {
	err = w.withSetupLock(ctx, func() error {
		if err := w.adoptFormerDirs(ctx); err != nil {
			return err
		}
		free, err := w.lockCaches(ctx)
		if err != nil {
			return err
		}
		report, err = setup.Remove(l)
		return errors.Join(err, free())
	})
	if err == nil {
		err = w.Machine().Remove(ctx, w.Root())
	}
	return report, err
}

// withSetupLock runs a change of the installation under its lock, a file outside of the folder that
// clean removes. It is removed afterwards; one that a killed process left is taken over.
func (w *Workspace) withSetupLock(ctx context.Context, do func() error) error {
	held, err := lock.Acquire(ctx, filepath.Join(w.Repo.Layout().CommonDir, "rekal-setup.lock"), lock.ToWrite, setupWait)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return errors.Join(do(), held.Remove())
}

// lockCaches takes the locks of all caches, also of those without private sessions, in the order
// in which materialize takes them; free releases them. Without caches there is nothing to lock.
func (w *Workspace) lockCaches(ctx context.Context) (free func() error, err error) {
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
	for _, dir := range []string{w.RekalDir(), filepath.Join(w.RekalDir(), "public")} {
		for _, name := range []string{"lock.writer", "lock.tables"} {
			l, err := lock.Acquire(ctx, filepath.Join(dir, name), lock.ToWrite, cacheWait)
			switch {
			case err == nil:
				held = append(held, l)
			case errors.Is(err, fs.ErrPermission): // in a folder that we can't write to, nobody of this user writes
			case errors.Is(err, fs.ErrNotExist) && dir != w.RekalDir(): // there is mostly none
			default:
				return nil, errors.Join(fmt.Errorf("workspace: %w", err), free())
			}
		}
	}
	return free, nil
}

// ensureRekalDir makes the folder of the caches if somebody deleted it, or an older version had another, but not while
// a clean runs.
func (w *Workspace) ensureRekalDir(ctx context.Context) error {
	former := slices.ContainsFunc(w.formerDirs(), exists)
	if exists(w.RekalDir()) && !former {
		return nil
	}
	return w.withSetupLock(ctx, func() error {
		if err := w.CheckReady(); err != nil {
			return err
		}
		if err := os.Mkdir(w.RekalDir(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("workspace: %w", err)
		}
		return w.adoptFormerDirs(ctx)
	})
}

// formerDirs are where versions before 0.2 kept their caches, if they are this repository's own: .rekal in the git
// directory and, as long as the lines of those versions keep it out of git, .rekal in the main worktree. Any other
// .rekal there came with a commit, and is not looked at.
func (w *Workspace) formerDirs() []string {
	l := w.Repo.Layout()
	dirs := []string{filepath.Join(l.CommonDir, ".rekal")}
	if l.MainTree != "" && setup.ExcludesFormerDir(w.excludeFile()) {
		dirs = append(dirs, filepath.Join(l.MainTree, ".rekal"))
	}
	return dirs
}

// adoptFormerDirs moves what an older version left to its place today. What git tracks there is nobody's cache, and
// stays.
func (w *Workspace) adoptFormerDirs(ctx context.Context) error {
	for _, dir := range w.formerDirs() {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		if w.Repo.Layout().MainTree != "" {
			if tracked, err := worktree.IsTracked(ctx, w.Repo, dir); err != nil || tracked {
				continue
			}
		}
		if err := setup.AdoptFormerDir(dir, w.RekalDir()); err != nil {
			return fmt.Errorf("workspace: move the caches out of %s: %w", dir, err)
		}
	}
	return setup.DropFormerExclude(w.excludeFile())
}
