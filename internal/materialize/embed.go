package materialize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/search"
)

// Vectors of an embedding model are made by one process at a time (`lock.embed`). A rebuild takes them over.

// embedFile is the lock of the one process that embeds.
const embedFile = "lock.embed"

// Embed fills in the vectors that are missing. While another process does the same, it does nothing, or awaits its end.
func (m *Materializer) Embed(ctx context.Context, e search.Embedder) error {
	held, err := lock.Acquire(ctx, m.filePath(embedFile), lock.ToWrite, 0)
	total := 0
	for errors.Is(err, lock.ErrBusy) && e.Await {
		total = m.tellProgress(ctx, e, total)
		held, err = lock.Acquire(ctx, m.filePath(embedFile), lock.ToWrite, lookAgain)
	}
	if errors.Is(err, lock.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	if total > 0 {
		m.tellProgress(ctx, e, total)
	}
	return errors.Join(e.Fill(ctx, embeddable{m}, m.Now), held.Release())
}

// tellProgress says how far another process is with so many sessions, or more: it returns how many.
func (m *Materializer) tellProgress(ctx context.Context, e search.Embedder, total int) int {
	left, err := m.Unembedded(ctx, e.Model)
	if total = max(total, left); err == nil && total > 0 && e.Progress != nil {
		e.Progress(total-left, total)
	}
	return total
}

// lookAgain is how often a process that waits for another one looks how far that is.
const lookAgain = 500 * time.Millisecond

// Unembedded is how many sessions and memories of the index lack vectors of a model. It changes nothing, and knows
// nothing of what the index does not have yet.
func (m *Materializer) Unembedded(ctx context.Context, model string) (left int, err error) {
	d, err := db.Open(ctx, m.filePath(indexFile), db.ReadOnly)
	if err != nil {
		return 0, err
	}
	_, left, err = search.Unembedded(ctx, d, model, 0, nil)
	return left, errors.Join(err, d.Close())
}

// embeddable is the index as search.Embedder works on it.
type embeddable struct{ *Materializer }

func (m embeddable) Read(ctx context.Context, do func(db.Querier) error) error {
	r, err := m.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(r.DB), r.Close())
}

// Write writes into the index, which is not behind: Read had brought it up.
func (m embeddable) Write(ctx context.Context, do func(context.Context, *db.Tx) error) error {
	return m.withWriteLock(ctx, patience, func() error {
		if _, err := os.Stat(m.filePath(indexFile)); err != nil { // somebody deleted it, and opening would make an empty one
			return nil //nolint:nilerr // the next command makes it anew
		}
		return db.Change(ctx, m.filePath(indexFile), db.ReadWrite, do)
	})
}

// carryVectors takes the vectors of the index into the one that is being made. Where the old one can't
// be read, they are made anew.
func (m *Materializer) carryVectors(ctx context.Context) error {
	old, err := db.OpenReplaced(ctx, m.filePath(indexFile))
	if err != nil {
		return nil //nolint:nilerr // there is none, or it is why a new one is made
	}
	some, err := search.HasVectors(ctx, old)
	if err != nil || !some {
		return old.Close()
	}
	err = db.Change(ctx, m.filePath(indexFile+fresh), db.Fresh,
		func(ctx context.Context, tx *db.Tx) error { return search.Carry(ctx, old, tx, m.Now()) })
	if err != nil && ctx.Err() == nil {
		m.Warn(fmt.Errorf("the vectors of the embedding model are lost: %w", err))
		err = nil
	}
	return errors.Join(err, old.Close())
}
