package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

type importOptions struct {
	curate.Histories
}

// newImportCmd takes over what others kept: `git rekal import --entire --file ~/old/rollout.jsonl`.
func newImportCmd(app *App) *cobra.Command {
	c := &importOptions{}
	cmd := &cobra.Command{
		Use:   "import [--entire [--everyone]] [--specstory] [--file TRANSCRIPT…] [--agent NAME]",
		Short: "take over kept sessions",
		Long: `
Stores sessions from elsewhere, redacted, with their own times, and ties them to the commits whose lines they wrote. A stored session is
never stored or captured twice.

--entire takes your sessions from Entire's branch entire/checkpoints/v1 and refs/entire/checkpoints/: those whose checkpoints bear your
address only, which whoever may push there can write. A commit that names a checkpoint (Entire-Checkpoint: …) is tied to its sessions.
--everyone also takes other people's sessions, and stores them as yours.

--specstory takes .specstory/history/*.md. It leaves out sessions whose transcript is stored.

--file takes transcripts of the agents that "git rekal init" reads, also from another machine. More paths may follow. Work in another
repository of this machine is left out.

Prints one line of JSON for each source.

  git rekal import --entire --specstory
  git rekal import --file ~/backup/.codex/sessions/*/*/*/*.jsonl`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.Entire, "entire", false, "your sessions that Entire kept")
	fs.BoolVar(&c.Everyone, "everyone", false, "with --entire: everyone's sessions")
	fs.BoolVar(&c.SpecStory, "specstory", false, "sessions that SpecStory kept in .specstory/history")
	fs.StringArrayVar(&c.Histories.Files, "file", nil, "the `TRANSCRIPT` of a session; may be given several times")
	fs.Func("agent", "with --file: the agent `NAME` wrote the transcripts, if their content does not show it",
		setOnce(&c.Agent))
	return app.withOptions(cmd, c)
}

func (c *importOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case c.Agent != "" && !slices.Contains(session.Agents(), c.Agent):
		return fmt.Errorf("--agent %q: unknown agent; known are %s", c.Agent, strings.Join(session.Agents(), ", "))
	case len(c.Histories.Files) == 0 && len(args) > 0:
		return &extraError{args[0]}
	case !c.Entire && !c.SpecStory && len(c.Histories.Files) == 0:
		return errors.New("give --entire, --specstory or --file TRANSCRIPT")
	case c.Everyone && !c.Entire:
		return errors.New("--everyone goes with --entire")
	case c.Agent != "" && len(c.Histories.Files) == 0:
		return errors.New("--agent goes with --file")
	}
	c.Histories.Files = append(c.Histories.Files, args...)
	return nil
}

func (c *importOptions) run(ctx context.Context, app *App) error {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	app.needFullToEmbed(w)
	if err := author.Config.Fault(); err != nil {
		return err
	}
	if err := author.Config.CheckPaused(); err != nil {
		return err
	}
	for i, path := range c.Histories.Files {
		c.Histories.Files[i] = app.Path(path)
	}
	var failed []error
	shown := app.meter(capture.Reading)
	c.Histories.Progress = shown.setStage
	err = curate.Import(ctx, w, author, c.Histories, func(in curate.Imported) error {
		failed = append(failed, in.Found.Failed...)
		app.tellImport(in)
		return result.Write(app.Stdout, importResult(in))
	})
	shown.end()
	if err != nil {
		return err
	}
	if err := app.catchUp(ctx, w, author); err != nil {
		return err
	}
	return app.notifyFailures(failed)
}

// tellImport says in a line what came of a source, and in others what did not.
func (app *App) tellImport(in curate.Imported) {
	app.tellCaptured(in.Outcome)
	switch {
	case in.Sessions > 0:
		app.notify(fmt.Sprintf("%s: imported %s%s", in.Found.Name, captureCounts(in.Outcome), tiedText(in.Checkpoints)))
	case in.Found.Transcripts > 0:
		app.notify(fmt.Sprintf("%s: nothing new in %s", in.Found.Name, session.CountNoun(in.Found.Transcripts, "transcript")))
	default:
		app.notify(in.Found.Name + ": nothing found")
		if in.Found.Name == "entire" {
			app.hint(`to fetch what only a remote has: git fetch origin 'refs/entire/checkpoints/*:refs/entire/checkpoints/*'`)
		}
	}
	if n := total(in.Found.Others); n > 0 {
		app.hint(fmt.Sprintf("left out %s of %s; --everyone imports these, too; an address of your own becomes yours by a line of .mailmap",
			session.CountNoun(n, "session"), othersList(in.Found.Others)))
	}
	if n := len(in.Found.Absent); n > 0 {
		app.hint(fmt.Sprintf("%s, as %s, not in this clone: fetch Entire's refs without a filter",
			session.CountNoun(n, "transcript"), printable(in.Found.Absent[0].Path)))
	}
	for _, agent := range slices.Sorted(maps.Keys(in.Found.Unread)) {
		app.hint(fmt.Sprintf("left out %s of %s, whose transcripts are not read",
			session.CountNoun(in.Found.Unread[agent], "session"), agent))
	}
	for _, dir := range slices.Sorted(maps.Keys(in.Elsewhere)) {
		app.hint(fmt.Sprintf("left out %s of work in %s, which is another repository here",
			session.CountNoun(in.Elsewhere[dir], "session"), dir))
	}
}

// namedOthers is how many people are named whose sessions were left out.
const namedOthers = 5

// othersList names people by their addresses, those with the most sessions first, with how many these are.
func othersList(others map[string]int) string {
	all := slices.SortedFunc(maps.Keys(others), func(a, b string) int {
		return cmp.Or(cmp.Compare(others[b], others[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, email := range all[:min(len(all), namedOthers)] {
		out = append(out, fmt.Sprintf("%s (%d)", printable(email), others[email]))
	}
	if more := len(all) - len(out); more > 0 {
		out = append(out, session.CountNoun(more, "other"))
	}
	return strings.Join(out, ", ")
}

func importResult(in curate.Imported) result.Import {
	return result.Import{
		Schema: result.Schema, From: in.Found.Name, Transcripts: in.Found.Transcripts, Sessions: in.Sessions, Turns: in.Turns,
		ToolCalls: in.ToolCalls,
		Commits:   in.Checkpoints, Agents: in.Agents, Redacted: in.Redacted, Skipped: in.Skipped,
		Failed: len(in.Found.Failed) + len(in.Found.Absent),
		Others: total(in.Found.Others), Unread: total(in.Found.Unread), Elsewhere: total(in.Elsewhere),
	}
}
