package search

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
)

// mergeRatio keeps the number of runs logarithmic: a new run takes in the runs before it as
// long as they have at most so many times what it has.
const mergeRatio = 3

// taken says how many of the runs before a new one of the given size stay; sizes are those of the
// runs, the oldest first.
func taken(sizes []int, size int) (keep int) {
	for keep = len(sizes); keep > 0 && sizes[keep-1] <= mergeRatio*size; keep-- {
		size += sizes[keep-1]
	}
	return keep
}

// chunk is how many blocks are read or written at a time where all of a run pass through: what
// is merged does not have to fit into memory.
const chunk = 128

// source reads blocks first to last of a run in order, some at a time.
func source(ctx context.Context, r reader, run, first, last int) func() ([][]byte, error) {
	return func() ([][]byte, error) {
		to := min(first+chunk-1, last)
		if to < first {
			return nil, nil
		}
		out := make([][]byte, to-first+1)
		err := db.ReadBlocks(ctx, r, []db.Want{{Run: run, Ranges: [][2]int{{first, to}}}}, func(b db.Block) error {
			out[b.No-first] = b.Data
			return nil
		})
		first = to + 1
		return out, err
	}
}

// sink writes the blocks of a new run, some at a time.
type sink struct {
	tx      *db.Tx
	run     int
	next    int // the number of waiting[0]
	waiting [][]byte
	open    []byte // the block that is being filled
	err     error
}

// newSink creates the run. Its blocks begin at 1: 0 is the header, which comes last.
func newSink(ctx context.Context, tx *db.Tx, run int) *sink {
	return &sink{tx: tx, run: run, next: 1, err: tx.CreateRun(ctx, run)}
}

// put adds blocks.
func (s *sink) put(blocks ...[]byte) {
	s.waiting = append(s.waiting, blocks...)
	if len(s.waiting) >= chunk {
		s.flush()
	}
}

func (s *sink) flush() {
	if s.err == nil && len(s.waiting) > 0 {
		s.err = s.tx.AppendRun(s.run, s.next, s.waiting)
	}
	s.next += len(s.waiting)
	s.waiting = nil
}

// record adds a record to the block that is being filled, and reports whether it is the first
// there. A record is never cut.
func (s *sink) record(write func(dst []byte) []byte) (first bool) {
	first = len(s.open) == 0
	if s.open = write(s.open); len(s.open) >= block.Target {
		s.endBlock()
	}
	return first
}

func (s *sink) endBlock() {
	if len(s.open) > 0 {
		s.put(s.open)
		s.open = nil
	}
}

// written is how many blocks were put so far, the header not counted.
func (s *sink) written() int { return s.next - 1 + len(s.waiting) }

// finish writes what waits, and the header.
func (s *sink) finish(header []byte) error {
	s.flush()
	if s.err == nil {
		s.err = s.tx.AppendRun(s.run, 0, [][]byte{header})
	}
	return s.err
}
