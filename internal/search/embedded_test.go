package search_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// toy is a model that knows that some words mean the same, and finds all texts rather alike, as
// real models do.
func toy(dim int) func(text string) []float32 {
	same := map[string]string{"automobile": "car", "vehicle": "car", "physician": "doctor"}
	return func(text string) []float32 {
		v := make([]float32, dim)
		v[0] = 2
		words := strings.Fields(text)
		for _, w := range words {
			if s, ok := same[w]; ok {
				w = s
			}
			h := fnv.New64a()
			h.Write([]byte(w))
			r := rand.New(rand.NewPCG(h.Sum64(), 1))
			for i := range v {
				v[i] += float32(r.NormFloat64()) / float32(len(words))
			}
		}
		return v
	}
}

const dim = 32

// embedAll gives everything pending its vectors, at most so many passages at a time, and says how
// many it were.
func embedAll(t *testing.T, d *db.DB, model string, dim, most int) (passages int) {
	t.Helper()
	vector := toy(dim)
	for range 1000 {
		batch, left, err := search.Unembedded(t.Context(), d, model, most, nil)
		if err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return passages
		}
		room := most
		var done []search.Embedded
		for _, p := range batch {
			e := search.Embedded{Pending: p}
			for _, text := range p.Texts[:min(room, len(p.Texts))] {
				e.Vectors = append(e.Vectors, vector(text))
			}
			passages += len(e.Vectors)
			room -= len(e.Vectors)
			done = append(done, e)
		}
		change(t, d, func(ctx context.Context, tx *db.Tx) error { return search.Embed(ctx, tx, model, done, noon) })
	}
	t.Fatal("there is always something left")
	return 0
}

// asking is options with which the toy model answers when it is asked for by its name.
func asking(model string, dim int) search.Options {
	return search.Options{Embed: func(_ context.Context, asked, text string) []float32 {
		if asked != model {
			return nil
		}
		return toy(dim)(text)
	}}
}

// cars is sessions of which one speaks of cars.
func cars() []session.Session {
	return append(filler(30), talk("G0000", "unrelated words come first", "the car broke down today"))
}

// What shares no word with a question is found by what it means, at its turn.
func TestEmbeddingFinds(t *testing.T) {
	d := newIndex(t)
	add(t, d, cars()...)
	embedAll(t, d, "m", dim, 100)
	if got := find(t, d, "automobile", search.Options{}); len(got) > 0 {
		t.Fatalf("without the model: %v", got)
	}
	got := find(t, d, "automobile", asking("m", dim))
	if len(got) == 0 || got[0].Session != "G0000" || !cmp.Equal(got[0].Matched, []string{search.MatchedSemantic}) {
		t.Fatalf("%+v", got)
	}
	if got[0].Turn != 1 {
		t.Errorf("turn %d", got[0].Turn)
	}
}

// Vectors that don't fit those in the index change nothing, and nobody is asked where there
// are none.
func TestEmbeddingFallsBack(t *testing.T) {
	d := newIndex(t)
	add(t, d, cars()...)
	want := find(t, d, "token expiry", search.Options{})
	opt := search.Options{Embed: func(context.Context, string, string) []float32 {
		t.Error("asked although there are no vectors")
		return nil
	}}
	alike(t, "no vectors", want, find(t, d, "token expiry", opt))
	embedAll(t, d, "m", dim, 100)
	none := search.Options{Embed: func(context.Context, string, string) []float32 { return nil }}
	for name, opt := range map[string]search.Options{
		"nobody to ask": {}, "no answer": none, "another model": asking("n", dim), "other dimensions": asking("m", dim+1),
	} {
		alike(t, name, want, find(t, d, "token expiry", opt))
	}
}

// A session without vectors keeps its place among those that have them.
func TestEmbeddingMixed(t *testing.T) {
	d := newIndex(t)
	add(t, d, append(filler(40), talk("A0000", "the zebra has stripes"), talk("C0000", "the car broke down"))...)
	embedAll(t, d, "m", dim, 1000)
	add(t, d, talk("Z0000", "the zebra has stripes"), talk("Z0001", "the automobile is old"))
	got := find(t, d, "zebra", asking("m", dim))
	if len(got) < 2 || got[0].Session != "A0000" || got[1].Session != "Z0000" {
		t.Fatalf("%+v", got)
	}
	if ratio := got[1].Score / got[0].Score; ratio < 0.75 {
		t.Errorf("without vectors %.3f, with %.3f", got[1].Score, got[0].Score)
	}
	all := asking("m", dim)
	all.Weak = true
	got = find(t, d, "automobile", all)
	if diff := cmp.Diff([]string{"Z0001", "C0000"}, ids(got)[:min(2, len(got))]); diff != "" || got[1].Lexical != 0 {
		t.Errorf("the word, then what means the same (-want +got):\n%s", diff)
	}
}

