package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
	"github.com/git-rekal/git-rekal/internal/session"
)

// embedInfo is the vectors of an embedding model and where their runs are. There is one model
// at a time. What is embedded of a session stands in the table embedded.
type embedInfo struct {
	Model    string    `json:"model,omitempty"` // as its vectors are stored under
	Dim      int       `json:"dim,omitempty"`
	Passages []runInfo `json:"windows,omitempty"` // of passages, the oldest first
}

// Pending is a session of which some passages have no vector.
type Pending struct {
	Session string
	Texts   []string // of those passages, in their order; none where only that has to be noted

	have  int // passages before them, which have one
	turns int // of the session
	all   []modelPassage
}

// Embedded is what was made of a Pending: the vectors of its texts, or of the first of them.
type Embedded struct {
	Pending
	Vectors [][]float32
}

// HasVectors reports whether passages have vectors of an embedding model.
func HasVectors(ctx context.Context, r db.Querier) (bool, error) {
	st, err := readState(ctx, r)
	return st.Embedded.Dim > 0, err
}

// errDimensions is a server that changed its mind.
var errDimensions = errors.New("search: vectors of different dimensions")

// Unembedded returns sessions of which passages lack the vectors of a model, those with the
// latest IDs first: as many as have most passages to embed between them, or a few more. Left is
// how many such sessions there are in all.
func Unembedded(ctx context.Context, r db.Querier, model string, most int,
	leave Leave,
) (batch []Pending, left int, err error) {
	st, err := readState(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	ids, err := db.NeedingVectors(ctx, r, st.Embedded.Model != model)
	if err == nil && leave != nil {
		var without []string
		without, err = leave(ctx, r)
		ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(without, id) })
	}
	if err != nil {
		return nil, 0, err
	}
	for group := range slices.Chunk(ids, 20) {
		some, err := pendings(ctx, r, group, st.Embedded.Model == model)
		if err != nil {
			return nil, 0, err
		}
		batch = append(batch, some...)
		for _, p := range some {
			most -= len(p.Texts)
		}
		if most <= 0 {
			break
		}
	}
	return batch, len(ids), nil
}

