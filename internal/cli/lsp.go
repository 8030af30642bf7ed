package cli

import (
	"context"

	"github.com/spf13/cobra"
)

type lspOptions struct{}

// newLspCmd serves editors: `git rekal lsp`, which an editor starts.
func newLspCmd(app *App) *cobra.Command {
	c := &lspOptions{}
	cmd := &cobra.Command{
		Use: "lsp", Short: "serve editors over LSP",
		Long: `
Serves the Language Server Protocol on stdin and stdout. An editor starts it. Hover over a line shows the prompt that led to it, the session, who
and which agent, when, and how that is known. Code actions show the session, the commit, and what is known of the selected text. Unsaved text is
taken into account. With {"inlayHints": true} in initializationOptions, the first line of each session's lines names it.

docs/show.md says how to set up Neovim, Helix, Emacs and VS Code.`,
	}
	return app.withOptions(cmd, c)
}

func (c *lspOptions) run(ctx context.Context, app *App) error {
	if err := app.needFull(); err != nil {
		return err
	}
	return app.Full.ServeLSP(ctx, app, explainTool)
}
