package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// windows is all windows under one model, in runs: stretches and then whole vectors, both by
// session number, and a header. Where a session has stretches in several runs, the later run is
// the newer; its whole vector is the one in the last of them.
type windows struct {
	dim     int
	headers []*windowHeader // the oldest run first
}

// newWindows is the windows in runs, given their headers.
func newWindows(dim int, runs []runInfo, data [][]byte) (windows, error) {
	w := windows{dim: dim, headers: make([]*windowHeader, len(runs))}
	for i, run := range runs {
		var err error
		if w.headers[i], err = decodeWindowHeader(run.ID, data[i]); err != nil {
			return w, err
		}
	}
	return w, nil
}

// windowHeader says where in a run what of which session is.
type windowHeader struct {
	run      int
	sessions []int   // ascending
	ends     []int64 // of their stretches
	end      int64   // of the whole vectors
}

func (h *windowHeader) append(dst []byte) []byte {
	dst = block.AppendInt(dst, len(h.sessions))
	session, end := 0, int64(0)
	for i, s := range h.sessions {
		dst = block.AppendInt(block.AppendInt(dst, s-session), int(h.ends[i]-end))
		session, end = s, h.ends[i]
	}
	return block.AppendInt(dst, int(h.end-end))
}

func decodeWindowHeader(run int, data []byte) (*windowHeader, error) {
	r := block.Reader{Data: data}
	n := r.Count()
	h := &windowHeader{run: run, sessions: make([]int, n), ends: make([]int64, n)}
	session := 0
	for i := range n {
		session += r.Int()
		h.end += int64(r.Int())
		h.sessions[i], h.ends[i] = session, h.end
	}
	h.end += int64(r.Int())
	if len(r.Data) > 0 {
		r.Bad = true
	}
	return h, r.Err()
}

// stretches is where those of all sessions are.
func (h *windowHeader) stretches() db.Span {
	s := db.Span{Run: h.run}
	if n := len(h.ends); n > 0 {
		s.To = h.ends[n-1]
	}
	return s
}

// wholes is where the whole vectors are.
func (h *windowHeader) wholes() db.Span {
	return db.Span{Run: h.run, From: h.stretches().To, To: h.end}
}

// stretch is where that of one session is.
func (h *windowHeader) stretch(session int) (db.Span, bool) {
	i, ok := slices.BinarySearch(h.sessions, session)
	if !ok {
		return db.Span{}, false
	}
	s := db.Span{Run: h.run, To: h.ends[i]}
	if i > 0 {
		s.From = h.ends[i-1]
	}
	return s, true
}

// wholes asks for the vectors of sessions, of all runs.
func (w *windows) wholes() []db.Span {
	var out []db.Span
	for _, h := range w.headers {
		out = append(out, h.wholes())
	}
	return out
}

// eachWhole walks the vectors of sessions, by number, in the bytes of wholes. The last one of a session counts.
func (w *windows) eachWhole(data [][]byte, sessions int, f func(session int, v semantic.Vector)) error {
	for _, run := range data {
		all := semantic.NewWholes(w.dim, once(run))
		for all.Next() {
			if all.Session >= sessions {
				return block.ErrFormat
			}
			f(all.Session, all.Vector)
		}
		if err := all.Err(); err != nil {
			return err
		}
	}
	return nil
}

// read reads the windows of sessions.
func (w *windows) read(ctx context.Context, r reader, wanted map[int]bool) (map[int]semantic.Stretch, error) {
	var spans []db.Span
	for _, h := range w.headers { // the oldest first
		for _, session := range slices.Sorted(maps.Keys(wanted)) {
			if s, ok := h.stretch(session); ok {
				spans = append(spans, s)
			}
		}
	}
	data, err := db.ReadSpans(ctx, r, spans)
	if err != nil {
		return nil, err
	}
	out := make(map[int]semantic.Stretch, len(wanted))
	for _, d := range data {
		all := semantic.NewStretches(w.dim, once(d))
		for all.Next() {
			if have, ok := out[all.Session]; ok {
				all.Stretch = have.Join(all.Stretch)
			}
			out[all.Session] = all.Stretch
		}
		if err := all.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// once returns data at the first call, and then nothing.
func once(data []byte) func() ([]byte, error) {
	return func() ([]byte, error) {
		out := data
		data = nil
		return out, nil
	}
}

// windowWriter writes a run of windows, session by session in the order of their numbers.
type windowWriter struct {
	out    *db.RunWriter
	id     int
	size   int
	head   windowHeader
	wholes []semantic.Whole
	buf    []byte
}

func newWindowWriter(ctx context.Context, tx *db.Tx, id int) *windowWriter {
	return &windowWriter{out: tx.NewRun(ctx, id), id: id}
}

func (w *windowWriter) put(p *projected) {
	w.size += len(p.Windows)
	w.wholes = append(w.wholes, semantic.Whole{Session: p.Session, Vector: p.whole})
	w.buf = p.Append(w.buf[:0])
	w.out.Write(w.buf)
	w.head.sessions, w.head.ends = append(w.head.sessions, p.Session), append(w.head.ends, w.out.Size())
}

func (w *windowWriter) finish() (runInfo, error) {
	for _, v := range w.wholes {
		w.buf = v.Append(w.buf[:0])
		w.out.Write(w.buf)
	}
	w.head.end = w.out.Size()
	return closeRun(w.out, w.id, w.size, w.head.append(nil))
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
	stretches := semantic.NewStretches(w.dim, source(ctx, tx, h.stretches()))
	wholes := semantic.NewWholes(w.dim, source(ctx, tx, h.wholes()))
	return func() (*projected, error) {
		one, other := stretches.Next(), wholes.Next()
		if err := cmp.Or(stretches.Err(), wholes.Err()); err != nil || !one && !other {
			return nil, err
		}
		if one != other || stretches.Session != wholes.Session {
			return nil, fmt.Errorf("run %d: %w", h.run, block.ErrFormat)
		}
		return &projected{Stretch: stretches.Stretch, whole: wholes.Vector}, nil
	}
}