// pendings reads what is to be embedded of sessions, in their order.
func pendings(ctx context.Context, r db.Querier, ids []string, counts bool) ([]Pending, error) {
	turns, err := db.TurnsOf(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	var have map[string][]byte
	if counts {
		if have, err = db.PassageHashes(ctx, r, ids); err != nil {
			return nil, err
		}
	}
	out := make([]Pending, len(ids))
	for i, id := range ids {
		out[i] = pendingOf(id, turns[id], have[id])
	}
	return out, nil
}

// pendingOf cuts a session into passages, the first of which may have vectors: those under the
// same hashes, of 8 bytes each.
func pendingOf(id string, turns []session.Turn, have []byte) Pending {
	p := Pending{Session: id, turns: len(turns), all: modelPassages(turns)}
	for p.have < min(len(have)/8, len(p.all)) && binary.LittleEndian.Uint64(have[8*p.have:]) == p.all[p.have].hash() {
		p.have++
	}
	for _, x := range p.all[p.have:] {
		p.Texts = append(p.Texts, x.text)
	}
	return p
}

// Embed stores the vectors of a model. Those of another model, or of other dimensions, go. A
// session that is gone, or that changed behind the caller's back, is left out: it will be
// pending again.
func Embed(ctx context.Context, tx *db.Tx, model string, done []Embedded, now time.Time) error {
	a, err := newAdder(ctx, tx)
	if err != nil {
		return err
	}
	stored := make([]quantised, len(done))
	for i, e := range done {
		stored[i].Pending = e.Pending
		for _, v := range e.Vectors {
			unit := slices.Clone(v)
			semantic.Normalise(unit)
			stored[i].vectors = append(stored[i].vectors, semantic.Quantise(unit))
		}
	}
	if err := a.embed(ctx, model, stored, now); err != nil {
		return fmt.Errorf("search: embed: %w", asCorrupt(err))
	}
	return writeState(ctx, tx, a.state)
}

// quantised is an Embedded as it is stored.
type quantised struct {
	Pending
	vectors []semantic.Vector
}

func (a *adder) embed(ctx context.Context, model string, done []quantised, now time.Time) error {
	dim, err := dimensions(done)
	if err != nil {
		return err
	}
	if e := a.state.Embedded; e.Model != model || dim > 0 && e.Dim > 0 && e.Dim != dim {
		if err := a.dropVectors(ctx); err != nil {
			return err
		}
	}
	a.state.Embedded.Model = model
	if dim > 0 {
		a.state.Embedded.Dim, a.heads.embedded.dim = dim, dim
	}
	stretches, rows, err := a.buildStretches(ctx, done)
	if err != nil {
		return err
	}
	if err := a.storeEmbedded(ctx, rows); err != nil || len(stretches) == 0 {
		return err
	}
	if err := a.storeVectors(ctx, stretches, model, now); err != nil {
		return err
	}
	return a.storePassages(ctx, stretches)
}

// dimensions is the length that all vectors have; 0 if there are none.
func dimensions(done []quantised) (dim int, err error) {
	for _, e := range done {
		for _, v := range e.vectors {
			if dim > 0 && len(v.Q) != dim {
				return 0, errDimensions
			}
			dim = len(v.Q)
		}
	}
	return dim, nil
}

// dropVectors drops the vectors that are there.
func (a *adder) dropVectors(ctx context.Context) error {
	for _, w := range a.state.Embedded.Passages {
		if err := a.tx.DropRun(ctx, w.ID); err != nil {
			return err
		}
	}
	if err := a.tx.ForgetEmbeddings(ctx, a.state.Embedded.Model); err != nil {
		return err
	}
	a.state.Embedded, a.heads.embedded = embedInfo{}, embeddings{}
	return a.tx.ForgetEmbeddedPassages(ctx)
}

// buildStretches turns vectors into the stored form of sessions, in the order of the sessions' numbers. rows are the
// given vectors of sessions that did not change meanwhile.
func (a *adder) buildStretches(ctx context.Context, done []quantised) (out []*projected, rows []quantised, err error) {
	wanted := make(map[int]bool)
	for _, e := range done {
		if n, ok := a.numbers[e.Session]; ok && e.have > 0 {
			wanted[n] = true
		}
	}
	before, err := a.heads.embedded.read(ctx, a.tx, wanted)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range done {
		n, ok := a.numbers[e.Session]
		if !ok || len(before[n].Passages) < e.have {
			continue
		}
		rows = append(rows, e)
		if len(e.vectors) > 0 {
			out = append(out, e.project(n, before[n].Passages[:e.have]))
		}
	}
	slices.SortFunc(out, func(a, b *projected) int { return a.session - b.session })
	return out, rows, nil
}

// project puts the new vectors behind those that are there.
func (e *quantised) project(number int, before []semantic.Passage) *projected {
	var fresh []semantic.Passage
	for i, v := range e.vectors {
		fresh = append(fresh, semantic.Passage{Turn: e.all[e.have+i].turn, Vector: v})
	}
	return project(number, len(e.vectors[0].Q), before, fresh)
}

// storeEmbedded notes what has vectors now. A session is done when all its passages have one.
func (a *adder) storeEmbedded(ctx context.Context, rows []quantised) error {
	out := make([]db.Embedded, len(rows))
	for i, e := range rows {
		out[i] = db.Embedded{Session: e.Session, Turns: e.turns}
		n := e.have + len(e.vectors)
		for _, p := range e.all[:n] {
			out[i].Hashes = binary.LittleEndian.AppendUint64(out[i].Hashes, p.hash())
		}
		if n < len(e.all) {
			out[i].Turns = 0
		}
	}
	return a.tx.ReplaceEmbeddedPassages(ctx, out)
}

// storePassages writes new passages as one run, merged with the runs before it that are not much
// larger, and drops those.
func (a *adder) storePassages(ctx context.Context, done []*projected) error {
	w := &embeddingWriter{}
	for _, p := range done {
		w.put(p)
	}
	runs := a.state.Embedded.Passages
	keep, id := countKeptRuns(runs, w.size), a.state.newRun()
	out := a.tx.NewRun(ctx, id)
	w, err := a.heads.embedded.merge(ctx, a.tx, keep, w, out)
	if err != nil {
		return err
	}
	run, err := w.finish(out, id)
	if err == nil {
		a.state.Embedded.Passages, err = replaceRuns(ctx, a.tx, runs, keep, run)
	}
	return err
}

// storeVectors writes the vectors of sessions: a session's is the sum of its passages', made length 1.
func (a *adder) storeVectors(ctx context.Context, done []*projected, model string, now time.Time) error {
	rows := make([]db.Embedding, len(done))
	for i, p := range done {
		rows[i] = db.Embedding{Session: a.id(p.session), Vector: p.sum}
	}
	return a.tx.ReplaceEmbeddings(ctx, model, rows, now)
}

// id is a session's, by its number.
func (a *adder) id(session int) string {
	if old := len(a.index.Sessions); session >= old {
		return a.build.Sessions[session-old]
	}
	return a.index.Sessions[session]
}
