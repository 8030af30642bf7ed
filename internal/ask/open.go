package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Moment is the index, open to be asked: as it is now, or was at a past moment. What is purged today is hidden in both.
// Close it, unless the process ends, which is faster.
type Moment struct {
	Past
	*materialize.Reader
	index      *materialize.Materializer
	w          *workspace.Workspace
	reader     gate.Reader
	sent       bool                          // see Opening
	unverified []string                      // is barred because nobody known signed it; nil: nothing
	private    []string                      // is barred because it is private; nil: nothing
	records    func() (*records.View, error) // waits for them; nil where they are not asked for
	release    func() error                  // lets what is done in the background go on; nil: nothing was held
}

// Opening says what is opened.
type Opening struct {
	At       string                // names a past moment; "" for the commit of a ledger that is checked out, else for now
	Records  bool                  // also what commands printed, for Recall
	Question string                // will be asked: its vector is made meanwhile; "" for none
	Reader   gate.Reader           // who reads the answer
	Sent     bool                  // what was sent is as clones have it, though the settings call it private since
	Progress func(done, total int) // of bringing the index up, in commits of ledgers; nil: nobody looks
}

// Open brings the index up to the ledgers, the records up to what agents' shells printed, and opens them. It is the
// only step of a question that writes: caches and records, and the copies of ledgers that a fetch brought.
func Open(ctx context.Context, w *workspace.Workspace, o Opening) (*Moment, error) {
	if o.Question != "" && o.At == "" {
		w.PrepareVector(o.Question)
	}
	m, err := w.ReadMaterializer()
	if err != nil {
		return nil, err
	}
	m.Progress = o.Progress
	past, err := asOf(ctx, w, m, o.At)
	if err != nil {
		return nil, err
	}
	out := &Moment{Past: past, index: m, w: w, reader: o.Reader, sent: o.Sent, release: w.HoldBackgroundWork(ctx)}
	if o.Records && past.Text == "" {
		out.records = beginRecords(ctx, w)
	}
	out.Reader, err = past.open(ctx, m)
	if err != nil {
		return nil, errors.Join(err, out.closeRecords(), out.release())
	}
	w.StartBackgroundWorkIfFetched()
	return out, out.barForbidden(ctx, o.Reader)
}

// barForbidden leaves out what a reader may not see, and marks what the settings name as private: the index itself
// knows that of what was never sent.
func (m *Moment) barForbidden(ctx context.Context, reader gate.Reader) error {
	conf, err := m.w.Settings()
	if err != nil {
		return err
	}
	if !m.sent {
		if err := m.MarkPrivate(ctx, conf.Private); err != nil {
			return err
		}
	}
	rules := gate.RulesFor(reader)
	if rules.Public || m.w.Public {
		if m.private, err = db.PrivateIDs(ctx, m.DB); err == nil {
			err = m.Bar(ctx, m.private)
		}
		if err != nil {
			return err
		}
	}
	if !conf.OnlyVerified || !rules.Verified {
		return nil
	}
	return m.barUnverified(ctx)
}

// barUnverified leaves out what nobody known signed.
func (m *Moment) barUnverified(ctx context.Context) (err error) {
	if m.unverified, err = m.listUnverified(ctx); err != nil {
		return err
	}
	return m.Bar(ctx, m.unverified)
}

