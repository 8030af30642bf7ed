package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type pushOptions struct {
	remoteArg
	dryRun bool
}

// newPushCmd sends the ledger: `git rekal push origin`.
func newPushCmd(app *App) *cobra.Command {
	c := &pushOptions{}
	cmd := &cobra.Command{
		Use: "push [--dry-run|--yes] [REMOTE]", Short: "send your ledger",
		Long: `
Sends the branch rekal/<email>, and nothing else, through git push. If the remote holds more of the branch, from another machine, it is fetched and
merged first. A push is forced only to remove scrubbed text. It prints nothing if there is nothing to send.

The remote is REMOTE, else rekal.remote, else that of the branch's upstream, else origin. The first push sets rekal.remote. From then on
"git push" sends the ledger there, too, unless rekal.autopush is false. Before the first one, a person on a terminal is shown what would go, and
asked. Where nobody can be asked (a script, an agent), nothing is sent without --yes.`,
		ValidArgsFunction: app.completionFor(takesRemote),
	}
	c.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false,
		"only say what would be sent where: sessions, their first prompts, sizes")
	return app.withOptions(cmd, c)
}

// remoteArg is what push and sync take: nothing, or the name of a remote.
type remoteArg struct {
	remote string
	yes    bool
}

func (c *remoteArg) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&c.yes, "yes", false, "agree to send to the remote, and ask nobody")
}

// agreeCommand is the command that agrees to a remote; "" for this one.
func (c *remoteArg) agreeCommand(command, remote string) string {
	if c.yes {
		return ""
	}
	return fmt.Sprintf("git rekal %s --yes %s", command, remote)
}

func (c *remoteArg) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case args[0] == "":
		return errors.New("the remote's name is empty")
	}
	c.remote = args[0]
	return noArgs(args[1:])
}

func (c *pushOptions) run(ctx context.Context, app *App) error {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	remote, err := w.Remote(author, c.remote)
	if err != nil {
		return err
	}
	to, err := w.Route(ctx, remote)
	if err != nil {
		return err
	}
	if c.dryRun {
		return app.printOutgoing(ctx, author, remote, to)
	}
	app.notifyPaused(author.Config)
	err = app.push(ctx, w, author, remote, to, c.agreeCommand("push", remote))
	if w.CheckReady() == nil { // else there is no cache
		err = errors.Join(err, capture.UpdateCache(ctx, w.Repo, w.RekalDir()))
	}
	return err
}

// push sends the ledger, says so, and notes that the user agreed to this remote. They agree by a command, or by their
// answer; "" if they did.
func (app *App) push(ctx context.Context, w *workspace.Workspace, author workspace.Author, remote string,
	to workspace.Route, agrees string,
) error {
	if agrees != "" && !author.Config.Agreed(remote, to.All()...) {
		if send, err := app.confirmFirstSend(ctx, author, remote, to, agrees); !send || err != nil {
			return err
		}
	}
	if all, _ := author.Ledger.IsSent(remote); !all {
		app.notifyStep("sending the ledger to " + routeText(remote, to.Push...))
	}
	sent, err := w.Send(ctx, author, remote, nil, git.Attended(app.Terminal))
	if err := errors.Join(err, app.reportScrubbedLedgers(ctx, w, sent.Scrubbed)); err != nil {
		return err
	}
	if sent.Commits > 0 {
		app.printDone("sent to %s: %s of %s (%s)", remote, session.CountNoun(sent.Commits, "commit"),
			printable(shortRef(author.Ledger.Ref())), printable(strings.Join(to.Push, ", ")))
	}
	return app.storeAgreement(ctx, w, author, remote, to)
}

// storeAgreement notes that the user shares with a remote, and with what its name stands for now, where
// that is news.
func (app *App) storeAgreement(ctx context.Context, w *workspace.Workspace, author workspace.Author, remote string,
	to workspace.Route,
) error {
	conf := author.Config
	if conf.Remote != "" && conf.Remote != remote && slices.Contains(conf.Remotes, conf.Remote) {
		return nil // this once
	}
	agreed := conf.Agreed(remote, to.All()...)
	if agreed && len(conf.Addresses) > 0 {
		return nil
	}
	if err := w.StoreAgreement(ctx, remote, to.All()); err != nil {
		return err
	}
	if !agreed {
		app.hint(fmt.Sprintf(`from now on "git push" sends the ledger to %s, too; "git config rekal.autopush false" stops that`, remote))
	}
	return nil
}

// notifyStep says on a terminal what is going on.
func (app *App) notifyStep(step string) {
	if app.Terminal {
		app.notify(step + "…")
	}
}
