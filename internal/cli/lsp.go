package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/lsp"
)

// lspCommand serves editors: `git rekal lsp`, which an editor starts.
type lspCommand struct{}

func (*lspCommand) about() entry {
	return entry{
		name: "lsp", usage: "lsp", short: "serve editors over LSP",
		long: `
Serves the Language Server Protocol on stdin and stdout. An editor starts it. Hover over a line shows the prompt that led to it, the session, who
and which agent, when, and how that is known. Code actions show the session, the commit, and what is known of the selected text. Unsaved text is
taken into account. With {"inlayHints": true} in initializationOptions, the first line of each session's lines names it.

docs/show.md says how to set up Neovim, Helix, Emacs and VS Code.`,
	}
}

func (c *lspCommand) addFlags(*pflag.FlagSet) {}

func (c *lspCommand) validate(_ *pflag.FlagSet, args []string) error { return noArgs(args) }

func (c *lspCommand) run(ctx context.Context, app *App) error {
	server := &lsp.Server{Process: app.Process, Version: app.Version, Explain: explainTool}
	return server.Serve(ctx, app.Stdin, app.Stdout)
}
