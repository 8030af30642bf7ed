package curate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// scrubWait is how long a scrub waits for another one, which may be sending a rewritten ledger.
const scrubWait = 10 * time.Minute

// BeforeScrub keeps other scrubs out until it is released: one removes the objects among which another
// looks for its own.
func BeforeScrub(ctx context.Context, w *workspace.Workspace) (release func() error, err error) {
	held, err := lock.Acquire(ctx, filepath.Join(w.Repo.Layout().CommonDir, "rekal-scrub.lock"), lock.ToWrite, scrubWait)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	return held.Remove, nil
}

// Scrub takes texts out of the author's own ledger; see ledger.Ledger.Scrub. What the caches hold,
// and what the repository keeps of the former history, is left to Forget and ledger.Discard.
func Scrub(ctx context.Context, w *workspace.Workspace, a workspace.Author, targets []ledger.Target,
	pushed bool,
) (ledger.Scrubbed, error) {
	if err := refuseCheckedOut(ctx, w, a); err != nil {
		return ledger.Scrubbed{}, err
	}
	targets, err := a.Ledger.Resolve(ctx, targets)
	if err != nil {
		return ledger.Scrubbed{}, err
	}
	return scrub(ctx, w, a, ledger.Scrub{Targets: targets, Pushed: pushed})
}

// scrub does it with the records that were made of the same sessions.
func scrub(ctx context.Context, w *workspace.Workspace, a workspace.Author, s ledger.Scrub) (ledger.Scrubbed, error) {
	out, err := a.Ledger.Scrub(ctx, s)
	if err != nil {
		return out, err
	}
	return out, scrubAgentOutputs(ctx, w, s.Targets)
}

// RedactAgain brings the author's own ledger to what today's redaction makes of it: what it takes out now goes, and
// where the transcript is still there, what was taken out by mistake comes back; records are made of it again, too.
// What is left to do is as after Scrub.
func RedactAgain(ctx context.Context, w *workspace.Workspace, a workspace.Author,
	pushed bool,
) (ledger.Scrubbed, error) {
	if err := refuseCheckedOut(ctx, w, a); err != nil {
		return ledger.Scrubbed{}, err
	}
	c, err := w.Capturer(ctx, a)
	if err != nil {
		return ledger.Scrubbed{}, err
	}
	sessions, err := c.Reredact(ctx)
	if err != nil {
		return ledger.Scrubbed{}, err
	}
	out, err := a.Ledger.Scrub(ctx, ledger.Scrub{
		Redactor: c.Redactor, Pushed: pushed,
		Retell: func(e *session.Entry) (taken, back int) {
			for i := range e.Sessions {
				out, in := sessions[e.Sessions[i].ID].Apply(&e.Sessions[i])
				taken, back = taken+out, back+in
			}
			return taken, back
		},
	})
	if err != nil {
		return out, err
	}
	if err := w.Records().Renew(ctx); err != nil {
		return out, err
	}
	return out, RecordAllAgentOutputs(ctx, w)
}

// refuseCheckedOut returns an error where a ledger is checked out in a worktree, whose files would keep what is
// scrubbed.
func refuseCheckedOut(ctx context.Context, w *workspace.Workspace, a workspace.Author) error {
	dir, err := w.Repo.CheckedOut(ctx, a.Ledger.Ref())
	if err == nil && dir != "" {
		err = advice.New(fmt.Sprintf("workspace: %s is checked out in %q", a.Ledger.Ref(), dir),
			fmt.Sprintf(`run "git -C %s switch --detach" on another commit, or remove that worktree`, dir))
	}
	return err
}

// scrubAgentOutputs takes out the records that were made of the transcripts of sessions or turns. Those that are not
// made yet are made first: then none is later.
func scrubAgentOutputs(ctx context.Context, w *workspace.Workspace, targets []ledger.Target) error {
	if err := RecordAllAgentOutputs(ctx, w); err != nil {
		return err
	}
	return scrubRecordsOf(ctx, w, func(from records.From) bool {
		return slices.ContainsFunc(targets, func(t ledger.Target) bool {
			return t.Session == from.Session && !t.Title && (t.Turn == nil || *t.Turn == from.Turn)
		})
	})
}

// ForgetRecords takes out the records of the sessions that settings name as forgotten, which a forget that was stopped
// half-way left.
func ForgetRecords(ctx context.Context, w *workspace.Workspace, a workspace.Author) error {
	err := scrubRecordsOf(ctx, w, func(from records.From) bool {
		return slices.Contains(a.Config.Forgot,
			session.NativeRef{Source: from.Source, NativeID: from.Native}.String())
	})
	if err == nil {
		err = w.Records().Vacuum(ctx) // which may be where it was stopped
	}
	return err
}

func scrubRecordsOf(ctx context.Context, w *workspace.Workspace, matches func(records.From) bool) error {
	var numbers []int
	err := w.WithRecords(ctx, func(v *records.View) error {
		for _, r := range v.All {
			if r.From != nil && matches(*r.From) {
				numbers = append(numbers, r.ID)
			}
		}
		return nil
	})
	if err == nil && len(numbers) > 0 {
		_, err = ScrubRecords(ctx, w, numbers)
	}
	return err
}

// ForgetCaches makes the caches forget what a ledger does not hold any more:
// capture's is made anew, and so are the tables.
func ForgetCaches(ctx context.Context, w *workspace.Workspace) error {
	m, err := w.ReadMaterializer()
	if err != nil {
		return err
	}
	if err := errors.Join(capture.RemoveCache(ctx, w.RekalDir()),
		capture.UpdateCache(ctx, w.Repo, w.RekalDir())); err != nil {
		return w.AsNotInitialised(err)
	}
	if err := m.ForgetPublic(); err != nil {
		return w.AsNotInitialised(err)
	}
	if err := m.CatchUp(ctx); err != nil {
		return w.AsNotInitialised(err)
	}
	// behind the index: what is made from now on is made of the new one
	return w.AsNotInitialised(materialize.ForgetSQL(ctx, w.RekalDir()))
}
