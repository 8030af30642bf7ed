package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/curate"
)

// pauseCommand has this clone capture nothing for a while, or ends that: `git rekal pause`, `git rekal resume`.
type pauseCommand struct{ resume bool }

func pauseEntry() entry {
	return entry{
		name: "pause", usage: "pause", short: "capture nothing for now",
		long: `
From now on this clone captures nothing. What is said during the pause stays out also afterwards, as
if it had never been said. Commits work as ever, and what was captured before is still found and sent.

Turns count by their times, and tool calls by the turns around them: a call between a turn before
the pause and one in it stays out. Where an agent tells no times (Cursor), a session that was at work
during the pause is captured no further. What is said later may repeat what was said meanwhile.

Other clones do not know of it. Texts that you save go on being stored. "git config --get-all rekal.pause"
lists all pauses; they stay there, because a transcript may be read again.`,
		make: func() command { return &pauseCommand{} },
	}
}

func resumeEntry() entry {
	return entry{
		name: "resume", usage: "resume", short: "end a pause",
		long: `
Ends a pause: what is said from now on is captured again. What was said during the pause stays out.`,
		make: func() command { return &pauseCommand{resume: true} },
	}
}

func (c *pauseCommand) addFlags(*pflag.FlagSet) {}

func (c *pauseCommand) validate(args []string) error { return noArgs(args) }

func (c *pauseCommand) run(ctx context.Context, app *App) error {
	w, author, err := app.open(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if c.resume {
		since, was, err := curate.Resume(ctx, w, author)
		switch {
		case err != nil:
			return err
		case !was:
			fmt.Fprintln(app.Stdout, "there was no pause")
		default:
			fmt.Fprintf(app.Stdout, "resumed; what was said since %s stays out\n", since.UTC().Format(time.RFC3339))
		}
		return nil
	}
	err = curate.Pause(ctx, w, author.Config)
	if lasts := (*config.PausedError)(nil); errors.As(err, &lasts) {
		fmt.Fprintf(app.Stdout, "paused already, since %s\n", lasts.Since.UTC().Format(time.RFC3339))
		return nil
	}
	if err == nil {
		fmt.Fprintln(app.Stdout, `paused: this clone captures nothing until "git rekal resume"`)
	}
	return err
}

// paused says during a pause that nothing is captured, and reports whether one lasts.
func (app *App) paused(c config.Config) bool {
	err := c.CheckPaused()
	if err != nil {
		app.say(explain(err))
	}
	return err != nil
}
