package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// ModelName is the name of the semantic model, which no embedding model may have.
const ModelName = "lsa-v1"

// Model says where the semantic model stands.
type Model struct {
	Turns int  // it was made for so many, the first that were added; 0 while there is none
	Due   bool // so much was added since that Train would train another
}

// ReadModel reads how the model stands, or would stand with so many turns more.
func ReadModel(ctx context.Context, r db.Querier, more int) (Model, error) {
	st, err := readState(ctx, r)
	st.Turns += more
	return Model{Turns: st.Model.Turns, Due: st.due() > st.Model.Turns}, err
}

// late is which part of all turns, the latest of them, a model is not trained on: one in so
// many. What people push some days after they said it falls among these, and the model
// stays as it is.
const late = 8

// due is how many turns the model should be trained on.
func (s *state) due() int { return semantic.Threshold(s.Turns - s.Turns/late) }

// sample is how many turns a model is trained on at most: of more, every second, third, … session
// stands for all. Beyond some ten thousand windows a larger sample ranks the same.
const sample = 50_000

// Train trains the model that is due, if one is: on the first turns that were added, and
// projects every session.
func Train(ctx context.Context, tx *db.Tx, now time.Time) error {
	a, err := newAdder(ctx, tx)
	if err != nil {
		return err
	}
	due := a.state.due()
	if due <= a.state.Model.Turns {
		return nil
	}
	if err := a.train(ctx, due, now); err != nil {
		return fmt.Errorf("search: train: %w", damaged(err))
	}
	return writeState(ctx, tx, a.state)
}

// train makes the model for the first threshold turns and projects every session.
func (a *adder) train(ctx context.Context, threshold int, now time.Time) error {
	if err := a.forget(ctx); err != nil {
		return err
	}
	a.state.Model.Turns = threshold
	model, err := a.learn(ctx, threshold)
	if err != nil || model == nil {
		return err
	}
	if err := a.storeTerms(ctx, model); err != nil {
		return err
	}
	id := a.state.newRun()
	out, w, all := a.tx.NewRun(ctx, id), &windowWriter{}, model.Projector()
	for group := range slices.Chunk(a.all(), groupSize) {
		streams, err := a.read(ctx, group)
		if err != nil {
			return err
		}
		done := projectAll(all, streams, nil)
		for _, p := range done {
			w.put(p)
		}
		out.Write(w.stretches.Take())
		if err := a.storeVectors(ctx, done, ModelName, now); err != nil {
			return err
		}
	}
	run, err := w.finish(out, id)
	a.state.Model.Windows = []runInfo{run}
	return err
}

// all lists the sessions, by number. Hidden ones count, so that a model depends on nothing but what
// was added, and hiding and showing again changes nothing.
func (a *adder) all() []int {
	out := make([]int, len(a.index.Sessions))
	for n := range out {
		out[n] = n
	}
	return out
}

// forget drops the model that is there.
func (a *adder) forget(ctx context.Context) error {
	old := a.state.Model
	a.state.Model = modelInfo{}
	if old.Dim == 0 {
		return nil
	}
	for _, run := range append(old.Windows, old.Terms) {
		if err := a.tx.DropRun(ctx, run.ID); err != nil {
			return err
		}
	}
	return a.tx.ForgetEmbeddings(ctx, ModelName)
}

// learn trains a model on the first threshold turns; it is nil when those are too few.
func (a *adder) learn(ctx context.Context, threshold int) (*semantic.Model, error) {
	taught := a.index.Turns(threshold)
	var chosen []int
	for n := 0; n < len(taught); n += (threshold + sample - 1) / sample {
		if taught[n] > 0 {
			chosen = append(chosen, n)
		}
	}
	c := &semantic.Corpus{}
	for group := range slices.Chunk(chosen, groupSize) {
		streams, err := a.read(ctx, group)
		if err != nil {
			return nil, err
		}
		for _, s := range streams {
			n := s.after(taught[s.session])
			for w := range semantic.Count(n) {
				from, to := semantic.Span(w, n)
				c.Add(s.stems[from:to])
			}
		}
	}
	return semantic.Train(c), nil
}

// storeTerms writes the model itself.
func (a *adder) storeTerms(ctx context.Context, model *semantic.Model) error {
	fence, blocks := model.Pack()
	id := a.state.newRun()
	out := a.tx.NewRun(ctx, id)
	out.Write(blocks)
	run, err := closeRun(out, id, len(model.Terms), block.AppendFence(nil, fence))
	a.state.Model.Dim, a.state.Model.Terms = model.Dim, run
	return err
}

// foldIn projects the windows that this Add completes or begins.
func (a *adder) foldIn(ctx context.Context, now time.Time) error {
	numbers := a.build.SessionsWithTurns()
	streams, err := a.read(ctx, numbers)
	if err != nil {
		return err
	}
	model, err := a.modelOf(ctx, streams)
	if err != nil {
		return err
	}
	before, err := a.before(ctx, numbers)
	if err != nil {
		return err
	}
	done := projectAll(model.Projector(), streams, before)
	if err := a.storeVectors(ctx, done, ModelName, now); err != nil {
		return err
	}
	return a.storeWindows(ctx, &a.heads.windows, &a.state.Model.Windows, done)
}

// modelOf reads the vectors of the stems in streams.
func (a *adder) modelOf(ctx context.Context, streams []*stream) (*semantic.Model, error) {
	needed := make(map[string]bool)
	for _, s := range streams {
		for _, t := range s.stems {
			needed[t] = true
		}
	}
	m := a.state.Model
	model := &semantic.Model{Dim: m.Dim, Terms: make(map[string]semantic.Vector, len(needed))}
	data, err := db.ReadSpans(ctx, a.tx, spansOf(m.Terms.ID, a.heads.terms, needed))
	if err != nil {
		return nil, err
	}
	for _, d := range data {
		if err := model.Unpack(d, func(t []byte) bool { return needed[string(t)] }); err != nil {
			return nil, err
		}
	}
	return model, nil
}

// before reads the windows of sessions that stay as they are when the sessions grow.
func (a *adder) before(ctx context.Context, numbers []int) (map[int][]semantic.Window, error) {
	stems := a.index.Stems()
	wanted := make(map[int]bool)
	for _, n := range numbers {
		if n < len(stems) && stems[n] > 0 {
			wanted[n] = true
		}
	}
	stretches, err := a.heads.windows.read(ctx, a.tx, wanted)
	if err != nil {
		return nil, err
	}
	out := make(map[int][]semantic.Window)
	for n, s := range stretches {
		stay := semantic.Stale(stems[n])
		if s.From > 0 || stay > len(s.Windows) {
			return nil, block.ErrFormat
		}
		out[n] = s.Windows[:stay]
	}
	return out, nil
}

// storeWindows writes new windows as one run, merged with the runs before it that are not much
// larger, and drops those.
func (a *adder) storeWindows(ctx context.Context, have *windows, runs *[]runInfo, done []*projected) error {
	w := &windowWriter{}
	for _, p := range done {
		w.put(p)
	}
	keep, id := kept(*runs, w.size), a.state.newRun()
	out := a.tx.NewRun(ctx, id)
	w, err := have.merge(ctx, a.tx, keep, w, out)
	if err != nil {
		return err
	}
	run, err := w.finish(out, id)
	if err == nil {
		*runs, err = replaceRuns(ctx, a.tx, *runs, keep, run)
	}
	return err
}

// storeVectors writes the vectors of sessions: a session's is the sum of its windows', made length 1.
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
