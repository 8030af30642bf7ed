package materialize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/search"
)

// Vectors of an embedding model are made by one process at a time (`lock.embed`), in rounds: texts are read, the server is asked
// without a lock, its answers are written. A rebuild takes them over.

// embedFile is the lock of the one process that embeds.
const embedFile = "lock.embed"

// Embedder makes the vectors of an embedding model.
type Embedder struct {
	Model    string // as the vectors are stored under
	Batch    int    // how many texts Vectors takes at most
	Vectors  func(ctx context.Context, texts []string) ([][]float32, error)
	Progress func(done, total int) // sessions; nil: nobody looks
	Enough   func() bool           // whether the rest is left to the next time; nil: it never is
}

// perRound is how many passages are embedded between two writes, and lost at most when the
// process dies. A round costs 0.4 s beside the server's time where there are 225,000 turns.
const perRound = 512

// Embed fills in the vectors that are missing, the latest sessions first. The texts are read,
// the server is asked, and what it said is written, each for itself: nobody waits for the server.
// While another process does the same, it does nothing. After an error of the server's what it
// had answered is kept.
func (m *Materializer) Embed(ctx context.Context, e Embedder) error {
	held, err := lock.Acquire(ctx, m.path(embedFile), lock.ToWrite, 0)
	if errors.Is(err, lock.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(m.embedAll(ctx, e), held.Release())
}

func (m *Materializer) embedAll(ctx context.Context, e Embedder) error {
	total, before := 0, ""
	for {
		batch, left, err := m.unembedded(ctx, e.Model)
		if err != nil {
			return err
		}
		total = max(total, left)
		if e.Progress != nil && total > 0 {
			e.Progress(total-left, total)
		}
		if left == 0 {
			return nil
		}
		now := fmt.Sprint(left, batch[0].Session, len(batch[0].Texts))
		if now == before {
			return fmt.Errorf("materialize: embed: session %q does not get on", batch[0].Session)
		}
		before = now
		done, asked := e.round(ctx, batch)
		if err := m.store(ctx, e.Model, done); err != nil {
			return errors.Join(asked, err)
		}
		if asked != nil || e.enough() {
			return asked
		}
	}
}

func (e Embedder) enough() bool { return e.Enough != nil && e.Enough() }

// unembedded reads what comes next.
func (m *Materializer) unembedded(ctx context.Context, model string) (batch []search.Pending, left int, err error) {
	r, err := m.Open(ctx)
	if err != nil {
		return nil, 0, err
	}
	batch, left, err = search.Unembedded(ctx, r.DB, model, perRound)
	return batch, left, errors.Join(err, r.Close())
}

// round asks for up to perRound vectors, and hands them out. What was answered before an error
// comes with it.
func (e Embedder) round(ctx context.Context, batch []search.Pending) (done []search.Embedded, err error) {
	var texts []string
	for _, p := range batch {
		texts = append(texts, p.Texts...)
	}
	vectors, err := e.vectors(ctx, texts[:min(perRound, len(texts))])
	for _, p := range batch {
		n := min(len(p.Texts), len(vectors))
		if n == 0 && len(p.Texts) > 0 {
			break
		}
		done = append(done, search.Embedded{Pending: p, Vectors: vectors[:n]})
		vectors = vectors[n:]
	}
	return done, err
}

// vectors asks for as many as come, until there is an error, or it is enough.
func (e Embedder) vectors(ctx context.Context, texts []string) (out [][]float32, err error) {
	for some := range slices.Chunk(texts, e.Batch) {
		if len(out) > 0 && e.enough() {
			break
		}
		vectors, err := e.Vectors(ctx, some)
		if err != nil {
			return out, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// store writes vectors into the index, which is not behind: Index had brought it up.
func (m *Materializer) store(ctx context.Context, model string, done []search.Embedded) error {
	if len(done) == 0 {
		return nil
	}
	return m.turn(ctx, patience, func() error {
		if _, err := os.Stat(m.path(indexFile)); err != nil { // somebody deleted it, and opening would make an empty one
			return nil //nolint:nilerr // the next command makes it anew
		}
		return m.change(ctx, indexFile, db.ReadWrite, func(ctx context.Context, tx *db.Tx) error {
			return search.Embed(ctx, tx, model, done, m.Now())
		})
	})
}

// change writes into a file in one transaction.
func (m *Materializer) change(ctx context.Context, file string, mode db.Mode, do func(context.Context, *db.Tx) error) error {
	d, err := db.Open(ctx, m.path(file), mode)
	if err != nil {
		return err
	}
	return errors.Join(inTx(ctx, d, do), d.Close())
}

func inTx(ctx context.Context, d *db.DB, do func(context.Context, *db.Tx) error) error {
	tx, err := d.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() // what failed is reported; the file is unchanged
	if err := do(ctx, tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// carry takes the vectors of the index into the one that is being made. Where the old one can't
// be read, they are made anew.
func (m *Materializer) carry(ctx context.Context) error {
	old, err := db.Open(ctx, m.path(indexFile), db.ReadOnly)
	if err != nil {
		return nil //nolint:nilerr // there is none, or it is why a new one is made
	}
	some, err := search.Embeds(ctx, old)
	if err != nil || !some {
		return old.Close()
	}
	err = m.change(ctx, indexFile+fresh, db.Fresh, func(ctx context.Context, tx *db.Tx) error { return search.Carry(ctx, old, tx, m.Now()) })
	if err != nil && ctx.Err() == nil {
		m.Warn(fmt.Errorf("the vectors of the embedding model are lost: %w", err))
		err = nil
	}
	return errors.Join(err, old.Close())
}
