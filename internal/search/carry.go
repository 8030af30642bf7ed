package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
)

// carried is how many sessions are carried at a time.
const carried = 200

// Carry takes the vectors of an embedding model, which cost much to make, from an index into
// one that is made anew: of each session those of its first passages that are the same in both.
func Carry(ctx context.Context, old *db.DB, tx *db.Tx, now time.Time) error {
	from, err := Open(ctx, old)
	if err != nil || from.state.Embedded.Dim == 0 {
		return err
	}
	numbers := make(map[string]int)
	for n, id := range from.index.Sessions {
		numbers[id] = n
	}
	for group := range slices.Chunk(from.index.Sessions, carried) {
		if err := from.carryVectors(ctx, tx, group, numbers, now); err != nil {
			return fmt.Errorf("search: carry: %w", asCorrupt(err))
		}
	}
	return nil
}

func (s *Searcher) carryVectors(ctx context.Context, tx *db.Tx, ids []string, numbers map[string]int,
	now time.Time,
) error {
	done, err := s.vectors(ctx, tx, ids, numbers)
	if err != nil || len(done) == 0 {
		return err
	}
	a, err := newAdder(ctx, tx)
	if err != nil {
		return err
	}
	if err := a.embed(ctx, s.state.Embedded.Model, done, now); err != nil {
		return err
	}
	return writeState(ctx, tx, a.state)
}

// vectors is what is known of sessions as they are in the new index.
func (s *Searcher) vectors(ctx context.Context, tx *db.Tx, ids []string, numbers map[string]int) ([]quantised, error) {
	hashes, err := db.PassageHashes(ctx, s.db, ids)
	if err != nil || len(hashes) == 0 {
		return nil, err
	}
	turns, err := db.TurnsOf(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	wanted := make(map[int]bool)
	for id := range hashes {
		wanted[numbers[id]] = true
	}
	stretches, err := s.heads.embedded.read(ctx, s.db, wanted)
	if err != nil {
		return nil, err
	}
	var out []quantised
	for _, id := range ids {
		// What has the same hashes has vectors; the pending rest begins behind them.
		have := pendingOf(id, turns[id], hashes[id]).have
		passages := stretches[numbers[id]].Passages
		e := quantised{Pending: pendingOf(id, turns[id], nil)}
		for _, w := range passages[:min(have, len(passages))] {
			e.vectors = append(e.vectors, w.Vector)
		}
		if len(e.vectors) > 0 {
			out = append(out, e)
		}
	}
	return out, nil
}
