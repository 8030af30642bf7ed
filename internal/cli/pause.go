package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/curate"
)

type pauseOptions struct{}

// newPauseCmd has this clone capture nothing for a while: `git rekal pause`. resumeCommand ends that.
func newPauseCmd(app *App) *cobra.Command {
	c := &pauseOptions{}
	cmd := &cobra.Command{
		Use: "pause", Short: "capture nothing for now",
		Long: `
From now on this clone captures nothing. Text from the pause is never captured, not even later. Commits work as usual. Sessions that were
captured before are still found and sent. "git rekal save" still stores what you give it. Other clones go on capturing.

Turns count by their times, tool calls by the turns around them. A call between a turn before the pause and one in it stays out. Cursor
tells no times, so a Cursor session at work during the pause is captured no further. Later turns may repeat what was said.

"git config --get-all rekal.pause" lists all pauses. Keep them, because a transcript may be read again.`,
	}
	return app.withOptions(cmd, c)
}

func (c *pauseOptions) run(ctx context.Context, app *App) error {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	err = curate.Pause(ctx, w, author.Config)
	if lasts := (*config.PausedError)(nil); errors.As(err, &lasts) {
		app.printDone("paused already, since %s", app.formatTime(lasts.Since))
		return nil
	}
	if err == nil {
		fmt.Fprintln(app.Stdout, `paused: this clone captures nothing until "git rekal resume"`)
	}
	return err
}

// notifyPaused says during a pause that nothing is captured, and reports whether one lasts.
func (app *App) notifyPaused(c config.Config) bool {
	err := c.CheckPaused()
	if err != nil {
		app.notify(explain(err))
	}
	return err != nil
}
