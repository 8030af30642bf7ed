package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type scrubOptions struct {
	pushed  bool
	targets []ledger.Target
	records []int
}

// newScrubCmd takes a leak out of the ledger: `git rekal scrub 01KAB3F9:12`.
func newScrubCmd(app *App) *cobra.Command {
	c := &scrubOptions{}
	cmd := &cobra.Command{
		Use: "scrub [--pushed] ID…", Short: "remove a leak for good",
		Long: `
Takes texts out of your own ledger for good. It rewrites the ledger from the first commit that holds them. The branch, its reflog, the caches
and the loose objects no longer hold them. An ID names:

SESSION::
All turns of a session, its commands, paths and title, and the records of its commands.

SESSION:TURN::
One turn (the "turn" that recall shows) and the commands after it.

SESSION:title::
Its title.

MEMORY::
A memory: its text, title and source.

CHECKPOINT::
A commit of your ledger: its subject, branch and files.

N::
A record of what a command printed, with its output, in this clone.

A unique prefix of an ID is enough, at least 4 characters. A scrubbed turn keeps its place. The agent keeps its transcript, but the text is
not captured again, and no merge brings it back. IDs of later checkpoints change. If several agents stored something at the same moment,
unreachable loose objects may be left: "git gc --prune=now" removes these.

If a remote is known to hold the text, nothing is done without --pushed. With it, the remote's branch is replaced, unless somebody moved it
meanwhile. If the remote cannot be reached, run the same scrub again later.

Other people keep what they fetched until their next "git rekal sync" takes it out of their refs and caches. Objects go with "git gc
--prune=now" ("git gc" alone keeps them for two weeks). A server keeps its own until it collects them. Copies, logs and backups keep
the text. So change a secret that was pushed.`,
		ValidArgsFunction: app.completionFor(takesID),
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.pushed, "pushed", false, "also rewrite the branch on the remote")
	return app.withOptions(cmd, c)
}

func (c *scrubOptions) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return errors.New("give the ID of a session or memory, or a checkpoint")
	}
	for _, a := range args {
		if n, ok := records.ParseID(a); ok {
			c.records = append(c.records, n)
			continue
		}
		t, err := ledger.ParseTarget(a)
		if err != nil {
			return err
		}
		c.targets = append(c.targets, t)
	}
	return nil
}

func (c *scrubOptions) run(ctx context.Context, app *App) error {
	if len(c.targets) > 0 {
		return app.withRewriteLock(ctx, func(w *workspace.Workspace,
			author workspace.Author,
		) error {
			return c.scrub(ctx, app, w, author)
		})
	}
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := curate.RequireRecords(ctx, w, c.records); err != nil {
		return err
	}
	return c.scrubRecords(ctx, app, w)
}

// withRewriteLock opens what a command needs that writes a part of the ledger anew, and keeps other such commands out
// meanwhile.
func (app *App) withRewriteLock(ctx context.Context, do func(*workspace.Workspace, workspace.Author) error) error {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	release, err := curate.BeforeScrub(ctx, w)
	if err != nil {
		return err
	}
	return errors.Join(do(w, author), release())
}

func (c *scrubOptions) scrubRecords(ctx context.Context, app *App, w *workspace.Workspace) error {
	if len(c.records) == 0 {
		return nil
	}
	n, err := curate.ScrubRecords(ctx, w, c.records)
	if err != nil {
		return err
	}
	if n == 0 {
		app.printDone("nothing of it is left among the records")
	} else {
		app.printDone("scrubbed %s", session.CountNoun(n, "record"))
	}
	return nil
}

