package cli

import (
	"context"

	"github.com/spf13/cobra"
)

type mcpOptions struct{}

// newMcpCmd serves agents: `git rekal mcp`, which `git rekal init --mcp` registers.
func newMcpCmd(app *App) *cobra.Command {
	c := &mcpOptions{}
	cmd := &cobra.Command{
		Use: "mcp", Short: "serve agents over MCP",
		Long: `
Serves the Model Context Protocol on stdin and stdout, with two tools: recall and save_memory. An agent starts it in any folder of the
repository. Several may run at once; none keeps anything open between calls. It ends with its input. "git rekal init --mcp" registers it
with the agents used here.

"git config rekal.mcp.write false" lets agents only read: nothing is saved, purged or restored.`,
	}
	return app.withOptions(cmd, c)
}

func (c *mcpOptions) run(ctx context.Context, app *App) error {
	if err := app.needFull(); err != nil {
		return err
	}
	return app.Full.ServeMCP(ctx, app, explainTool)
}
