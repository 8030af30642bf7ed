package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
)

// carried is how many sessions are carried at a time.
const carried = 200

// Carry takes the vectors of an embedding model, which cost much to make, from an index into
// one that is made anew: of each session those of its first passages that are the same in both.
func Carry(ctx context.Context, old *db.DB, tx *db.Tx, now time.Time) error {
	from, err := openSource(ctx, old)
	if err != nil {
		return fmt.Errorf("search: carry: %w", err)
	}
	for group := range slices.Chunk(from.ids, carried) {
		if err := from.carry(ctx, tx, group, now); err != nil {
			return fmt.Errorf("search: carry: %w", damaged(err))
		}
	}
	return nil
}

func (s *vectorSource) carry(ctx context.Context, tx *db.Tx, ids []string, now time.Time) error {
	done, err := s.vectors(ctx, tx, ids)
	if err != nil || len(done) == 0 {
		return err
	}
	a, err := newAdder(ctx, tx)
	if err != nil {
		return err
	}
	if err := a.embed(ctx, s.info.Model, done, now); err != nil {
		return err
	}
	return writeState(ctx, tx, a.state)
}

// vectorSource is the index that vectors are carried from.
type vectorSource struct {
	db      *db.DB
	info    embedInfo
	windows windows
	ids     []string // of the sessions that have vectors, in the order of their numbers
	numbers map[string]int
}

// openSource returns a source without sessions where there are no vectors.
func openSource(ctx context.Context, d *db.DB) (*vectorSource, error) {
	st, err := readState(ctx, d)
	if err != nil || st.Embedded.Dim == 0 {
		return &vectorSource{}, err
	}
	heads, err := readHeaders(ctx, d, st)
	if err != nil {
		return nil, err
	}
	index, err := lexical.NewIndex(heads.runs, nil)
	if err != nil {
		return nil, damaged(err)
	}
	s := &vectorSource{db: d, info: st.Embedded, windows: heads.embedded, numbers: make(map[string]int)}
	for n, id := range index.Sessions {
		s.ids, s.numbers[id] = append(s.ids, id), n
	}
	return s, nil
}

// vectors is what a source knows of sessions as they are in the new index.
func (s *vectorSource) vectors(ctx context.Context, tx *db.Tx, ids []string) ([]quantised, error) {
	hashes, err := readHashes(ctx, s.db, ids)
	if err != nil || len(hashes) == 0 {
		return nil, err
	}
	texts, err := readTurns(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	wanted := make(map[int]bool)
	for id := range hashes {
		wanted[s.numbers[id]] = true
	}
	stretches, err := s.windows.read(ctx, s.db, wanted)
	if err != nil {
		return nil, err
	}
	var out []quantised
	for _, id := range ids {
		// What has the same hashes has vectors; the pending rest begins behind them.
		have := pending(id, texts[id], hashes[id]).have
		windows := stretches[s.numbers[id]].Windows
		e := quantised{Pending: pending(id, texts[id], nil)}
		for _, w := range windows[:min(have, len(windows))] {
			e.vectors = append(e.vectors, w.Vector)
		}
		if len(e.vectors) > 0 {
			out = append(out, e)
		}
	}
	return out, nil
}
