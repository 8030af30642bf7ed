package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type syncOptions struct {
	remoteArg
	unbounded bool
	dryRun    bool
}

// newSyncCmd shares with the team, both ways: `git rekal sync`.
func newSyncCmd(app *App) *cobra.Command {
	c := &syncOptions{}
	cmd := &cobra.Command{
		Use: "sync [--unbounded] [--dry-run|--yes] [REMOTE]", Short: "exchange with the team",
		Long: `
Captures what is new, fetches every ledger of the remote, sends yours, and updates the index. "git rekal help push" says which remote. A
ledger that was rewritten on the remote is merged, so you lose nothing.

What the remote holds of your own ledger, and you did not make here, is read within bounds: anybody who may push there can add to it.
--unbounded takes in all of it.

Without a network it does what it can, says what failed, and exits with 0. Without any remote it captures and indexes, and fails.`,
		ValidArgsFunction: app.completionFor(takesRemote),
	}
	fs := cmd.Flags()
	c.addFlags(fs)
	fs.BoolVar(&c.unbounded, "unbounded", false, "take in all that the remote holds of your own ledger")
	fs.BoolVar(&c.dryRun, "dry-run", false,
		"only say what would be captured, and sent where: sessions, their first prompts, sizes")
	return app.withOptions(cmd, c)
}

func (c *syncOptions) run(ctx context.Context, app *App) error {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	app.needFullToEmbed(w)
	author.Ledger.Unbounded = c.unbounded
	remote, noRemote := w.Remote(author, c.remote)
	if noRemote != nil && c.remote != "" {
		return noRemote
	}
	if c.dryRun {
		if noRemote != nil {
			return noRemote
		}
		to, err := w.Route(ctx, remote)
		if err == nil {
			fmt.Fprintf(app.Stdout, "would fetch from %s\n", routeText(remote, to.Fetch))
			err = app.printOutgoing(ctx, author, remote, to)
		}
		if err != nil {
			return err
		}
		fmt.Fprint(app.Stdout, "\nbefore that, a sync captures what is new, and sends it, too:\n")
		return new(checkpointOptions).preview(ctx, app, w, author)
	}
	if err := app.captureNow(ctx, w, author, session.ViaSync); err != nil {
		return err
	}
	app.hintNotesStay(ctx, w, author)
	if err := app.mendFutureDate(ctx, author); err != nil {
		return err
	}
	unshared := noRemote
	if unshared == nil {
		unshared = c.shareLedgers(ctx, app, w, author, remote)
	}
	return errors.Join(unshared, capture.UpdateCache(ctx, w.Repo, w.RekalDir()), app.catchUp(ctx, w, author),
		app.warnForeignSignatures(ctx, w, author))
}

// hintNotesStay says that notes of agents are not sent, where nobody has decided that.
func (app *App) hintNotesStay(ctx context.Context, w *workspace.Workspace, author workspace.Author) {
	if author.Config.NotesSent || author.Config.NotesOff {
		return
	}
	if n := capture.NotesHere(ctx, w.RekalDir()); n > 0 {
		app.hint(fmt.Sprintf("%s of agents' notes: %s", session.CountNoun(n, "section"), notesStay))
	}
}

// warnForeignSignatures says that somebody else's key signed what is in one's own ledger.
func (app *App) warnForeignSignatures(ctx context.Context, w *workspace.Workspace, author workspace.Author) error {
	foreign, err := w.ForeignCommits(ctx, author)
	if err == nil && len(foreign) > 0 {
		app.notify(fmt.Sprintf(`your ledger holds %s that your key did not sign; the last is %.12s, %s: "git rekal doctor" lists them`,
			session.CountNoun(len(foreign), "commit"), foreign[0].OID, printable(foreign[0].String())))
	}
	if err == nil && author.Signer != nil {
		err = app.warnStrangeCommits(ctx, author)
	}
	return err
}

// warnStrangeCommits says that unsigned commits came into one's own ledger, which one signs.
func (app *App) warnStrangeCommits(ctx context.Context, author workspace.Author) error {
	all, err := author.Ledger.Unsigned(ctx)
	all = slices.DeleteFunc(all, func(u ledger.Unsigned) bool { return u.Here })
	if err == nil && len(all) > 0 {
		last := all[len(all)-1]
		app.notify(fmt.Sprintf(`your ledger holds %s that nobody signed and this clone did not make; the last is %.12s of %s: "git rekal sign" lists them`,
			session.CountNoun(len(all), "commit"), last.OID, printable(last.Committer.Name+" <"+last.Committer.Email+">")))
	}
	return err
}