// Vectors that came bit by bit, as sessions grew, are those of an index that was embedded at
// once; and only what is new is embedded.
func TestEmbeddingGrows(t *testing.T) {
	words := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "word%d ", i%97)
		}
		return b.String()
	}
	first, second := talk("S1", words(0, 120), words(0, 300)), talk("S2", words(50, 90))
	first.Turns[1].Role = session.RoleAssistant
	more := session.Session{ID: "S1", Turns: []session.Turn{{
		Index: 2, Role: session.RoleAssistant, TS: noon,
		Content: words(7, 200),
	}}}

	grown := newIndex(t)
	add(t, grown, first)
	n := embedAll(t, grown, "m", dim, 3)
	add(t, grown, more, second)
	later := embedAll(t, grown, "m", dim, 3)

	once := newIndex(t)
	add(t, once, first, more, second)
	all := embedAll(t, once, "m", dim, 1000)
	if n+later != all+3 { // of what was the last answer, and no longer is
		t.Errorf("%d and then %d passages, at once %d", n, later, all)
	}
	for _, q := range []string{"word5 word6", "word80", "word7 of that"} {
		alike(t, q, find(t, once, q, asking("m", dim)), find(t, grown, q, asking("m", dim)))
	}
	if diff := cmp.Diff(rowsOf(t, once), rowsOf(t, grown)); diff != "" {
		t.Errorf("rows (-at once +grown):\n%s", diff)
	}
}

// rowsOf is the vectors of sessions, in short.
func rowsOf(t *testing.T, d *db.DB) map[string]string {
	t.Helper()
	rows, err := d.Query(t.Context(), "SELECT session, model, embedding FROM embeddings")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var id, model string
		var blob []byte
		if err := rows.Scan(&id, &model, &blob); err != nil {
			t.Fatal(err)
		}
		length := 0.0
		for at := 0; at < len(blob); at += 4 {
			x := float64(math.Float32frombits(binary.LittleEndian.Uint32(blob[at:])))
			length += x * x
		}
		out[id] += fmt.Sprintf("%s %d %.1f;", model, len(blob)/4, length)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Another model's vectors take the place of the old ones; a session that is hidden is
// not found, and keeps its own.
func TestEmbeddingChanges(t *testing.T) {
	d := newIndex(t)
	add(t, d, talk("S1", "a car"), talk("S2", "a doctor"), talk("S3", ""))
	embedAll(t, d, "m", dim, 100)
	unit := func(model string, dim int) string { return fmt.Sprintf("%s %d 1.0;", model, dim) }
	if diff := cmp.Diff(map[string]string{"S1": unit("m", dim), "S2": unit("m", dim)}, rowsOf(t, d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := embedAll(t, d, "n", 16, 100); n != 2 {
		t.Errorf("another model: %d passages", n)
	}
	if diff := cmp.Diff(map[string]string{"S1": unit("n", 16), "S2": unit("n", 16)}, rowsOf(t, d)); diff != "" {
		t.Errorf("another model (-want +got):\n%s", diff)
	}
	before := find(t, d, "automobile", asking("n", 16))
	if len(before) == 0 || before[0].Session != "S1" {
		t.Fatalf("before: %+v", before)
	}
	hide(t, d, "S1")
	if diff := cmp.Diff(map[string]string{"S1": unit("n", 16), "S2": unit("n", 16)}, rowsOf(t, d)); diff != "" {
		t.Errorf("hidden (-want +got):\n%s", diff)
	}
	if n := embedAll(t, d, "n", 16, 100); n != 0 {
		t.Errorf("hidden: %d passages to embed", n)
	}
	for _, h := range find(t, d, "automobile", asking("n", 16)) {
		if h.Session == "S1" {
			t.Error("hidden, and found")
		}
	}
	hide(t, d)
	alike(t, "shown again", before, find(t, d, "automobile", asking("n", 16)))
}

// What the server makes of a text in another length than before begins anew.
func TestEmbeddingOtherDimensions(t *testing.T) {
	d := newIndex(t)
	add(t, d, talk("S1", "a car"))
	embedAll(t, d, "m", dim, 100)
	add(t, d, talk("S2", "a doctor"))
	embedAll(t, d, "m", 16, 100)
	if diff := cmp.Diff(map[string]string{"S1": "m 16 1.0;", "S2": "m 16 1.0;"}, rowsOf(t, d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	batch, _, err := search.Unembedded(t.Context(), newIndex(t), "m", 1, nil)
	if err != nil || len(batch) > 0 {
		t.Errorf("an empty index: %v, %v", batch, err)
	}
	two := []search.Embedded{{Vectors: [][]float32{{1, 2}, {1}}}}
	tx, err := d.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := search.Embed(t.Context(), tx, "m", two, noon); err == nil {
		t.Error("vectors of two lengths: no error")
	}
}

// A new index takes over the vectors of what is the same in it.
func TestCarry(t *testing.T) {
	old := newIndex(t)
	add(t, old, append(cars(), talk("S1", "one thing"), talk("S2", "gone"))...)
	embedAll(t, old, "m", dim, 100)
	hide(t, old, "S2")

	now := newIndex(t)
	add(t, now, append([]session.Session{talk("S1", "another thing"), talk("S3", "new")}, cars()...)...)
	change(t, now, func(ctx context.Context, tx *db.Tx) error { return search.Carry(ctx, old, tx, noon) })
	batch, left, err := search.Unembedded(t.Context(), now, "m", 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	var pending []string
	for _, p := range batch {
		pending = append(pending, p.Session)
	}
	if diff := cmp.Diff([]string{"S3", "S1"}, pending); diff != "" || left != 2 {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	embedAll(t, now, "m", dim, 100)
	want := newIndex(t)
	add(t, want, append([]session.Session{talk("S1", "another thing"), talk("S3", "new")}, cars()...)...)
	embedAll(t, want, "m", dim, 100)
	for _, q := range []string{"automobile", "token login"} {
		alike(t, q, find(t, want, q, asking("m", dim)), find(t, now, q, asking("m", dim)))
	}
	change(t, now, func(ctx context.Context, tx *db.Tx) error { return search.Carry(ctx, newIndex(t), tx, noon) })
}