// listUnverified are the sessions and memories that no key of their author is known to have signed, in order. It is
// today that signatures of a past moment are known.
func (m *Moment) listUnverified(ctx context.Context) (ids []string, err error) {
	if m.Text == "" {
		ids, err = m.DB.Verified(ctx)
	} else {
		err = m.w.WithIndex(ctx, func(today *materialize.Reader) (err error) {
			ids, err = today.Verified(ctx)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return m.DB.AllExcept(ctx, ids)
}

// errUnverified is why something is not shown that is neither purged nor scrubbed.
var errUnverified = advice.New("no key of its author is known to have signed it",
	`"git config rekal.require" says whether agents are told of it`)

// ErrPrivate is why something is not shown to whom it may be given away.
var ErrPrivate = errors.New("it is private, and not given away")

// explainLeftOut says why something is not shown: what rekal.require leaves out is not purged, nor is what is private.
func (m *Moment) explainLeftOut(err error) error {
	purged := (*PurgedError)(nil)
	switch {
	case !errors.As(err, &purged):
		return err
	case slices.Contains(m.unverified, purged.ID):
		return fmt.Errorf("%q: %w", purged.ID, errUnverified)
	case slices.Contains(m.private, purged.ID):
		return fmt.Errorf("%q: %w", purged.ID, ErrPrivate)
	}
	return err
}

// Close gives back what Open opened.
func (m *Moment) Close() error {
	err := errors.Join(m.closeRecords(), m.Reader.Close())
	if m.release == nil {
		return err
	}
	return errors.Join(err, m.release())
}

func (m *Moment) closeRecords() error {
	if m.records == nil {
		return nil
	}
	v, err := m.records()
	if v == nil || err != nil {
		return nil //nolint:nilerr // who asked for them was told
	}
	return v.Close()
}

// beginRecords reads what agents' shells printed since the last time, and opens the index of records, beside all else.
// Who asks for them waits, and stores what was new: that needs the repository, which belongs to one goroutine.
func beginRecords(ctx context.Context, w *workspace.Workspace) func() (*records.View, error) {
	var (
		view     *records.View
		heard    curate.Overheard
		warnings []error
		err      error
	)
	open := func() {
		view, err = w.Records().OpenIndexed(ctx, func(warning error) { warnings = append(warnings, warning) })
	}
	_, _ = w.Settings() // they are read from the repository
	var beside sync.WaitGroup
	beside.Go(func() {
		defer func() {
			if panicked := recover(); panicked != nil { // nobody else could catch it
				err = fmt.Errorf("records: internal error: %v", panicked)
			}
		}()
		var unheard error
		if heard, unheard = curate.Overhear(ctx, w, curate.AtRecall); unheard != nil {
			warnings = append(warnings, unheard)
		}
		if heard.IsNothing() {
			open()
		}
	})
	return sync.OnceValues(func() (*records.View, error) {
		beside.Wait()
		if !heard.IsNothing() {
			if unstored := heard.Store(ctx, w); unstored != nil {
				warnings = append(warnings, unstored)
			}
			open()
		}
		for _, warning := range warnings {
			w.Warn(warning)
		}
		return view, err
	})
}

// glanceTime is how long OpenExisting waits for the index to be brought up to date; after that it opens the index as it
// is.
const glanceTime = 80 * time.Millisecond

// OpenExisting opens today's index for one answer of a process that must end soon. Where there is none, it makes none:
// that may take minutes.
func OpenExisting(ctx context.Context, w *workspace.Workspace) (*Moment, error) {
	m := w.Materializer(func(error) {})
	old, err := m.OpenExisting(ctx)
	if err != nil {
		return nil, err
	}
	at := &Moment{index: m, Reader: old, w: w}
	if !m.IsCurrent(old) {
		soon, cancel := context.WithTimeout(ctx, glanceTime)
		defer cancel()
		if now, err := m.Open(soon); err == nil {
			if at.Reader, err = now, old.Close(); err != nil {
				return at, err
			}
		}
	}
	return at, at.barForbidden(ctx, gate.Agent)
}

// Rebuild makes the caches anew from the ledgers. MakeTables makes those for SQL.
func Rebuild(ctx context.Context, w *workspace.Workspace, progress func(done, total int),
	makeTables func(*Moment) error,
) error {
	m, err := w.ReadMaterializer()
	if err != nil {
		return err
	}
	m.Progress = progress
	if err := cmp.Or(m.ForgetPublic(), m.Rebuild(ctx)); err != nil {
		return err
	}
	r, err := m.Open(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(makeTables(&Moment{index: m, Reader: r, w: w}), r.Close()); err != nil {
		return err
	}
	return curate.RecordAllAgentOutputs(ctx, w)
}

// SQLDir is where the databases for SQL lie: those of today, or for a past moment a new folder that is to be removed.
func (m *Moment) SQLDir() (dir string, remove bool, err error) {
	if m.Text == "" {
		return m.index.Dir, false, nil
	}
	dir, err = os.MkdirTemp(m.index.Dir, fmt.Sprintf("%s%d.*.at", materialize.SQLSpill, os.Getpid()))
	return dir, true, err
}

// codeCommit is the code commit of a past moment; "" for what stands in the worktree now.
func (m *Moment) codeCommit(ctx context.Context) (git.OID, error) {
	if m.Text == "" {
		return "", nil
	}
	commit, err := recall.CodeOf(ctx, m.DB, m.w.Repo, m.Tip)
	if err == nil && commit == "" {
		err = fmt.Errorf("the code of %q: %w", m.Text, git.ErrNotFound)
	}
	return commit, err
}

// PurgedIDs are the sessions and memories that can be restored, in order.
func (m *Moment) PurgedIDs(ctx context.Context) ([]string, error) { return db.PurgedIDs(ctx, m.DB) }
