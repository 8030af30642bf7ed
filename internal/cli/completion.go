package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/brief"
	"github.com/git-rekal/git-rekal/internal/compress"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
	"github.com/git-rekal/git-rekal/templates"
)

// completionCommand prints what a shell completes with: `git rekal completion bash`. What that script runs in turn is
// `git-rekal completion --line -- why src/a`.
type completionCommand struct {
	line  bool
	words []string
}

func (*completionCommand) about() entry {
	return entry{
		name: "completion", usage: "completion bash|zsh|fish", short: "complete in your shell",
		long: `
Prints the completion script of a shell: for commands, flags, IDs with titles, and revisions. Packages and "make install" install it. It
completes "git-rekal", and "git rekal" if the shell completes git.

  cd ~/.local/share/bash-completion/completions
  git rekal completion bash > git-rekal

  git rekal completion zsh > "${fpath[1]}/_git-rekal"

  git rekal completion fish > ~/.config/fish/conf.d/git-rekal.fish`,
		takes: takesShell,
	}
}

func (c *completionCommand) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&c.line, "line", false, "what the last of these words may become, a line each, with a tab before what it is")
	_ = fs.MarkHidden("line")
}

func (c *completionCommand) validate(_ *pflag.FlagSet, args []string) error {
	c.words = args
	switch {
	case c.line:
		return nil
	case len(args) == 0:
		return errors.New("name a shell: bash, zsh or fish")
	case templates.Completion(args[0]) == "":
		return fmt.Errorf("unknown shell %q: bash, zsh or fish", args[0])
	}
	return noArgs(args[1:])
}

func (c *completionCommand) run(ctx context.Context, app *App) error {
	if !c.line {
		_, err := io.WriteString(app.Stdout, templates.Completion(c.words[0]))
		return err
	}
	app.Warn = func(error) {}
	for _, m := range app.complete(ctx, c.words) {
		fmt.Fprintf(app.Stdout, "%s\t%s\n", m.word, result.Printable(m.about))
	}
	return nil
}

// match is what a word may become.
type match struct{ word, about string }

// complete is what the last of the words behind "git rekal" may become. Where it is a path there is nothing: shells know these.
func (app *App) complete(ctx context.Context, words []string) []match {
	if len(words) == 0 {
		words = []string{""}
	}
	e, args := table()[0], words
	if len(words) > 1 {
		e, args = choose(words)
	}
	fs := pflag.NewFlagSet(e.name, pflag.ContinueOnError)
	e.addFlags(fs)
	word, before := words[len(words)-1], args[:max(0, len(args)-1)]
	var out []match
	switch {
	case slices.Contains(before, "--"):
		out = app.values(ctx, e.takes, word)
	case strings.HasPrefix(word, "--") && strings.Contains(word, "="):
		name, value, _ := strings.Cut(word, "=")
		if fs.Lookup(name[2:]) == nil {
			return nil
		}
		for _, m := range app.values(ctx, name[2:], value) {
			out = append(out, match{name + "=" + m.word, m.about})
		}
	case len(before) > 0 && takesValue(fs, before[len(before)-1]):
		out = app.values(ctx, valueOf(fs, before[len(before)-1]), word)
	case strings.HasPrefix(word, "-"):
		out = flags(fs)
	case len(words) == 1:
		out = pages(listed())
	default:
		out = app.values(ctx, e.takes, word)
	}
	return slices.DeleteFunc(out, func(m match) bool { return !strings.HasPrefix(m.word, word) })
}

// valueOf is the name of a flag, as it is written: what its value is.
func valueOf(fs *pflag.FlagSet, arg string) string {
	if len(arg) == 2 {
		return fs.ShorthandLookup(arg[1:]).Name
	}
	return strings.TrimPrefix(arg, "--")
}

func flags(fs *pflag.FlagSet) (out []match) {
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			_, usage := pflag.UnquoteUsage(f)
			out = append(out, match{"--" + f.Name, usage})
		}
	})
	return out
}

