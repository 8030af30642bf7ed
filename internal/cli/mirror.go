package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type mirrorOptions struct {
	urls []string // to add; none: sync
}

// newMirrorCmd keeps the ledgers of many remotes side by side: `git rekal mirror add https://example.com/acme/shop`.
func newMirrorCmd(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mirror add URL…\nmirror sync", Short: "ledgers of many remotes",
		Long: `
Keeps the ledgers of many remotes in the current folder: for each a bare repository with the branches rekal/*, no code, and an index. A build server
or an internal search page needs no more.

"mirror add" makes a repository for each URL, named by host and path, and fetches it. "mirror sync" fetches all that are in the folder, and brings
their indexes up. Nothing is ever sent. A ledger that is deleted on its remote stays; what is scrubbed there goes.

A group asks all of them: git config --global --add rekal.group.all '/srv/mirrors/*.git'

  git rekal mirror add https://example.com/acme/shop.git
  git rekal mirror sync
  git rekal export --parquet /srv/lake --bare-mirrors .`,
	}
	return app.withOptions(cmd, &mirrorOptions{})
}

func (c *mirrorOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case len(args) > 1 && args[0] == "add":
		c.urls = args[1:]
		return nil
	case len(args) == 1 && args[0] == "sync":
		return nil
	}
	return errors.New(`write "mirror add URL" or "mirror sync"`)
}

// mirrorRemote is the name of a mirror's only remote.
const mirrorRemote = "origin"

func (c *mirrorOptions) run(ctx context.Context, app *App) error {
	for _, url := range c.urls {
		if err := addMirror(ctx, app, url); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	fetched := 0
	err := app.withSelection(ctx, group.Which{Mirrors: app.Dir}, func(g *group.Group) error {
		err := g.Each(ctx, func(w *workspace.Workspace) error {
			n, err := syncMirror(ctx, app, w)
			mu.Lock()
			defer mu.Unlock()
			fetched += n
			return err
		})
		return errors.Join(err, leftOutError(g))
	})
	app.printDone("fetched %s with something new", session.CountNoun(fetched, "ledger"))
	return err
}

// addMirror makes a repository that has everything but its ledgers.
func addMirror(ctx context.Context, app *App, url string) (err error) {
	if _, err := os.Stat(app.Path(url)); err == nil { // git would read a path from the new folder
		url = app.Path(url)
	}
	place := config.PlaceOf(url) // without a password, which no message says
	if strings.HasPrefix(url, "-") {
		return fmt.Errorf("mirror %q: no address begins so", place)
	}
	name := config.PlaceName(place) + ".git"
	// a process that dies leaves the second, which the next one makes anew
	dir, fresh := app.Path(name), app.Path("."+name+".new")
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("mirror %q: %s is there already", place, name)
	}
	if err := errors.Join(os.RemoveAll(fresh), os.Mkdir(fresh, 0o700)); err != nil {
		return fmt.Errorf("mirror %q: %w", place, err)
	}
	repo, err := git.Init(ctx, fresh)
	if err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	defer repo.Close()
	settings := [][2]string{
		{"remote." + mirrorRemote + ".url", url},
		{"user.name", "mirror"},
		{"user.email", "mirror@git-rekal.invalid"}, // so that no ledger is its own
	}
	for _, setting := range settings {
		err = errors.Join(err, repo.SetConfig(ctx, setting[0], setting[1]))
	}
	long, failed := repo.SHA256At(ctx, mirrorRemote, git.Attended(app.Terminal)) // by its name: messages say no address
	if long {
		err = errors.Join(err, repo.SetConfig(ctx, "core.repositoryformatversion", "1"),
			repo.SetConfig(ctx, "extensions.objectformat", "sha256"))
	}
	if failed != nil {
		err = errors.Join(err, fmt.Errorf("mirror %q: %w", place, failed))
	}
	err = errors.Join(err, setup.MarkInstalled(filepath.Join(fresh, "rekal")))
	if err == nil {
		err = os.Rename(fresh, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	app.printDone("made %s", strings.TrimSuffix(name, "/"))
	return nil
}

// syncMirror brings a mirror up to its remote, and tells how many ledgers had something new.
func syncMirror(ctx context.Context, app *App, w *workspace.Workspace) (int, error) {
	if err := ledger.Fetch(ctx, w.Repo, mirrorRemote, git.Attended(app.Terminal)); err != nil {
		return 0, err
	}
	author, err := w.Author(ctx)
	if err != nil {
		return 0, err
	}
	taken, err := author.Ledger.Adopt(ctx, mirrorRemote)
	for _, refused := range taken.Refused {
		w.Warn(refused)
	}
	if err != nil {
		return 0, err
	}
	w.NoteSynced(ctx, mirrorRemote)
	return taken.Ledgers, w.CatchUp(ctx, nil)
}