// shareLedgers fetches first: then what is sent is already merged. Where neither works, there is no
// network, and nothing is lost: the next time brings it.
func (c *syncOptions) shareLedgers(ctx context.Context, app *App, w *workspace.Workspace, author workspace.Author,
	remote string,
) error {
	to, err := w.Route(ctx, remote)
	if err != nil {
		return err
	}
	agrees := c.agreeCommand("sync", remote)
	if conf := author.Config; agrees != "" && remote == conf.Remote && !conf.Agreed(remote, to.Fetch) {
		if ok, err := app.confirmFetch(ctx, remote, to, agrees); !ok || err != nil {
			return err
		}
		agrees = "" // to all of them
	}
	app.notifyStep("fetching the ledgers of " + routeText(remote, to.Fetch))
	before, _ := ledger.Fetched(w.Repo, remote) // what can't be read, Adopt says
	unfetched := ledger.Fetch(ctx, w.Repo, remote, git.Attended(app.Terminal))
	if ctx.Err() != nil {
		return unfetched
	}
	taken, err := author.Ledger.Adopt(ctx, remote) // also of what was fetched before
	for _, refused := range taken.Refused {
		over, foreign := (*ledger.BoundsError)(nil), (*ledger.ForeignError)(nil)
		// else push says it, too
		if own := errors.As(refused, &over) && over.Own || errors.As(refused, &foreign) && foreign.Own; !own {
			app.notify(explain(refused))
		}
	}
	w.NoteSynced(ctx, remote)
	if err != nil {
		return err
	}
	if err := app.reportScrubbedLedgers(ctx, w, taken.Scrubbed); err != nil {
		return err
	}
	// a scrub changes a history rightly
	if after, err := ledger.Fetched(w.Repo, remote); err == nil && len(taken.Scrubbed) == 0 {
		for _, setback := range ledger.RemoteSetbacks(w.Repo, before, after) {
			app.notify(fmt.Sprintf("%s serves %s: what was seen is kept", remote, printable(setback)))
		}
	}
	if err := app.mendFutureDate(ctx, author); err != nil {
		return err
	}
	if taken.Ledgers > 0 {
		app.printDone("fetched from %s: %s with something new (%s)", remote, session.CountNoun(taken.Ledgers, "ledger"),
			printable(to.Fetch))
	}
	if author.Config.Remote == "" && unfetched == nil {
		app.hintMirrored(ctx, w, remote)
	}
	unsent := app.push(ctx, w, author, remote, to, agrees)
	switch {
	case unfetched != nil && unsent != nil && ctx.Err() == nil:
		app.Warn(fmt.Errorf("nothing was fetched or sent (a later sync does it): %w", unfetched))
		return nil
	case unfetched != nil:
		app.notify(fmt.Sprintf(`not everything was fetched: %v: if a branch is in the way, run "git remote prune %s"`,
			unfetched, remote))
	}
	return unsent
}

// mendFutureDate mends a ledger whose newest commit is dated in the future.
func (app *App) mendFutureDate(ctx context.Context, author workspace.Author) error {
	ahead, err := author.Ledger.MendFutureDate(ctx, app.Now())
	if err == nil && !ahead.IsZero() {
		app.printDone("the newest commit of your ledger was dated %s: one with today's date follows it now, so that others read it; check the clocks of your machines",
			ahead.Format(time.DateOnly))
	}
	return err
}

// hintMirrored tells, with the first sync, that a remote holds ledgers where no sync looks for them.
func (app *App) hintMirrored(ctx context.Context, w *workspace.Workspace, remote string) {
	people, err := ledger.MirroredAddresses(ctx, w.Repo, remote, git.Attended(app.Terminal))
	if err != nil || len(people) == 0 {
		return // the fetch said what is wrong with the network
	}
	app.hint(fmt.Sprintf(`%s was pushed with --mirror, and holds %s of others as that clone knew them, which no sync fetches (%s); "git fetch %s 'refs/rekal/*:refs/rekal/*'" gets them`,
		remote, session.CountNoun(len(people), "ledger"), firstFew(people), remote))
}

// firstFew are the first of some names, and how many more there are.
func firstFew(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// reportScrubbedLedgers tells of ledgers whose authors scrubbed something that was here, and takes it out of the
// caches. Of one's own it says how to get it back: who may write to the remote can scrub it.
func (app *App) reportScrubbedLedgers(ctx context.Context, w *workspace.Workspace, scrubbed []ledger.Dropped) error {
	if len(scrubbed) == 0 {
		return nil
	}
	for _, d := range scrubbed {
		app.printDone("its author scrubbed something, which is gone here, too: %s", shortRef(d.Ref))
		if d.Own {
			app.hint(d.RescueCommand())
		}
	}
	app.hint(`git still has the objects: "git gc --prune=now" removes them, with everything else unreachable`)
	if w.CheckReady() != nil {
		return nil // there are no caches yet
	}
	return curate.ForgetCaches(ctx, w)
}
