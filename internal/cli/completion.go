package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/brief"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type completionOptions struct{ shell string }

// newCompletionCmd prints what a shell completes with: `git rekal completion bash`.
func newCompletionCmd(app *App) *cobra.Command {
	return app.withOptions(&cobra.Command{
		Use: "completion bash|zsh|fish", Short: "complete in your shell",
		Long: `
Prints the completion script of a shell: for commands, flags, IDs with titles, and revisions. Packages and "make install" install it. It
completes "git-rekal", and "git rekal" if the shell completes git.

  cd ~/.local/share/bash-completion/completions
  git rekal completion bash > git-rekal

  git rekal completion zsh > "${fpath[1]}/_git-rekal"

  git rekal completion fish > ~/.config/fish/conf.d/git-rekal.fish`,
		ValidArgsFunction: app.completionFor(takesShell),
	}, &completionOptions{})
}

func (c *completionOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("name a shell: bash, zsh or fish")
	case !slices.Contains(fixedWords()[takesShell], args[0]):
		return fmt.Errorf("unknown shell %q: bash, zsh or fish", args[0])
	}
	c.shell = args[0]
	return noArgs(args[1:])
}

func (c *completionOptions) run(_ context.Context, app *App) error {
	script, err := app.completionScript(c.shell)
	if err == nil {
		_, err = io.WriteString(app.Stdout, script)
	}
	return err
}

// completionScript is cobra's script for a shell. cobra knows the program as "git-rekal" alone. With the changes the
// script also completes what stands behind "git rekal", where the shell's completion of git asks for it.
func (app *App) completionScript(shell string) (string, error) {
	var script strings.Builder
	var err error
	var changes [][2]string
	switch shell {
	case "bash":
		err = app.root.GenBashCompletionV2(&script, true)
		script.WriteString(bashForGit)
		changes = [][2]string{{"    local out directive\n", bashBehindGit + "    local out directive\n"}}
	case "zsh":
		err = app.root.GenZshCompletion(&script)
		changes = [][2]string{
			{"#compdef git-rekal\n", "#compdef git-rekal\n#description find the AI coding sessions behind the code\n"},
			{"${words[1]} __complete", "git-rekal __complete"}, // zsh's completion of git calls it with "rekal" first
		}
	case "fish":
		err = app.root.GenFishCompletion(&script, true)
		script.WriteString(fishForGit)
		changes = [][2]string{{
			"    set -l args (commandline -opc)\n",
			"    set -l args (commandline -opc)\n" + fishBehindGit,
		}}
	}
	text := script.String()
	for _, change := range changes {
		if !strings.Contains(text, change[0]) {
			return "", fmt.Errorf("completion: cobra's script for %s lacks %q", shell, change[0])
		}
		text = strings.ReplaceAll(text, change[0], change[1])
	}
	return text, err
}

const (
	bashBehindGit = `    local at=0
    if [[ ${words[0]##*/} == git ]]; then # behind git's own options
        while [[ ${at} -lt ${cword} && ${words[at]} != rekal ]]; do at=$((at + 1)); done
        words=(git-rekal "${words[@]:at+1}")
    fi

`
	bashForGit = `
# git's own completion calls this.
_git_rekal()
{
    compopt +o nospace
    __start_git-rekal
}
`
	fishBehindGit = `    if test (path basename $args[1]) = git
        set args git-rekal $args[(math (contains -i -- rekal $args) + 1)..-1]
    end
`
	fishForGit = `
# For "git rekal" fish reads the completions of git alone.
complete -c git -n '__fish_git_using_command rekal; and __git_rekal_clear_perform_completion_once_result'
complete -c git -n '__fish_git_using_command rekal; and not __git_rekal_requires_order_preservation; and __git_rekal_prepare_completions' -f -a '$__git_rekal_comp_results'
complete -k -c git -n '__fish_git_using_command rekal; and __git_rekal_requires_order_preservation; and __git_rekal_prepare_completions' -f -a '$__git_rekal_comp_results'
`
)

// completionFor completes an argument or a flag. If no value is known, the shell completes paths.
func (app *App) completionFor(argument string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) {
		app.Warn = func(error) {}
		var out []string
		for _, m := range app.completions(cmd.Context(), argument, begin) {
			if strings.HasPrefix(m.word, begin) {
				out = append(out, cobra.CompletionWithDesc(m.word, result.Printable(m.about)))
			}
		}
		if out == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeFlags has the values of all flags completed, and says what each flag is.
func (app *App) completeFlags() {
	for _, cmd := range app.root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, f.Usage = pflag.UnquoteUsage(f)
			_ = cmd.RegisterFlagCompletionFunc(f.Name, app.completionFor(f.Name)) // the flag is there, and has none
		})
	}
}

