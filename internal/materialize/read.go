package materialize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
)

// Readers and writers of the index. One process writes at a time: it holds `.git/rekal/lock.writer`, which the system
// drops when the process dies. Readers take no lock, and see one state of the file from their first question to their
// last. A reader that is behind takes the writer's lock if it is free. If not, or where nothing can be written, it adds
// what is missing to a copy in memory, as long as that is little (apartBytes, apartIndex). Beyond that it answers from
// the state before, with one line. It waits only where there is no state at all.

// Reader is the index, open for reading in one state.
type Reader struct {
	*db.DB
	cursor cursor
}

// Open brings the index up to the ledgers, and opens it for reading.
// maxMoves bounds how often one looks again because somebody else changed the index or the ledgers.
const maxMoves = 50

// errMoved says that somebody else changed the index meanwhile.
var errMoved = errors.New("materialize: the index moved")

// Open opens the index for reading, brought up to the ledgers. Mostly it is current. Otherwise Open brings it up first.
// While somebody else writes, it adds what is missing for itself; where that is too much, it answers from the state
// that there is, and waits only where there is none.
func (m *Materializer) Open(ctx context.Context) (*Reader, error) {
	for moves := 0; ; moves++ {
		r, err := m.OpenExisting(ctx)
		heads, failed := m.ledgersRead()
		if failed != nil {
			if err == nil {
				failed = errors.Join(failed, r.Close())
			}
			return nil, failed
		}
		if err == nil && r.cursor.isCurrent(heads) {
			return r, nil
		}
		wait, have := time.Duration(0), cursor(nil)
		switch {
		case err == nil:
			have = r.cursor
			err = r.Close() // what is read can't be written back from the log
		case rebuildable(err):
			wait, err = patience, nil
		}
		if err != nil {
			return nil, err
		}
		err = m.withWriteLock(ctx, wait, func() error { return m.advance(ctx, heads, have, reading) })
		if (errors.Is(err, errMoved) || m.isLedgerMoved(err, heads...)) && moves < maxMoves {
			continue
		}
		r, err = m.openPerhapsBehind(ctx, heads, err)
		// who writes put another file in the place of the one that was there
		if errors.Is(err, lock.ErrBusy) && wait == 0 && moves < maxMoves {
			continue
		}
		return r, err
	}
}

// withWriteLock does something while it holds the lock of the process that writes.
func (m *Materializer) withWriteLock(ctx context.Context, wait time.Duration, do func() error) error {
	if m.public {
		if err := os.MkdirAll(m.Dir, 0o700); err != nil {
			return fmt.Errorf("materialize: %w", err)
		}
	}
	held, err := lock.Acquire(ctx, m.filePath(writerFile), lock.ToWrite, wait)
	if err != nil {
		return err
	}
	return errors.Join(do(), held.Release())
}

// openPerhapsBehind is the index in the state that there is after an attempt to bring it up. Where that failed, it has
// what is missing if that is little.
func (m *Materializer) openPerhapsBehind(ctx context.Context, heads []ledger.Head, failed error) (*Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(failed, fmt.Errorf("materialize: %w", err))
	}
	r, err := m.OpenExisting(ctx)
	if failed == nil || err == nil && r.cursor.isCurrent(heads) { // somebody else has brought it up meanwhile
		return r, err
	}
	if err != nil {
		return nil, failed
	}
	if errors.Is(failed, lock.ErrBusy) || errors.Is(failed, fs.ErrPermission) || errors.Is(failed, db.ErrLocked) {
		if own, err := m.copyInMemory(ctx, r, heads); err == nil {
			return own, r.Close()
		}
	}
	if errors.Is(failed, lock.ErrBusy) { // which file is locked is of no use to anybody
		failed = fmt.Errorf("%w; try again in a moment", lock.ErrBusy)
	}
	m.Warn(fmt.Errorf("the index is behind the ledger and can't be updated: %w", failed))
	return r, nil
}

// What a reader adds for itself, in memory, where it may not write: so much of ledgers, in bytes, to an index of such a
// size. Beyond it, that would take longer than anybody wants to wait.
const (
	apartBytes = 512 << 10
	apartIndex = 64 << 20
)

// errApart says that too much is missing.
var errApart = errors.New("materialize: too much to read for one answer")

// copyInMemory is a copy of the index in memory, with what is missing in it.
func (m *Materializer) copyInMemory(ctx context.Context, r *Reader, heads []ledger.Head) (*Reader, error) {
	if size, err := r.Size(); err != nil || size > apartIndex {
		return nil, errors.Join(err, errApart)
	}
	p, err := m.plan(ctx, heads, r.cursor, r.cursor, reading, nil)
	if err != nil || p.bytes > apartBytes {
		return nil, errors.Join(err, errApart)
	}
	d, err := r.Copy(ctx)
	if err != nil {
		return nil, err
	}
	s := m.newStore(d)
	if err := s.apply(ctx, p); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &Reader{d, p.cursor}, nil
}

// OpenExisting opens the index as it is, and neither locks, makes nor changes anything. It is fs.ErrNotExist where
// there is none.
func (m *Materializer) OpenExisting(ctx context.Context) (*Reader, error) {
	d, err := db.Open(ctx, m.filePath(indexFile), db.ReadOnly)
	if err != nil {
		return nil, err
	}
	at, err := readCursor(ctx, d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &Reader{d, at}, nil
}

// rebuildable reports whether an error means that the index must be made anew.
func rebuildable(err error) bool {
	return errors.Is(err, errRestart) || errors.Is(err, db.ErrCorrupt) || errors.Is(err, db.ErrSchema) ||
		errors.Is(err, fs.ErrNotExist)
}

// IsCurrent reports whether an index that was opened has all that the ledgers say.
func (m *Materializer) IsCurrent(r *Reader) bool {
	heads, err := m.ledgersRead()
	return err == nil && r.cursor.isCurrent(heads)
}
