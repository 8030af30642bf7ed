package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type signOptions struct {
	all     bool
	commits []string // beginnings of OIDs
}

// newSignCmd signs what hooks could not: `git rekal sign`.
func newSignCmd(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sign [--all | COMMIT…]", Short: "sign your ledger",
		Long: `
Signs the commits of your own ledger that are not signed yet, by one commit that builds on them. "git log --show-signature" shows it.

Where you sign commits (commit.gpgSign), the hooks sign the ledger with the same key: gpg.format, user.signingKey. They never ask for a
passphrase. If the key can't be used without asking, the commit is written unsigned, and "git rekal doctor" says so. rekal.sign true or
false decides for the ledger alone.

The signature covers all that the branch holds. It lists that by committer, and covers only what this clone made, as the reflog of the branch
tells. Commits that came from a remote may be of your other machine, or of somebody else: look at them, and name them, or say --all.

  git rekal sign
  git rekal sign 3f2a91bc`,
	}
	c := &signOptions{}
	cmd.Flags().BoolVar(&c.all, "all", false, "also cover commits that this clone did not make")
	return app.withOptions(cmd, c)
}

func (c *signOptions) validate(_ *pflag.FlagSet, args []string) error {
	for _, id := range args {
		if len(id) < 7 || strings.Trim(id, "0123456789abcdef") != "" {
			return fmt.Errorf("%q: give at least 7 digits of a commit of your ledger", id)
		}
	}
	if c.commits = args; c.all && len(args) > 0 {
		return errors.New("--all goes without commits")
	}
	return nil
}

// errNoSigning is a sign where nothing says that there is to be a signature.
var errNoSigning = errors.New(`signing is off: "git config rekal.sign true" and user.signingKey, or commit.gpgSign, switch it on`)

func (c *signOptions) run(ctx context.Context, app *App) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	author, err := w.Author(ctx)
	switch {
	case err != nil:
		return err
	case author.Signer == nil:
		return errNoSigning
	}
	author.Signer.Quiet, author.Signer.Stderr = false, app.Stderr
	covered, err := author.Ledger.Sign(ctx, func(id git.OID) bool {
		return c.all || slices.ContainsFunc(c.commits,
			func(begin string) bool { return strings.HasPrefix(string(id), begin) })
	})
	if strange := (*ledger.StrangeError)(nil); errors.As(err, &strange) {
		for _, u := range strange.Commits {
			app.printDone("%.12s %s: %s", u.OID, app.formatTime(u.Committer.When),
				printable(u.Committer.Name+" <"+u.Committer.Email+">"))
		}
		return advice.New(fmt.Sprintf("%s of your ledger came from elsewhere, so nothing was signed",
			session.CountNoun(len(strange.Commits), "unsigned commit")),
			`look at each with "git show"; "git rekal sign COMMIT…" covers those that you name, "git rekal sign --all" all`)
	}
	if errors.Is(err, ledger.ErrUnsigned) {
		return errors.Join(author.Signer.Failure(), errors.New("nothing was signed"))
	}
	if err == nil {
		by := map[string]int{}
		for _, u := range covered {
			by[u.Committer.Name+" <"+u.Committer.Email+">"]++
		}
		for _, who := range slices.Sorted(maps.Keys(by)) {
			app.printDone("%s by %s", session.CountNoun(by[who], "commit"), printable(who))
		}
		app.printDone("signed %s of %s", session.CountNoun(len(covered), "commit"), printable(shortRef(author.Ledger.Ref())))
		err = app.catchUp(ctx, w, author) // so that --verified finds it
	}
	return err
}
