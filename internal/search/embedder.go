package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
)

// Embedder makes the vectors of an embedding model.
type Embedder struct {
	Model    string // as the vectors are stored under
	Batch    int    // how many texts Vectors takes at most
	Vectors  func(ctx context.Context, texts []string) ([][]float32, error)
	Progress func(done, total int) // sessions; nil: nobody looks
	Enough   func() bool           // whether the rest is left to the next time; nil: it never is
	Leave    Leave                 // nil: nothing is left out
	Await    bool                  // where another process makes vectors, wait for it, and make what is still missing
}

// Leave lists what gets no vectors, in the state that is read: its text goes to no server.
type Leave func(context.Context, db.Querier) ([]string, error)

// Embeddable is an index that an Embedder fills: read in one state, and written in one transaction.
type Embeddable interface {
	Read(ctx context.Context, do func(db.Querier) error) error
	Write(ctx context.Context, do func(context.Context, *db.Tx) error) error
}

// perRound is how many passages are embedded between two writes, and lost at most when the
// process dies. A round costs 0.4 s beside the server's time where there are 225,000 turns.
const perRound = 512

// Fill makes the vectors that are missing, the latest sessions first. The texts are read, the server is asked, and what
// it said is written, each for itself: nobody waits for the server. After an error of the server's what it had answered
// is kept.
func (e Embedder) Fill(ctx context.Context, in Embeddable, now func() time.Time) error {
	total, before := 0, ""
	for {
		var batch []Pending
		left := 0
		err := in.Read(ctx, func(r db.Querier) (err error) {
			batch, left, err = Unembedded(ctx, r, e.Model, perRound, e.Leave)
			return err
		})
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
		at := fmt.Sprint(left, batch[0].Session, len(batch[0].Texts))
		if at == before {
			return fmt.Errorf("search: embed: session %q does not get on", batch[0].Session)
		}
		before = at
		done, asked := e.embedBatch(ctx, batch)
		if len(done) > 0 {
			err = in.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return Embed(ctx, tx, e.Model, done, now()) })
		}
		if err != nil {
			return errors.Join(asked, err)
		}
		if asked != nil || e.isEnough() {
			return asked
		}
	}
}

func (e Embedder) isEnough() bool { return e.Enough != nil && e.Enough() }

// embedBatch asks for up to perRound vectors, and hands them out. What was answered before an error
// comes with it.
func (e Embedder) embedBatch(ctx context.Context, batch []Pending) (done []Embedded, err error) {
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
		done = append(done, Embedded{Pending: p, Vectors: vectors[:n]})
		vectors = vectors[n:]
	}
	return done, err
}

// vectors asks for as many as come, until there is an error, or it is enough.
func (e Embedder) vectors(ctx context.Context, texts []string) (out [][]float32, err error) {
	for some := range slices.Chunk(texts, e.Batch) {
		if len(out) > 0 && e.isEnough() {
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