func (c *scrubOptions) scrub(ctx context.Context, app *App, w *workspace.Workspace, author workspace.Author) error {
	if err := curate.RequireRecords(ctx, w, c.records); err != nil { // what is wrong with one ID leaves all of them alone
		return err
	}
	author = curate.AuthorWithLedgerOf(ctx, w, author, c.targets)
	out, err := curate.Scrub(ctx, w, author, c.targets, c.pushed)
	if err != nil {
		return err
	}
	// From here on the ledger is clean; each step is done although another one fails.
	said := "nothing of it is left in the ledger"
	if out.Tip != out.Old {
		said = fmt.Sprintf("scrubbed %s: rewrote %s of %s", scrubCounts(out), session.CountNoun(out.Commits, "commit"),
			shortRef(author.Ledger.Ref()))
	}
	return errors.Join(c.scrubRecords(ctx, app, w), app.finishRewrite(ctx, w, author, out, said))
}

// finishRewrite does and says what is left when a part of the ledger was written anew.
func (app *App) finishRewrite(ctx context.Context, w *workspace.Workspace, author workspace.Author, out ledger.Scrubbed,
	done string,
) error {
	holding, kept := app.replaceOnRemotes(ctx, w, author, out)
	app.notifyStep("making the caches anew")
	err := errors.Join(kept, curate.ForgetCaches(ctx, w))
	left, undone := author.Ledger.Discard(ctx, out.Former...)
	app.printDone("%s", done)
	left.Refs = slices.DeleteFunc(left.Refs, func(ref string) bool {
		// They stay until the remote is replaced.
		return slices.ContainsFunc(holding, func(remote string) bool {
			return strings.HasPrefix(ref,
				"refs/remotes/"+remote+"/")
		})
	})
	app.hintLeftovers(left, out)
	return errors.Join(err, undone)
}

// scrubCounts counts what was taken out: "1 session, 3 turns, 2 tool calls".
func scrubCounts(out ledger.Scrubbed) string {
	said := session.CountNoun(out.Sessions, "session") + ", " + session.CountNoun(out.Turns, "turn") + ", " +
		session.CountNoun(out.Calls, "tool call")
	switch out.Memories {
	case 0:
		return said
	case 1:
		return said + ", 1 memory"
	}
	return said + fmt.Sprintf(", %d memories", out.Memories)
}

// replaceOnRemotes brings the remotes that hold what was scrubbed to the new history, and tells which still
// hold it.
func (app *App) replaceOnRemotes(ctx context.Context, w *workspace.Workspace, author workspace.Author,
	out ledger.Scrubbed,
) (holding []string, err error) {
	var errs []error
	for _, remote := range out.Remotes {
		app.notifyStep("replacing the ledger on " + remote)
		to, err := w.Route(ctx, remote)
		if err == nil && remote == author.Config.Remote && !author.Config.Agreed(remote, to.All()...) {
			err = fmt.Errorf(`%q leads to another place than you agreed to: run "git rekal push" to agree`, remote)
		}
		if err != nil {
			holding, errs = append(holding, remote), append(errs, err)
			continue
		}
		if _, err := w.Send(ctx, author, remote, nil, git.Attended(app.Terminal)); err != nil {
			holding = append(holding, remote)
			errs = append(errs, fmt.Errorf(`%q still holds it (when that is mended, run the same scrub again): %w`, remote, err))
			continue
		}
		app.printDone("replaced the ledger on %s", remote)
	}
	return holding, errors.Join(errs...)
}

// hintLeftovers says what is left to do.
func (app *App) hintLeftovers(left ledger.Leftovers, out ledger.Scrubbed) {
	if len(left.Refs) > 0 {
		app.hint(fmt.Sprintf("these still lead to what was scrubbed: %s; remove them, then run the same scrub again",
			strings.Join(left.Refs, ", ")))
	}
	if left.Objects > 0 {
		app.hint(fmt.Sprintf(`%s lie in packs, unreachable: "git gc --prune=now" removes them, with everything else unreachable`, session.CountNoun(left.Objects, "object")))
	}
	if len(out.Kin) > 0 && out.Tip != out.Old {
		app.hint("sessions that it spawned, or that were forked from it, may say the same: " + strings.Join(out.Kin, ", "))
	}
	if len(out.Remotes) > 0 {
		app.hint("the text was pushed, so change the secret; others drop their copy with their next \"git rekal sync\", and the server keeps unreachable objects until it collects them")
	}
}
