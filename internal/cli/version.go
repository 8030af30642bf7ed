package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

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
	full, err := app.fullVersion(ctx)
	if err == nil && full.Version != app.Version {
		err = fmt.Errorf("%s is of version %s", fullName, full.Version)
	}
	v := result.Version{
		Version: app.Version, Libgit2: git.LibraryVersion(), DuckDB: full.DuckDB, Ledger: ledger.Format,
		Go: runtime.Version(),
	}
	if err != nil {
		app.notify(explain(err))
	}
	if c.json {
		return result.Write(app.Stdout, v)
	}
	engine := ""
	if v.DuckDB != "" {
		engine = "DuckDB " + v.DuckDB + ", "
	}
	_, err = fmt.Fprintf(app.Stdout, "git-rekal %s (libgit2 %s, %sledger format %d, %s)\n", v.Version, v.Libgit2, engine,
		v.Ledger, v.Go)
	return err
}

// fullVersion is what git-rekal-full says of itself; of DuckDB it alone knows.
func (app *App) fullVersion(ctx context.Context) (v result.Version, err error) {
	if app.Full != nil {
		v.Version = app.Version
		v.DuckDB, err = app.Full.EngineVersion(ctx)
		return v, err
	}
	path, err := app.fullPath()
	if err != nil {
		return v, err
	}
	cmd := exec.CommandContext(ctx, path, "version", "--json")
	cmd.Env = append(slices.Clip(app.Env), startedBy+"="+app.Exe)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &v)
	}
	if err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}
