package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type signOptions struct{}

// newSignCmd signs what hooks could not: `git rekal sign`.
func newSignCmd(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sign", Short: "sign your ledger",
		Long: `
Signs the commits of your own ledger that are not signed yet, by one commit that builds on them. "git log --show-signature" shows it.

Where you sign commits (commit.gpgSign), the hooks sign the ledger with the same key: gpg.format, user.signingKey. They never ask for a
passphrase. If the key can't be used without asking, the commit is written unsigned, and "git rekal doctor" says so. rekal.sign true or
false decides for the ledger alone.

What the signature covers is all that the branch holds: also what somebody else pushed to it. Look first where that may have happened.`,
	}
	return app.withOptions(cmd, &signOptions{})
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
	n, err := author.Ledger.Sign(ctx)
	if errors.Is(err, ledger.ErrUnsigned) {
		return errors.Join(author.Signer.Failure(), errors.New("nothing was signed"))
	}
	if err == nil {
		app.printDone("signed %s of %s", session.CountNoun(n, "commit"), printable(shortRef(author.Ledger.Ref())))
	}
	return err
}
