// Package materialize turns all ledgers into the index, from which recall answers.
//
// In: the ledger branches of a repository. Out: one file below .git/rekal/ with exactly what the ledgers say at the
// commits in its cursor. One process writes at a time (lock.writer). Readers need no lock.
//
// Promises: deleting the file loses nothing; an index that grew commit by commit, in any order of ledgers, has the same
// rows and scores as a rebuilt one; a damaged, half-written or outdated file is made anew, with a warning; a reader
// never waits while an older state can answer; nothing new means nothing written. It never writes to git.
package materialize

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// The files below .git/rekal/. One that is being made ends in fresh.
const (
	indexFile  = "recall.db"
	fresh      = ".new"
	writerFile = "lock.writer"
)

// Materializer works on the index of one repository.
type Materializer struct {
	Repo *git.Repo
	Dir  string // .git/rekal
	Now  func() time.Time
	Warn func(error) // what was skipped, set aside or could not be brought up to date

	Ignore func() (ledger.Ignore, error) // ledgers that are not read; nil: none. It is asked where there are others'
	Limits Limits                        // the zero value: defaultLimits

	public bool // see WithoutPrivate

	Progress func(done, total int) // how many commits of ledgers were applied; it begins with none; nil: nobody looks
}

// CatchUp applies what the ledgers say beyond the index, of each of other people's at most a step. A ledger that
// could not be read the last time is tried again.
func (m *Materializer) CatchUp(ctx context.Context) error { return m.catchUp(ctx, asked) }

// CatchUpBriefly is CatchUp for a command whose user waits: it leaves most of what other people's ledgers add to a
// later CatchUp.
func (m *Materializer) CatchUpBriefly(ctx context.Context) error { return m.catchUp(ctx, reading) }

func (m *Materializer) catchUp(ctx context.Context, effort effort) error {
	return m.asSoleWriter(ctx, func(heads []ledger.Head) error {
		err := m.advance(ctx, heads, nil, effort)
		if errors.Is(err, errMoved) { // somebody deleted it meanwhile
			err = m.rebuild(ctx, heads, nil, effort)
		}
		return err
	})
}

// Rebuild makes the index anew from the ledgers, of which it reads all that is within the bounds.
func (m *Materializer) Rebuild(ctx context.Context) error {
	return m.asSoleWriter(ctx, func(heads []ledger.Head) error { return m.rebuild(ctx, heads, nil, everything) })
}

// patience is how long one waits for another process where there is nothing else to do: the
// rebuild of a large team's ledgers takes a minute or two.
const patience = 10 * time.Minute

// asSoleWriter does something while no other process works on the index.
func (m *Materializer) asSoleWriter(ctx context.Context, do func([]ledger.Head) error) error {
	return m.withWriteLock(ctx, patience, func() error { return m.withHeads(do) })
}

// withHeads does something with the ledgers as they are, and again where one of them moved meanwhile
// and what it was is gone.
func (m *Materializer) withHeads(do func([]ledger.Head) error) error {
	for moves := 0; ; moves++ {
		heads, err := m.ledgersRead()
		if err == nil {
			err = do(heads)
		}
		if moves == maxMoves || !m.isLedgerMoved(err, heads...) {
			return err
		}
	}
}

// ledgersRead are the ledgers that are read.
func (m *Materializer) ledgersRead() ([]ledger.Head, error) {
	heads, err := ledger.Heads(m.Repo)
	if err != nil || m.Ignore == nil || !slices.ContainsFunc(heads, func(h ledger.Head) bool { return h.Remote != "" }) {
		return heads, err
	}
	ignore, err := m.Ignore()
	return slices.DeleteFunc(heads, ignore.Has), err
}

// isLedgerMoved reports whether an error says no more than that a ledger is not what it was any more: a scrub
// removes what it has taken out while others read it.
func (m *Materializer) isLedgerMoved(err error, heads ...ledger.Head) bool {
	if !errors.Is(err, git.ErrNotFound) {
		return false
	}
	now, err := m.ledgersRead()
	return err == nil && slices.ContainsFunc(heads, func(h ledger.Head) bool { return !slices.Contains(now, h) })
}

func (m *Materializer) filePath(file string) string { return filepath.Join(m.Dir, file) }
