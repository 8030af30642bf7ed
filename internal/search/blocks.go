package search

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
)

// The index is stored in runs (see db) of two sorts. A question reads the headers with one statement, and what it needs
// of the rest with another.
//
//   - Postings: sorted blocks of about 8 KB, with the units of each term, how often it stands there, and its positions
//     among stems, from which pairs are counted. Then the sorted stems, with which misspelt words are compared. Then a
//     lexical.Header.
//   - Passages of each session in blocks, 388 bytes each with the 384 dimensions of the model that is built in; then a
//     vector a session, then the fence of the first. The table embedded has a hash of each passage, by which a rebuilt
//     index takes vectors over.
//
// Scores of words are those of a rebuilt index, but for a session that two machines captured: until the next rebuild
// its later parts are units of their own.

// mergeRatio keeps the number of runs logarithmic: a new run takes in the runs before it as
// long as they have at most so many times what it has.
const mergeRatio = 3

// countKeptRuns is how many of the runs before a new one of the given size stay as they are.
func countKeptRuns(runs []runInfo, size int) int {
	n := len(runs)
	for ; n > 0 && runs[n-1].Size <= mergeRatio*size; n-- {
		size += runs[n-1].Size
	}
	return n
}

// piece is how much of a run is read at a time where all of it passes through: what is merged
// does not have to fit into memory.
const piece = 1 << 20

// readPiecewise reads a span of a run piece by piece.
func readPiecewise(ctx context.Context, r db.Querier, s db.Span) func() ([]byte, error) {
	return func() ([]byte, error) {
		part := db.Span{Run: s.Run, From: s.From, To: min(s.From+piece, s.To)}
		s.From = part.To
		data, err := db.ReadSpans(ctx, r, []db.Span{part})
		if err != nil {
			return nil, err
		}
		return data[0], nil
	}
}

// finishRun writes a run's header and tells what there is of it.
func finishRun(w *db.RunWriter, id, size int, header []byte) (runInfo, error) {
	run := runInfo{ID: id, Size: size, Head: w.Size()}
	w.Write(header)
	run.End = w.Size()
	return run, w.Close()
}

// replaceRuns drops the runs from keep on, which a new one took in.
func replaceRuns(ctx context.Context, tx *db.Tx, runs []runInfo, keep int, with runInfo) ([]runInfo, error) {
	for _, old := range runs[keep:] {
		if err := tx.DropRun(ctx, old.ID); err != nil {
			return nil, err
		}
	}
	return append(runs[:keep:keep], with), nil
}

// spansOf returns the blocks that may hold keys, each once.
func spansOf(run int, fence block.Fence, keys map[string]bool) []db.Span {
	had := make(map[int64]bool)
	var out []db.Span
	for key := range keys {
		from, to := fence.Find(key)
		if to > from && !had[from] {
			had[from] = true
			out = append(out, db.Span{Run: run, From: from, To: to})
		}
	}
	return out
}