// completion is what a word may become.
type completion struct{ word, about string }

// Kinds of values that commands and flags take. Other flags are completed by their own names.
const (
	takesID       = "session"
	takesPurged   = "purged"
	takesRevision = "commit"
	takesRange    = "range"
	takesRemote   = "remote"
	takesPage     = "page"
	takesShell    = "shell"
)

// completions are the values that an argument or a flag may have; none for paths, and where the values can't be listed.
func (app *App) completions(ctx context.Context, argument, prefix string) []completion {
	var words []string
	switch argument {
	case takesPage:
		var out []completion
		for _, cmd := range app.root.Commands() {
			out = append(out, completion{cmd.Name(), cmd.Short})
		}
		return out
	case takesID:
		return app.completeIDs(ctx, prefix)
	case takesPurged:
		return app.completePurged(ctx)
	case takesRange:
		from, _, ok := strings.Cut(prefix, "..")
		for _, name := range app.completeRevisions(ctx) {
			if ok {
				name = from + ".." + name
			}
			words = append(words, name)
		}
	case takesRevision, "checkpoint", "since", "until":
		words = app.completeRevisions(ctx)
	case takesRemote:
		words = app.completeRemotes(ctx)
	case groupFlag:
		words, _ = group.Names(ctx, app.Process)
	default:
		words = fixedWords()[argument]
	}
	var out []completion
	for _, w := range words {
		out = append(out, completion{w, ""})
	}
	return out
}

// fixedWords are the values of arguments and flags that are the same everywhere.
func fixedWords() map[string][]string {
	return map[string][]string{
		takesShell: {"bash", "zsh", "fish"},
		"format":   {agentTrace, gitAINotes, inToto, otelTraces},
		"agent":    session.Agents(),
		"by":       append(ask.Groupings(), "command", "month", "path"),
		"actor":    {session.ActorHuman, session.ActorAgent},
		"role":     {session.RoleHuman, session.RoleAssistant},
		"kind":     {ask.KindSession, ask.KindMemory, ask.KindRecord},
		"color":    {"always", "auto", "never"},
		"brief":    {"prompts", "edits", "prompts,edits"},
		"hook":     brief.Agents(),
	}
}

// shownIDs bounds how many sessions and memories are offered: the latest.
const shownIDs = 50

// completeIDs are sessions and memories whose IDs begin so, in any case, the latest first.
func (app *App) completeIDs(ctx context.Context, prefix string) (out []completion) {
	app.withExistingIndex(ctx, func(at *ask.Moment) {
		titles, _ := at.TitlesByIDPrefix(ctx, strings.ToUpper(prefix), shownIDs+1)
		names, ids := session.NewNames(titles), slices.Sorted(maps.Keys(titles))
		if len(ids) > shownIDs {
			ids = ids[1:] // how far an ID may be cut its neighbours decide
		}
		purged, _ := at.PurgedIDs(ctx)
		for _, id := range slices.Backward(ids) {
			if slices.Contains(purged, id) {
				continue
			}
			shown := id[:max(len(names.Short(id)), len(prefix))]
			out = append(out, completion{prefix + shown[len(prefix):], titles[id]})
		}
	})
	return out
}

// withExistingIndex opens the index for a completion, and does nothing if it can't: a completion prints no errors.
func (app *App) withExistingIndex(ctx context.Context, into func(*ask.Moment)) {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return
	}
	defer w.Close()
	reader := gate.Person // whose shell asks, through a pipe
	if capture.InAgent(app.Getenv) {
		reader = gate.Agent
	}
	if at, err := ask.Open(ctx, w, ask.Opening{Reader: reader}); err == nil {
		into(at)
		_ = at.Close()
	}
}

// completePurged are the sessions and memories that can be restored.
func (app *App) completePurged(ctx context.Context) (out []completion) {
	app.withExistingIndex(ctx, func(at *ask.Moment) {
		ids, _ := at.PurgedIDs(ctx)
		for _, id := range slices.Backward(ids) {
			if slices.Contains(at.Barred(), id) {
				continue
			}
			titles, _ := at.TitlesByIDPrefix(ctx, id, 1) // without one it is restored as well
			out = append(out, completion{id, titles[id]})
		}
	})
	return out
}

// completeRevisions are the names that a repository's commits have.
func (app *App) completeRevisions(ctx context.Context) []string {
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

func (app *App) completeRemotes(ctx context.Context) []string {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return nil
	}
	defer w.Close()
	return author.Config.Remotes
}
