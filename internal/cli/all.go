package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/machine"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// runInEach runs a command in one repository after the other, and prints a line for each, under one progress bar. A
// failure in one repository is a line on stderr, and does not stop the others.
func (app *App) runInEach(ctx context.Context, doing string, repos []string,
	do func(context.Context, *App) (did string, err error),
) error {
	shown := app.meter(doing)
	defer shown.end()
	failed := 0
	for i, repo := range repos {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: stopped before %q, after %d of %d; run it again: %w", doing, repo, i, len(repos), err)
		}
		var heard bytes.Buffer
		did, err := do(ctx, app.appIn(repo, &heard))
		shown.eraseLine()
		for line := range strings.Lines(heard.String()) {
			rest, first := strings.CutPrefix(line, stderrPrefix)
			if first {
				rest = stderrPrefix + repo + ": " + rest
			}
			fmt.Fprint(app.Stderr, rest)
		}
		if err != nil {
			failed++
			app.notify(fmt.Sprintf("%s: failed: %s", repo, explain(err)))
		} else {
			app.printDone("%s: %s", repo, did)
		}
		shown.setProgress(i+1, len(repos))
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d repositories failed, see above; when that is mended, run it again", doing, failed,
			len(repos))
	}
	return nil
}

// appIn is the program as it would run in a repository, where nobody watches. What it says goes to stderr.
func (app *App) appIn(repo string, stderr *bytes.Buffer) *App {
	in := *app
	in.Dir, in.Terminal, in.Stdout, in.Stderr, in.oneOfMany = repo, false, new(bytes.Buffer), stderr, true
	in.Env = git.WithoutRepositoryVariables(app.Env)
	in.Warn = func(err error) { in.notify(explainWarning(err)) }
	return &in
}

// hasPrinted is whether a command said that it did something.
func (app *App) hasPrinted() bool {
	out, ok := app.Stdout.(*bytes.Buffer)
	return ok && out.Len() > 0
}

// target is a repository that init --all found, and why it is left alone; "" where it is not.
type target struct {
	dir, skip string
	ready     bool // it is set up already
	err       error
}

// targets are the repositories below some folders. Of several worktrees of one, the first sets it up.
func (app *App) targets(ctx context.Context, dirs []string, exclude machine.Exclusions) ([]target, error) {
	var all []target
	first := map[string]string{}
	for _, dir := range dirs {
		found, err := machine.Find(ctx, filepath.Clean(app.Path(dir)), exclude.ExcludesPath)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			t := app.target(ctx, f, exclude, first)
			if !slices.ContainsFunc(all, func(had target) bool { return had.dir == t.dir }) {
				all = append(all, t)
			}
		}
	}
	return all, nil
}

func (app *App) target(ctx context.Context, f machine.Found, exclude machine.Exclusions,
	first map[string]string,
) target {
	t := target{dir: f.Path, err: f.Err}
	if f.Bare {
		t.skip = "bare: nothing is captured without a worktree"
	}
	if t.err != nil || t.skip != "" {
		return t
	}
	w, err := workspace.Open(ctx, app.appIn(f.Path, new(bytes.Buffer)).Process)
	if err != nil {
		t.err = err
		return t
	}
	defer w.Close()
	conf, err := w.Settings()
	if err != nil {
		t.err = err
		return t
	}
	t.ready = w.CheckReady() == nil
	url, root := exclude.ExcludedURL(conf.RemoteURLs()), w.Root()
	switch sharer := first[root]; {
	case url != "":
		t.skip = "excluded, because of the remote " + url
	case sharer != "" && sharer != f.Path:
		t.skip = "a worktree of " + sharer + `, which shares its set-up; "git rekal init" there adds the skill`
	default:
		first[root] = f.Path
	}
	return t
}

// runAll sets up all repositories below some folders.
func (c *initOptions) runAll(ctx context.Context, app *App) error {
	all, err := app.targets(ctx, c.dirs, c.exclude)
	if err != nil {
		return err
	}
	var repos []string
	unread := 0
	for _, t := range all {
		switch {
		case t.err != nil:
			unread++
			app.notify(fmt.Sprintf("%s: not looked at: %s", t.dir, explain(t.err)))
		case t.skip != "":
			app.printDone("%s: left out: %s", t.dir, t.skip)
		case c.dryRun && t.ready:
			app.printDone("%s: is set up", t.dir)
		case c.dryRun:
			app.printDone("%s: would be set up", t.dir)
		default:
			repos = append(repos, t.dir)
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("no repository is below %s", strings.Join(c.dirs, ", "))
	}
	err = app.runInEach(ctx, "setting up", repos, func(ctx context.Context, in *App) (string, error) {
		one := *c
		err := one.setUp(ctx, in)
		switch {
		case err == nil && !in.hasPrinted():
			return "was set up already", nil
		case one.imported > 0:
			return "set up, imported " + session.CountNoun(one.imported, "session"), err
		}
		return "set up", err
	})
	if len(repos) > 0 && ctx.Err() == nil {
		app.hint(`nothing is sent anywhere before you run "git rekal sync" or "git rekal push" in a repository; "git rekal clean --all" undoes all of this`)
	}
	switch unlooked := fmt.Errorf("setting up: %s could not be looked at, see above",
		session.CountNoun(unread, "folder")); {
	case unread == 0:
		return err
	case err == nil:
		return unlooked
	default:
		return fmt.Errorf("%w; %w", err, unlooked)
	}
}

// runAll takes init back in all repositories that were set up on this machine.
func (c *cleanOptions) runAll(ctx context.Context, app *App) error {
	repos, err := app.Machine().Repositories()
	if err != nil {
		return err
	}
	removed, kept := app.Machine().RemoveGlobal(ctx) // first: else a hook would set up again what is cleaned
	err = app.runInEach(ctx, "cleaning", repos, func(ctx context.Context, in *App) (string, error) {
		one := *c
		if err := one.cleanUp(ctx, in); err != nil {
			return "", err
		}
		return "cleaned; its ledger stays", nil
	})
	if removed {
		app.printDone("removed: the hooks for all repositories")
	}
	gone, missing := app.Machine().ForgetMissing(ctx)
	for _, repo := range gone {
		app.printDone("%s: is not there any more, and not on the list", repo)
	}
	return errors.Join(err, kept, missing)
}

// runGlobal has every repository come set up.
func (c *initOptions) runGlobal(ctx context.Context, app *App) error {
	if err := app.Machine().InstallGlobal(ctx, app.Env, app.Home, app.Exe, c.exclude); err != nil {
		return err
	}
	app.printDone(`every repository is set up at its next commit, by hooks in git's global configuration; "git rekal clean --all" undoes it`)
	app.hint(`nothing is sent anywhere before you run "git rekal sync" or "git rekal push" in a repository`)
	return nil
}
