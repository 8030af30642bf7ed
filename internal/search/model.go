package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// modelName is session_embeddings' name of the model.
const modelName = "lsa-v1"

// stream is the end of a session's stems, from the word number from on.
type stream struct {
	session int
	from    int
	stems   []string
	turns   []int // by stem: the index of its turn
}

func (s *stream) add(turn int, stems []string) {
	s.stems = append(s.stems, stems...)
	for range stems {
		s.turns = append(s.turns, turn)
	}
}

// end is the number of stems of the session.
func (s *stream) end() int { return s.from + len(s.stems) }

// bag counts the stems of window w of a session with n stems.
func (s *stream) bag(w, n int) map[string]int {
	from, to := semantic.Span(w, n)
	bag := make(map[string]int)
	for _, t := range s.stems[from-s.from : to-s.from] {
		bag[t]++
	}
	return bag
}

// Model says where the semantic model stands.
type Model struct {
	Dim   int  // of the vectors in session_embeddings; 0 while there is no model
	Turns int  // it was trained on so many, the first that were added; 0 while there is none
	Due   bool // so much was added since that Train would train another
}

// ReadModel reads how the model stands.
func ReadModel(ctx context.Context, r reader) (Model, error) {
	st, err := readState(ctx, r)
	return Model{Dim: st.Model.Dim, Turns: st.Model.Turns, Due: st.due() > st.Model.Turns}, err
}

// late is which part of all turns, the latest of them, a model is not trained on: one in so
// many. What people push some days after they said it falls among these, and the model
// stays as it is.
const late = 8

// due is how many turns the model should be trained on.
func (s *state) due() int { return semantic.Threshold(s.Turns - s.Turns/late) }

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

// train trains a new model on the first threshold turns and projects every session.
func (a *adder) train(ctx context.Context, threshold int, now time.Time) error {
	streams, trained, err := a.allStreams(ctx, threshold)
	if err != nil {
		return err
	}
	var bags []map[string]int
	for i, s := range streams {
		for w := range semantic.Count(trained[i]) {
			bags = append(bags, s.bag(w, trained[i]))
		}
	}
	old := a.state.Model
	a.state.Model = modelInfo{Turns: threshold}
	if old.Dim > 0 {
		for _, run := range []int{old.Terms, old.Windows} {
			if err := a.tx.DropRun(ctx, run); err != nil {
				return err
			}
		}
		if err := a.tx.Exec(ctx, "DELETE FROM session_embeddings WHERE model = ?", modelName); err != nil {
			return err
		}
	}
	model := semantic.Train(bags)
	if model == nil {
		return nil
	}
	m := &a.state.Model
	m.Dim, m.Terms, m.Windows = model.Dim, a.state.newRun(), a.state.newRun()
	fence, blocks := model.Pack()
	blocks = append([][]byte{block.AppendFence(nil, fence)}, blocks...)
	if err := a.tx.WriteRun(ctx, m.Terms, blocks); err != nil {
		return err
	}
	if err := a.tx.WriteRun(ctx, m.Windows, nil); err != nil {
		return err
	}
	streams = slices.DeleteFunc(streams, func(s *stream) bool { return a.index.Dead(s.session) })
	return a.project(ctx, model, streams, nil, now)
}

// allStreams returns every session's stream, by session number, and how many stems of each
// belong to the first threshold turns.
func (a *adder) allStreams(ctx context.Context, threshold int) ([]*stream, []int, error) {
	streams, trained := make([]*stream, len(a.index.Sessions)), make([]int, len(a.index.Sessions))
	for i := range streams {
		streams[i] = &stream{session: i}
	}
	stems, err := a.oldStems(ctx, "", nil)
	if err != nil {
		return nil, nil, err
	}
	turns := 0
	for _, u := range a.index.Units() {
		if u.Kind != lexical.Content {
			continue
		}
		s := streams[u.Session]
		s.add(int(u.Turn), stems[turnKey{a.index.Sessions[u.Session], int(u.Turn)}])
		if turns++; turns <= threshold {
			trained[u.Session] = s.end()
		}
	}
	return streams, trained, nil
}

// turnKey names a turn.
type turnKey struct {
	session string
	turn    int
}

// oldStems returns the stems of the turns in turns_ft that where accepts and that were there
// before this Add.
func (a *adder) oldStems(ctx context.Context, where string, args []any) (map[turnKey][]string, error) {
	out := make(map[turnKey][]string)
	rows, err := a.tx.Query(ctx, "SELECT session_id, turn_index, content FROM turns_ft "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var k turnKey
		var content string
		if err := rows.Scan(&k.session, &k.turn, &content); err != nil {
			return nil, err
		}
		for _, t := range a.analyzer.Tokens(content) {
			if t.Kind == analysis.Word {
				out[k] = append(out[k], t.Term)
			}
		}
	}
	return out, rows.Err()
}

