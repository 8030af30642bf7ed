package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/result"
)

type versionOptions struct{ json bool }

// newVersionCmd says what this is: `git rekal version`.
func newVersionCmd(app *App) *cobra.Command {
	c := &versionOptions{}
	cmd := &cobra.Command{
		Use: "version [--json]", Short: "show versions",
		Long: `
Shows the version of git-rekal, of its libraries, and of the ledger format that it reads and writes.`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.json, "json", false, "JSON on one line")
	return app.withOptions(cmd, c)
}

func (c *versionOptions) run(ctx context.Context, app *App) error {
	engine, err := ask.EngineVersion(ctx)
	if err != nil {
		return err
	}
	v := result.Version{
		Version: app.Version, Libgit2: git.LibraryVersion(), DuckDB: engine, Ledger: ledger.Format, Go: runtime.Version(),
	}
	if c.json {
		return result.Write(app.Stdout, v)
	}
	_, err = fmt.Fprintf(app.Stdout, "git-rekal %s (libgit2 %s, DuckDB %s, ledger format %d, %s)\n",
		v.Version, v.Libgit2, v.DuckDB, v.Ledger, v.Go)
	return err
}
