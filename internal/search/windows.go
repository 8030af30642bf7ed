package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// windowRun is a run of windows: block 0 is its header, then blocks of stretches and blocks of
// whole vectors, both by session number. Where a session has stretches in several runs, the
// later run is the newer; its whole vector is the one in the last of them.
type windowRun struct {
	ID      int `json:"id"`
	Windows int `json:"windows"`
}

// windowHeader says what a run of windows has.
type windowHeader struct {
	run    int
	blocks int   // of stretches
	wholes int   // blocks of whole vectors
	first  []int // the session with which each block of stretches begins
}

func (h *windowHeader) append(dst []byte) []byte {
	dst = block.AppendInt(block.AppendInt(dst, h.blocks), h.wholes)
	for _, s := range h.first {
		dst = block.AppendInt(dst, s)
	}
	return dst
}

func decodeWindowHeader(run int, data []byte) (*windowHeader, error) {
	r := block.Reader{Data: data}
	h := &windowHeader{run: run, blocks: r.Count(), wholes: r.Int()}
	h.first = make([]int, h.blocks)
	for i := range h.first {
		h.first[i] = r.Int()
	}
	if len(r.Data) > 0 {
		r.Bad = true
	}
	return h, r.Err()
}

// want asks for the blocks that may hold stretches of sessions, given in ascending order.
func (h *windowHeader) want(sessions []int) db.Want {
	var blocks []int
	for _, s := range sessions {
		// The stretch of a session lies in the last block that begins at or before it.
		if i := sort.SearchInts(h.first, s+1); i > 0 && !slices.Contains(blocks[max(0, len(blocks)-1):], i) {
			blocks = append(blocks, i)
		}
	}
	return db.Some(h.run, blocks)
}

// wantWholes asks for the whole vectors.
func (h *windowHeader) wantWholes() db.Want {
	if h.wholes == 0 {
		return db.Want{Run: h.run}
	}
	return db.Want{Run: h.run, Ranges: [][2]int{{h.blocks + 1, h.blocks + h.wholes}}}
}

// windows is all runs of windows under one model.
type windows struct {
	dim     int
	headers []*windowHeader // the oldest first
}

// readWholes puts together the vectors of sessions, by number, from the blocks that wantWholes
// asked for, of all runs.
func (w *windows) readWholes(blocks []db.Block, sessions int) ([]semantic.Vector, error) {
	out := make([]semantic.Vector, sessions)
	return out, w.inOrder(blocks, func(blocks [][]byte) error {
		all := semantic.NewWholes(w.dim, once(blocks))
		for all.Next() {
			if all.Session >= sessions {
				return block.ErrFormat
			}
			out[all.Session] = all.Vector
		}
		return all.Err()
	})
}

// read reads the windows of sessions.
func (w *windows) read(ctx context.Context, r reader, wanted map[int]bool) (map[int]semantic.Stretch, error) {
	sessions := slices.Sorted(maps.Keys(wanted))
	var wants []db.Want
	for _, h := range w.headers {
		wants = append(wants, h.want(sessions))
	}
	var blocks []db.Block
	err := db.ReadBlocks(ctx, r, wants, func(b db.Block) error {
		blocks = append(blocks, b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w.readStretches(blocks, wanted)
}

// readStretches puts together the windows of sessions, from the blocks that want asked for.
func (w *windows) readStretches(blocks []db.Block, wanted map[int]bool) (map[int]semantic.Stretch, error) {
	out := make(map[int]semantic.Stretch, len(wanted))
	return out, w.inOrder(blocks, func(blocks [][]byte) error {
		all := semantic.NewStretches(w.dim, once(blocks))
		for all.Next() {
			if !wanted[all.Session] {
				continue
			}
			if have, ok := out[all.Session]; ok {
				out[all.Session] = have.Join(all.Stretch)
				continue
			}
			out[all.Session] = all.Stretch
		}
		return all.Err()
	})
}

// inOrder calls f with the blocks of each run, the oldest run first.
func (w *windows) inOrder(blocks []db.Block, f func([][]byte) error) error {
	slices.SortFunc(blocks, func(a, b db.Block) int { return a.No - b.No })
	for _, h := range w.headers {
		var own [][]byte
		for _, b := range blocks {
			if b.Run == h.run {
				own = append(own, b.Data)
			}
		}
		if err := f(own); err != nil {
			return err
		}
	}
	return nil
}

// once returns blocks at the first call, and then none.
func once(blocks [][]byte) func() ([][]byte, error) {
	return func() ([][]byte, error) {
		out := blocks
		blocks = nil
		return out, nil
	}
}

// windowWriter writes a run of windows, session by session in the order of their numbers.
type windowWriter struct {
	out    *sink
	head   windowHeader
	run    windowRun
	wholes []semantic.Whole
}

func newWindowWriter(ctx context.Context, tx *db.Tx, run int) *windowWriter {
	return &windowWriter{out: newSink(ctx, tx, run), run: windowRun{ID: run}}
}

func (w *windowWriter) put(p *projected) {
	w.run.Windows += len(p.Windows)
	w.wholes = append(w.wholes, semantic.Whole{Session: p.Session, Vector: p.whole})
	if w.out.record(p.Append) {
		w.head.first = append(w.head.first, p.Session)
	}
}

func (w *windowWriter) finish() (windowRun, error) {
	w.out.endBlock()
	w.head.blocks = w.out.written()
	for _, v := range w.wholes {
		w.out.record(v.Append)
	}
	w.out.endBlock()
	w.head.wholes = w.out.written() - w.head.blocks
	return w.run, w.out.finish(w.head.append(nil))
}

// merge puts what the runs from keep on tell of sessions, and after them what is new, session by
// session.
func (w *windows) merge(ctx context.Context, tx *db.Tx, keep int, fresh []*projected, put func(*projected)) error {
	var next []func() (*projected, error)
	for _, h := range w.headers[keep:] {
		next = append(next, w.walk(ctx, tx, h))
	}
	next = append(next, func() (*projected, error) {
		if len(fresh) == 0 {
			return nil, nil
		}
		defer func() { fresh = fresh[1:] }()
		return fresh[0], nil
	})
	at := make([]*projected, len(next))
	for i := range next {
		var err error
		if at[i], err = next[i](); err != nil {
			return err
		}
	}
	for {
		var out *projected
		for _, p := range at {
			if p != nil && (out == nil || p.Session < out.Session) {
				out = p
			}
		}
		if out == nil {
			return nil
		}
		joined := projected{Stretch: semantic.Stretch{Session: out.Session, From: out.From}}
		for i, p := range at {
			if p == nil || p.Session != joined.Session {
				continue
			}
			joined.Stretch, joined.whole = joined.Join(p.Stretch), p.whole
			var err error
			if at[i], err = next[i](); err != nil {
				return err
			}
		}
		put(&joined)
	}
}

// walk returns what a run tells of one session after the other, and nil at its end.
func (w *windows) walk(ctx context.Context, tx *db.Tx, h *windowHeader) func() (*projected, error) {
	stretches := semantic.NewStretches(w.dim, source(ctx, tx, h.run, 1, h.blocks))
	wholes := semantic.NewWholes(w.dim, source(ctx, tx, h.run, h.blocks+1, h.blocks+h.wholes))
	return func() (*projected, error) {
		if !stretches.Next() || !wholes.Next() {
			return nil, cmp.Or(stretches.Err(), wholes.Err())
		}
		if stretches.Session != wholes.Session {
			return nil, fmt.Errorf("run %d: %w", h.run, block.ErrFormat)
		}
		return &projected{Stretch: stretches.Stretch, whole: wholes.Vector}, nil
	}
}
