package search

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// embeddings are the vectors of all passages, in runs: blocks of stretches, then blocks of whole vectors, both by
// session, then the fence of the stretches. Where a session has stretches in several runs, the later run is
// the newer; its whole vector is the one in the last of them.
type embeddings struct {
	dim  int
	runs []embeddingRun // the oldest first
}

type embeddingRun struct {
	runInfo
	fence block.Fence
}

// newEmbeddings are the vectors in runs, given their headers.
func newEmbeddings(dim int, runs []runInfo, data [][]byte) (embeddings, error) {
	w := embeddings{dim: dim, runs: make([]embeddingRun, len(runs))}
	for i, run := range runs {
		fence, err := block.DecodeFence(data[i])
		if err != nil {
			return w, err
		}
		w.runs[i] = embeddingRun{run, fence}
	}
	return w, nil
}

// stretches is the span in which the stretches of all sessions lie.
func (r *embeddingRun) stretches() db.Span { return db.Span{Run: r.ID, To: r.fence.End()} }

// wholes is where the whole vectors are.
func (r *embeddingRun) wholes() db.Span { return db.Span{Run: r.ID, From: r.fence.End(), To: r.Head} }

// numberKey sorts as the numbers of sessions do.
func numberKey(session int) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(session)))
}

// sessionOf is the number that sessionKey made a key of; -1 for none.
func sessionOf(key []byte) int {
	if len(key) != 4 {
		return -1
	}
	return int(binary.BigEndian.Uint32(key))
}

// wholes asks for the vectors of sessions, of all runs.
func (w *embeddings) wholes() []db.Span {
	var out []db.Span
	for _, r := range w.runs {
		out = append(out, r.wholes())
	}
	return out
}

// eachWhole walks the vectors of sessions, by number, in the bytes of wholes. The last one of a session counts.
func (w *embeddings) eachWhole(data [][]byte, sessions int, f func(session int, v semantic.Vector)) error {
	for _, run := range data {
		entries := block.NewEntries(run)
		for entries.Next() {
			session := sessionOf(entries.Key)
			v, err := semantic.DecodeVector(entries.Value, w.dim)
			if err != nil || session < 0 || session >= sessions {
				return block.ErrFormat
			}
			f(session, v)
		}
		if err := entries.Err(); err != nil {
			return err
		}
	}
	return nil
}

// read reads the passages of sessions.
func (w *embeddings) read(ctx context.Context, r db.Querier, wanted map[int]bool) (map[int]semantic.Stretch, error) {
	keys := make(map[string]bool, len(wanted))
	for session := range wanted {
		keys[numberKey(session)] = true
	}
	var spans []db.Span
	for _, run := range w.runs { // the oldest first
		spans = append(spans, spansOf(run.ID, run.fence, keys)...)
	}
	data, err := db.ReadSpans(ctx, r, spans)
	if err != nil {
		return nil, err
	}
	out := make(map[int]semantic.Stretch, len(wanted))
	for _, d := range data {
		entries := block.NewEntries(d)
		for entries.Next() {
			session := sessionOf(entries.Key)
			if !wanted[session] {
				continue
			}
			s, err := semantic.DecodeStretch(entries.Value, w.dim)
			if err != nil {
				return nil, err
			}
			out[session] = out[session].Join(s)
		}
		if err := entries.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// projected is the passages of a session that are new, and its vector as a whole.
type projected struct {
	session int
	semantic.Stretch
	whole semantic.Vector
	sum   []float32 // whole, before it was rounded
}

// project appends new passages to a session's passages. The vector of the session is the sum of all its passages, made
// length 1.
func project(session, dim int, before, fresh []semantic.Passage) *projected {
	p := &projected{
		session: session, Stretch: semantic.Stretch{From: len(before), Passages: fresh},
		sum: make([]float32, dim),
	}
	for _, w := range before {
		w.AddTo(p.sum)
	}
	for _, w := range fresh {
		w.AddTo(p.sum)
	}
	semantic.Normalise(p.sum)
	p.whole = semantic.Quantise(p.sum)
	return p
}

// embeddingWriter makes the blocks of a run of passages, session by session in the order of their numbers.
type embeddingWriter struct {
	stretches, wholes block.Writer
	size              int // passages
	buf               []byte
}

func (w *embeddingWriter) put(p *projected) {
	w.stretch(numberKey(p.session), p.Stretch)
	w.buf = p.whole.Append(w.buf[:0])
	w.wholes.Add(numberKey(p.session), w.buf)
}

func (w *embeddingWriter) stretch(key string, s semantic.Stretch) {
	w.size += len(s.Passages)
	w.buf = s.Append(w.buf[:0])
	w.stretches.Add(key, w.buf)
}

// finish writes what out does not have yet.
func (w *embeddingWriter) finish(out *db.RunWriter, id int) (runInfo, error) {
	w.stretches.Flush()
	w.wholes.Flush()
	out.Write(w.stretches.Take())
	out.Write(w.wholes.Take())
	return finishRun(out, id, w.size, block.AppendFence(nil, w.stretches.Fence))
}

// merge puts what the runs from keep on and a new one tell of sessions into one.
func (w *embeddings) merge(ctx context.Context, tx *db.Tx, keep int, fresh *embeddingWriter,
	out *db.RunWriter,
) (*embeddingWriter, error) {
	var stretches, wholes []*block.Entries
	for _, r := range w.runs[keep:] {
		stretches = append(stretches, block.NextEntries(readPiecewise(ctx, tx, r.stretches())))
		wholes = append(wholes, block.NextEntries(readPiecewise(ctx, tx, r.wholes())))
	}
	fresh.stretches.Flush()
	fresh.wholes.Flush()
	stretches = append(stretches, block.NewEntries(fresh.stretches.Take()))
	wholes = append(wholes, block.NewEntries(fresh.wholes.Take()))
	merged := &embeddingWriter{}
	err := block.Merge(stretches, func(key string, values [][]byte) error {
		var joined semantic.Stretch
		for _, v := range values {
			if v == nil {
				continue
			}
			s, err := semantic.DecodeStretch(v, w.dim)
			if err != nil {
				return err
			}
			joined = joined.Join(s)
		}
		merged.stretch(key, joined)
		out.Write(merged.stretches.Take())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return merged, block.Merge(wholes, func(key string, values [][]byte) error {
		for _, v := range slices.Backward(values) {
			if v != nil {
				merged.wholes.Add(key, v)
				break
			}
		}
		return nil
	})
}
