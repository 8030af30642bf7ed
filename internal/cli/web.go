package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type webOptions struct {
	port   int
	noOpen bool
	export string
	group  groupFlags
}

// newWebCmd shows sessions in a browser: `git rekal web --port 8080 --no-open`.
func newWebCmd(app *App) *cobra.Command {
	c := &webOptions{}
	cmd := &cobra.Command{
		Use: "web [--port N] [--no-open] [--group[=NAME]|--all]\nweb --export DIR", Short: "sessions in a browser",
		Long: `
Serves pages on this machine: search as you type, sessions beside their commits, a timeline, and files with the session behind each line. It
prints the address and opens it in the browser of "git instaweb" (instaweb.browser, web.browser). The address has a token; without it nobody
can read the pages. It writes only caches. Ctrl-C ends it.

--export writes the pages as files, with a list of all sessions instead of the search. Anybody who has the files can read the sessions, the
diffs of their commits, and the checked-out files.

To read one commit or session in the terminal, use "git rekal show".

  git rekal web
  git rekal web --no-open --port 8080
  git rekal web --export ../sessions`,
	}
	fs := cmd.Flags()
	fs.IntVar(&c.port, "port", 0, "listen on port `N` of 127.0.0.1 (default: a free one)")
	fs.BoolVar(&c.noOpen, "no-open", false, "open no browser")
	fs.StringVar(&c.export, "export", "", "write the pages into the empty or new folder `DIR`")
	c.group.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *webOptions) validate(fs *pflag.FlagSet, args []string) error {
	switch {
	case c.port < 0 || c.port > 65535:
		return errors.New("--port must be from 0 to 65535")
	case fs.Changed("export") && c.export == "":
		return errors.New("--export must not be empty")
	case c.export != "" && (c.noOpen || c.port != 0):
		return errors.New("--export goes with neither --port nor --no-open")
	case c.export != "" && c.group.isGiven():
		return errors.New("--export writes one repository: it goes with neither --group nor --all")
	}
	if err := c.group.validate(fs); err != nil {
		return err
	}
	return noArgs(args)
}

func (c *webOptions) run(ctx context.Context, app *App) error {
	if err := app.needFull(); err != nil {
		return err
	}
	app.Public = c.export != ""
	w, site, err := c.open(ctx, app)
	if err != nil {
		return err
	}
	defer w.Close()
	if c.export != "" {
		return c.exportPages(ctx, app, w, site)
	}
	command, err := rightsCommand(ctx, app)
	if err != nil {
		return err
	}
	if command != "" {
		site.Rights(command)
	}
	server, err := site.Listen(c.port)
	if err != nil {
		return fmt.Errorf("--port %d: %w", c.port, err)
	}
	if app.Ends {
		debug.SetGCPercent(400) // a page leaves little behind, and is waited for
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	if err := c.printAddress(ctx, app, w, server); err != nil {
		return errors.Join(err, server.Close())
	}
	return server.Serve(ctx)
}

// open makes the pages. What is wrong is said now, and what takes long is done before the first page.
func (c *webOptions) open(ctx context.Context, app *App) (w *workspace.Workspace, site Site, err error) {
	if c.group.isGiven() {
		return c.openGroup(ctx, app)
	}
	if w, err = workspace.Open(ctx, app.Process); err != nil {
		return nil, nil, err
	}
	index, err := ask.Open(ctx, w, ask.Opening{})
	if err == nil {
		app.printMomentNotice(index)
		err = index.Close()
	}
	if err == nil {
		site, err = app.Full.NewSite(app.Process, w.Name(), explain)
	}
	if err != nil {
		w.Close()
		return nil, nil, w.AsNotInitialised(err)
	}
	return w, site, nil
}

// openGroup is open for several repositories.
func (c *webOptions) openGroup(ctx context.Context, app *App) (w *workspace.Workspace, site Site, err error) {
	err = app.withSelection(ctx, c.group.groupSelection(app), func(g *group.Group) error {
		if w, err = workspace.Open(ctx, g.SettingsFrom().Process); err != nil {
			return err
		}
		site, err = app.Full.NewSite(app.Process, cmp.Or(strings.Join(g.Names, ", "), "all"), explain)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	site.SearchGroup(c.group.groupSelection(app))
	return w, site, nil
}

// rightsSetting names the command that says who may read which repository. It counts in the user's own configuration
// only.
const rightsSetting = "rekal.web.rights"

// rightsCommand is the command that says who may read what; "" for none.
func rightsCommand(ctx context.Context, app *App) (string, error) {
	conf, err := git.OwnSettings(ctx, app.Dir, app.Env, `^rekal\.web\.rights$`)
	switch commands := conf[rightsSetting]; {
	case err != nil || len(commands) == 0:
		return "", err
	case len(commands) > 1 || commands[0] == "":
		return "", fmt.Errorf("%s: it must be one command", rightsSetting)
	default:
		return commands[0], nil
	}
}

// openOfRemote opens what the remote holds that the ledger is shared with.
func openOfRemote(ctx context.Context, w *workspace.Workspace) (*workspace.Workspace, error) {
	conf, err := w.Settings()
	if err != nil {
		return nil, err
	}
	remote, err := conf.RemoteFor("", "")
	if err != nil {
		return nil, err
	}
	return w.OfRemote(ctx, remote)
}

// printAddress prints an address, and opens one.
func (c *webOptions) printAddress(ctx context.Context, app *App, w *workspace.Workspace, server PageServer) error {
	address, err := server.Address(false)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(app.Stdout, address); err != nil || c.noOpen {
		return err
	}
	if address, err = server.Address(true); err != nil {
		return err
	}
	go func() {
		if w.Repo.OpenInBrowser(ctx, address, app.Stdin, app.Stderr) != nil && ctx.Err() == nil {
			app.hint("no browser could be started: open the address above")
		}
	}()
	return nil
}

// exportPages exports the pages; where others are shown pages by the rights of a remote, those that the remote's
// holdings make.
func (c *webOptions) exportPages(ctx context.Context, app *App, w *workspace.Workspace, site Site) error {
	command, err := rightsCommand(ctx, app)
	if err != nil {
		return err
	}
	if command != "" {
		seen, err := openOfRemote(ctx, w)
		if err != nil {
			return err
		}
		defer seen.Close()
		if site, err = app.Full.NewSite(seen.Process, w.Name(), explain); err != nil {
			return err
		}
	}
	dir := app.Path(c.export)
	n, err := site.Export(ctx, dir, func(done, left int) {
		if done%100 == 0 {
			app.notifyStep(fmt.Sprintf("%s written, at least %d left", session.CountNoun(done, "page"), left))
		}
	})
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--export %q: the folder is not empty: name an empty or a new one", c.export)
	}
	if err != nil {
		return fmt.Errorf("web: export: %w", err)
	}
	_, err = fmt.Fprintf(app.Stdout, "%s in %s; begin with index.html\n", session.CountNoun(n, "page"), printable(dir))
	return err
}