func pages(entries []entry) (out []match) {
	for _, e := range entries {
		out = append(out, match{e.name, e.short})
	}
	return out
}

// What commands and flags take, beside those flags whose names say it.
const (
	takesID       = "session"
	takesPurged   = "purged"
	takesRevision = "commit"
	takesRange    = "range"
	takesRemote   = "remote"
	takesPage     = "page"
	takesShell    = "shell"
)

// values are those that an argument or flag may have. Of one that nobody can list, and of a path, there are none.
func (app *App) values(ctx context.Context, what, begin string) []match {
	var words []string
	switch what {
	case takesPage:
		return pages(explained())
	case takesID:
		return app.ids(ctx, begin)
	case takesPurged:
		return app.purged(ctx)
	case takesRange:
		from, _, ok := strings.Cut(begin, "..")
		for _, name := range app.revisions(ctx) {
			if ok {
				name = from + ".." + name
			}
			words = append(words, name)
		}
	case takesRevision, "checkpoint", "since", "until":
		words = app.revisions(ctx)
	case takesRemote:
		words = app.remotes(ctx)
	case takesShell:
		words = []string{"bash", "zsh", "fish"}
	case "agent":
		words = session.Agents()
	case "actor":
		words = []string{session.ActorHuman, session.ActorAgent}
	case "role":
		words = []string{session.RoleHuman, session.RoleAssistant}
	case "kind":
		words = []string{ask.KindSession, ask.KindMemory, ask.KindRecord}
	case "color":
		words = []string{"always", "auto", "never"}
	case "brief":
		words = []string{"prompts", "edits", "prompts,edits"}
	case "hook":
		words = brief.Agents()
	case "intent":
		for _, i := range compress.Intents() {
			words = append(words, string(i))
		}
	}
	var out []match
	for _, w := range words {
		out = append(out, match{w, ""})
	}
	return out
}

// shownIDs bounds how many sessions and memories are offered: the latest.
const shownIDs = 50

// ids are sessions and memories whose IDs begin so, in any case, the latest first.
func (app *App) ids(ctx context.Context, begin string) (out []match) {
	app.looking(ctx, func(at *ask.Moment) {
		titles, _ := at.Beginning(ctx, strings.ToUpper(begin), shownIDs+1)
		names, ids := session.NewNames(titles), slices.Sorted(maps.Keys(titles))
		if len(ids) > shownIDs {
			ids = ids[1:] // how far an ID may be cut its neighbours decide
		}
		for _, id := range slices.Backward(ids) {
			shown := id[:max(len(names.Short(id)), len(begin))]
			out = append(out, match{begin + shown[len(begin):], titles[id]})
		}
	})
	return out
}

// looking looks into the index, where there is one: a completion tells no errors.
func (app *App) looking(ctx context.Context, into func(*ask.Moment)) {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return
	}
	defer w.Close()
	if at, err := ask.Open(ctx, w, ask.Opening{}); err == nil {
		into(at)
		_ = at.Close()
	}
}

// purged are the sessions and memories that can be restored.
func (app *App) purged(ctx context.Context) (out []match) {
	app.looking(ctx, func(at *ask.Moment) {
		ids, _ := at.PurgedIDs(ctx)
		for _, id := range slices.Backward(ids) {
			titles, _ := at.Beginning(ctx, id, 1) // without one it is restored as well
			out = append(out, match{id, titles[id]})
		}
	})
	return out
}

// revisions are the names that a repository's commits have.
func (app *App) revisions(ctx context.Context) []string {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return nil
	}
	defer w.Close()
	names := []string{"HEAD"}
	for _, below := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		refs, err := w.Repo.Refs(below + "*")
		if err != nil {
			return names
		}
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			if name = strings.TrimPrefix(name, below); !strings.HasPrefix(name, "rekal/") && !strings.Contains(name, "/rekal/") {
				names = append(names, name)
			}
		}
	}
	return names
}

func (app *App) remotes(ctx context.Context) []string {
	w, author, err := app.open(ctx)
	if err != nil {
		return nil
	}
	defer w.Close()
	return author.Config.Remotes
}
