package workspace

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/setup"
)

// toldHooks names, in package statedb, what was said of lost hooks, so that it is said once.
const toldHooks = "hooks"

// LostHooks is an error that says that git runs our hooks no more, as a hook manager may have taken them away, and what
// to do; nil where all is well, or it was said already. It asks nobody: that costs a few looks at files.
func (w *Workspace) LostHooks(ctx context.Context) error {
	what := w.lostHooks()
	if what == string(w.noted.Text(ctx, toldHooks)) {
		return nil
	}
	if w.noteLostHooks(ctx, what) != nil || what == "" {
		return nil //nolint:nilerr // who can't note it would say it each time
	}
	return errors.New(what)
}

// noteLostHooks has LostHooks not repeat what was just said.
func (w *Workspace) noteLostHooks(ctx context.Context, what string) error {
	return w.noted.set(ctx, toldHooks, []byte(what))
}

// HookFileCalls reports whether a hook that is a file calls git-rekal.
func (w *Workspace) HookFileCalls(event string) bool {
	l, ok := w.hookLayout()
	return ok && setup.HookFileCalls(l, event)
}

// HasOtherHooks reports whether git runs more than ours at an event.
func (w *Workspace) HasOtherHooks(ctx context.Context, event string) bool {
	names, err := w.Repo.HooksRunAt(ctx, event)
	return err == nil && slices.ContainsFunc(names, func(name string) bool { return name != setup.ConfigName(event) })
}

func (w *Workspace) lostHooks() string {
	l, ok := w.hookLayout()
	if !ok {
		return ""
	}
	return setup.LostHooks(l)
}

// hookLayout says where hooks are, without a call of git; false where there are none to look at.
func (w *Workspace) hookLayout() (l setup.Layout, ok bool) {
	conf, err := w.Settings()
	at := w.Repo.Layout()
	if err != nil || at.WorkTree == "" {
		return l, false
	}
	l = setup.Layout{
		WorkTree: at.WorkTree, GitDir: at.GitDir, CommonDir: at.CommonDir, HooksDir: filepath.Join(at.CommonDir, "hooks"),
		RekalDir: w.RekalDir(),
	}
	if all := conf.Git["core.hookspath"]; len(all) > 0 {
		path := all[len(all)-1]
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(w.Home, rest)
		}
		if path == "" { // an agent's environment switches hooks off
			return l, false
		}
		if l.HooksDir, l.HooksPathScope = path, "local"; !filepath.IsAbs(path) {
			l.HooksDir = filepath.Join(at.WorkTree, path)
		}
	}
	if len(conf.Git["hook."+setup.ConfigName("post-commit")+".command"]) > 0 {
		l.Runs = func(event string) bool {
			name := "hook." + setup.ConfigName(event)
			enabled := conf.Git[name+".enabled"]
			return len(conf.Git[name+".command"]) > 0 && (len(enabled) == 0 || enabled[len(enabled)-1] != "false")
		}
	}
	return l, true
}