// foldIn projects the windows that this Add completes or begins.
func (a *adder) foldIn(ctx context.Context, now time.Time) error {
	streams, err := a.newStreams(ctx)
	if err != nil {
		return err
	}
	needed := make(map[string]bool)
	for _, s := range streams {
		for _, t := range s.stems {
			needed[t] = true
		}
	}
	m := a.state.Model
	model := &semantic.Model{Dim: m.Dim, Terms: make(map[string]semantic.Vector, len(needed))}
	var blocks []db.Block
	err = db.ReadBlocks(ctx, a.tx, []db.Want{{Run: m.Terms, All: true}}, func(b db.Block) error {
		if b.No > 0 { // not the fence
			return model.Unpack(b.Data, func(t string) bool { return needed[t] })
		}
		return nil
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(streams, func(s *stream) bool { return s.from > 0 }) {
		// A session vector is the sum of all of a session's windows.
		err = db.ReadBlocks(ctx, a.tx, []db.Want{{Run: m.Windows, All: true}}, func(b db.Block) error {
			blocks = append(blocks, b)
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortFunc(blocks, func(a, b db.Block) int { return cmp.Compare(b.No, a.No) })
	}
	return a.project(ctx, model, streams, blocks, now)
}

// newStreams returns the streams of the sessions with new turns, each from the first window
// that changes.
func (a *adder) newStreams(ctx context.Context) ([]*stream, error) {
	streams := make(map[int]*stream)
	var out []*stream
	for i, u := range a.build.Units {
		if u.Kind != lexical.Content {
			continue
		}
		s := streams[int(u.Session)]
		if s == nil {
			var err error
			if s, err = a.tail(ctx, int(u.Session)); err != nil {
				return nil, err
			}
			streams[s.session] = s
			out = append(out, s)
		}
		s.add(int(u.Turn), a.stems[i])
	}
	return out, nil
}

// tail returns the end of a session's stream as it was before this Add: the turns from which on
// its windows change.
func (a *adder) tail(ctx context.Context, number int) (*stream, error) {
	s := &stream{session: number}
	if number >= len(a.index.Sessions) {
		return s, nil
	}
	var units []lexical.Unit
	for _, u := range a.index.Units() {
		if u.Kind == lexical.Content && int(u.Session) == number {
			units = append(units, u)
			s.from += int(u.Stems)
		}
	}
	from, _ := semantic.Span(semantic.Stale(s.from), s.from)
	first := len(units)
	for ; first > 0 && s.from > from; first-- {
		s.from -= int(units[first-1].Stems)
	}
	if first == len(units) {
		return s, nil
	}
	id := a.index.Sessions[number]
	old, err := a.oldStems(ctx, "WHERE session_id = ? AND turn_index BETWEEN ? AND ?",
		[]any{id, units[first].Turn, units[len(units)-1].Turn})
	if err != nil {
		return nil, err
	}
	for _, u := range units[first:] {
		s.add(int(u.Turn), old[turnKey{id, int(u.Turn)}])
	}
	return s, nil
}

// windowBlock is the size in bytes beyond which a block of windows is closed.
const windowBlock = 64 << 10

// project writes the windows of streams and the vectors of their sessions. Old are the
// blocks of windows that are there, newest first, where a stream is not from its session's
// beginning.
func (a *adder) project(ctx context.Context, model *semantic.Model, streams []*stream, old []db.Block, now time.Time) error {
	sums, err := a.oldSums(model.Dim, streams, old)
	if err != nil {
		return err
	}
	var blocks [][]byte
	var buf []byte
	for _, s := range streams {
		n := s.end()
		for w := firstWindow(s); w < semantic.Count(n); w++ {
			from, _ := semantic.Span(w, n)
			v := semantic.Quantise(model.Project(s.bag(w, n)))
			v.AddTo(sums[s.session], 1)
			buf = semantic.AppendWindow(buf, semantic.Window{Session: s.session, No: w, Turn: s.turns[from-s.from], Vector: v})
			if len(buf) >= windowBlock {
				blocks, buf = append(blocks, buf), nil
			}
		}
	}
	if len(buf) > 0 {
		blocks = append(blocks, buf)
	}
	m := &a.state.Model
	if err := a.tx.AppendRun(m.Windows, m.Blocks, blocks); err != nil {
		return err
	}
	m.Blocks += len(blocks)
	return a.storeVectors(ctx, streams, sums, now)
}

// firstWindow is the first window of s that must be projected.
func firstWindow(s *stream) int {
	return (s.from + semantic.Step - 1) / semantic.Step
}

// oldSums adds up the windows of each stream's session that stay as they are, in their
// order: a sum of floats depends on it.
func (a *adder) oldSums(dim int, streams []*stream, old []db.Block) (map[int][]float32, error) {
	stay := make(map[int]int, len(streams)) // windows that stay, by session
	sums := make(map[int][]float32, len(streams))
	for _, s := range streams {
		stay[s.session] = firstWindow(s)
		sums[s.session] = make([]float32, dim)
	}
	var windows []semantic.Window
	err := eachCurrent(old, dim, len(a.index.Sessions), func(w semantic.Window) {
		if w.No < stay[w.Session] {
			windows = append(windows, w)
		}
	})
	slices.SortFunc(windows, func(a, b semantic.Window) int { return cmp.Compare(a.No, b.No) })
	for _, w := range windows {
		w.AddTo(sums[w.Session], 1)
	}
	return sums, err
}

// storeVectors writes the rows of session_embeddings: a session's vector is the sum of its
// windows', made length 1.
func (a *adder) storeVectors(ctx context.Context, streams []*stream, sums map[int][]float32, now time.Time) error {
	id := func(session int) string {
		if session < len(a.index.Sessions) {
			return a.index.Sessions[session]
		}
		return a.build.Sessions[session-len(a.index.Sessions)]
	}
	for _, s := range streams {
		if s.session >= len(a.index.Sessions) {
			continue
		}
		err := a.tx.Exec(ctx, "DELETE FROM session_embeddings WHERE session_id = ? AND model = ?", id(s.session), modelName)
		if err != nil {
			return err
		}
	}
	return a.tx.Append("session_embeddings", func(row func(...any) error) error {
		for _, s := range streams {
			v := sums[s.session]
			semantic.Normalise(v)
			if err := row(id(s.session), v, modelName, now); err != nil {
				return err
			}
		}
		return nil
	})
}
