package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// teller makes vectors, and keeps what it was asked.
type teller struct {
	asked []string
	quits int    // after so many calls it fails; 0: never
	meet  func() // what happens while it is asked
	calls int
}

var errQuit = errors.New("the server is gone")

func (s *teller) vectors(_ context.Context, texts []string) ([][]float32, error) {
	if s.meet != nil {
		s.meet()
	}
	if s.calls++; s.calls == s.quits {
		return nil, errQuit
	}
	var out [][]float32
	for _, text := range texts {
		out = append(out, []float32{1, float32(len(text)), float32(strings.Count(text, "e"))})
	}
	s.asked = append(s.asked, texts...)
	return out, nil
}

func (s *teller) embedder() search.Embedder {
	return search.Embedder{Model: "m", Batch: 2, Vectors: s.vectors}
}

const (
	missing = `SELECT count(*) AS n FROM session_facets WHERE turn_count > 0 AND session_id NOT IN (SELECT session_id FROM session_embeddings WHERE model = 'm')`
	vectors = `SELECT session_id, embedding FROM session_embeddings WHERE model = 'm' ORDER BY session_id`
)

// Every session gets its vectors once, whatever happens to the tables meanwhile: they grow, and
// they are made anew when a model is due or somebody says so.
func TestLongEmbed(t *testing.T) {
	w, s := newWorld(t), &teller{}
	m := w.materializer()
	embed := func() {
		t.Helper()
		if err := m.Embed(t.Context(), s.embedder()); err != nil {
			t.Fatal(err)
		}
	}
	w.story()
	commits := 0
	w.crowd(24, func() {
		if commits++; commits%4 == 0 {
			embed()
		}
	})
	harness.Equal(t, "sessions without", []string{`{"n":0}`}, w.index(m, missing))
	want := w.index(m, vectors)
	n := len(s.asked)
	slices.Sort(s.asked)
	if twice := n - len(slices.Compact(s.asked)); twice > n/10 {
		t.Errorf("%d of %d passages were embedded twice", twice, n)
	}

	embed()
	if err := m.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	embed()
	if len(s.asked) != n {
		t.Errorf("%d passages more", len(s.asked)-n)
	}
	harness.Equal(t, "vectors in an index that was made anew", want, w.index(m, vectors))
	w.noWarnings()
}

// A server that dies loses nothing that it had said, and the next time goes on there.
func TestLongEmbedInterrupted(t *testing.T) {
	w, s := newWorld(t), &teller{}
	m := w.materializer()
	w.crowd(20)
	rounds := 0
	for ; rounds < 100; rounds++ {
		s.calls, s.quits = 0, 3
		err := m.Embed(t.Context(), s.embedder())
		if err == nil {
			break
		}
		if !errors.Is(err, errQuit) {
			t.Fatal(err)
		}
	}
	harness.Equal(t, "sessions without", []string{`{"n":0}`}, w.index(m, missing))
	asked := len(s.asked)
	slices.Sort(s.asked)
	if rounds != 9 || len(slices.Compact(s.asked)) != asked {
		t.Errorf("%d rounds, %d passages, %d different ones", rounds, asked, len(slices.Compact(s.asked)))
	}
}

// What is enough is told between two requests.
func TestLongEmbedEnough(t *testing.T) {
	w, s := newWorld(t), &teller{}
	m := w.materializer()
	w.crowd(20)
	e := s.embedder()
	e.Enough = func() bool { return s.calls >= 2 }
	var progress []string
	e.Progress = func(done, total int) { progress = append(progress, fmt.Sprintf("%d/%d", done, total)) }
	for range 2 {
		s.calls = 0
		if err := m.Embed(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.asked) != 8 {
		t.Errorf("%d passages in two times two requests", len(s.asked))
	}
	harness.Equal(t, "progress", []string{"0/10", "0/9"}, progress)
}

// While the server is asked, others read and write, and no second process asks.
func TestLongEmbedHoldsNobodyUp(t *testing.T) {
	w, s, other := newWorld(t), &teller{}, &teller{}
	w.crowd(6)
	m, m2 := w.materializer(), w.materializer()
	n := 0
	s.meet = func() {
		if n++; n > 2 {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // or they wait for each other for ever
		defer cancel()
		w.append(alice, 500+n, entryOf(commit("9", alice),
			chat(fmt.Sprintf("meanwhile-%d", n), 499+n, "human is there somebody meanwhile?")))
		if err := errors.Join(m2.CatchUp(ctx), m2.Embed(ctx, other.embedder()), m2.Rebuild(ctx)); err != nil {
			t.Error(err)
		}
	}
	if err := m.Embed(t.Context(), s.embedder()); err != nil {
		t.Fatal(err)
	}
	if len(other.asked) > 0 {
		t.Errorf("a second one asked for %q", other.asked)
	}
	harness.Equal(t, "sessions without", []string{`{"n":0}`}, w.index(m, missing))
	w.noWarnings()
}

// An empty repository has nothing to embed.
func TestEmbedNothing(t *testing.T) {
	w, s := newWorld(t), &teller{}
	if err := w.materializer().Embed(t.Context(), s.embedder()); err != nil || len(s.asked) > 0 {
		t.Errorf("%v, %q", err, s.asked)
	}
}
