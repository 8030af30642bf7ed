package lexical_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
	"github.com/google/go-cmp/cmp"
)

// build makes a run of one session a text.
func build(base, firstSession int, texts ...string) *lexical.Builder {
	b := lexical.NewBuilder(base, firstSession)
	a := analysis.New()
	for i, text := range texts {
		b.Sessions = append(b.Sessions, string(rune('A'+firstSession+i)))
		b.Add(firstSession+i, 0, lexical.Content, a.Tokens(text))
	}
	return b
}

// pack stores a run: postings, then vocabulary, and the header.
func pack(b *lexical.Builder) (data, header []byte) {
	w := &lexical.Writer{Header: &b.Header}
	b.Write(w.Put)
	return w.Finish()
}

// lists reads all postings of a run.
func lists(t *testing.T, b *lexical.Builder) lexical.Lists {
	t.Helper()
	data, _ := pack(b)
	out := make(lexical.Lists)
	err := lexical.Decode(&b.Header, data[:b.Fence.End()], func([]byte) bool { return true },
		func(term string, l *lexical.List) {
			out.Put(term, 0, 1, l)
		})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestHeaderRoundTrip(t *testing.T) {
	want := &lexical.Header{
		Base: 7, FirstSession: 3, Sessions: []string{"a", "b"},
		Fence: block.Fence{Keys: []string{"", "x"}, Ends: []int64{3, 9}},
		Parts: []lexical.Part{
			{Session: 3, Turn: 0, Units: 2, Words: 305, Stems: 2},
			{Session: 3, Turn: -1, Units: 1, Words: 1, Kind: lexical.Paths},
			{Session: 1, Turn: -1, Units: 1, Words: 1, Stems: 1, Kind: lexical.Title},
		},
		Words: []byte{5, 82, 1, 1}, Stems: []byte{2, 0, 0, 1},
	}
	got, err := lexical.DecodeHeader(want.Append(nil))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestMergeEqualsOne checks that runs merge into the very bytes that one run would have.
func TestMergeEqualsOne(t *testing.T) {
	texts := []string{
		"alpha beta the alpha", "the", "beta gamma alpha", "src/a.go ALPHA", "gamma the beta", "",
		"alphas beta",
	}
	wantData, wantHeader := pack(build(0, 0, texts...))
	var headers []*lexical.Header
	var entries []*block.Entries
	for _, cut := range [][2]int{{0, 2}, {2, 3}, {3, 6}, {6, 7}} {
		b := build(cut[0], cut[0], texts[cut[0]:cut[1]]...)
		data, _ := pack(b)
		headers, entries = append(headers, &b.Header), append(entries, block.NewEntries(data[:b.Fence.End()]))
	}
	var w lexical.Writer
	var err error
	if w.Header, err = lexical.Merge(headers, entries, w.Put); err != nil {
		t.Fatal(err)
	}
	data, header := w.Finish()
	if !bytes.Equal(wantData, data) || !bytes.Equal(wantHeader, header) {
		t.Errorf("one run has %q and %q, the merged one %q and %q", wantData, wantHeader, data, header)
	}
}

// TestMergeJoinsParts checks that turns which go on in the next run are one part.
func TestMergeJoinsParts(t *testing.T) {
	a := analysis.New()
	one, two := lexical.NewBuilder(0, 0), lexical.NewBuilder(2, 1)
	one.Sessions = []string{"A"}
	one.Add(0, 0, lexical.Content, a.Tokens("alpha beta"))
	one.Add(0, 1, lexical.Content, a.Tokens("the"))
	two.Add(0, 2, lexical.Content, a.Tokens("gamma"))
	two.Add(0, -1, lexical.Paths, a.Tokens("a.go"))
	h, err := lexical.Merge([]*lexical.Header{&one.Header, &two.Header}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []lexical.Part{{Units: 3, Words: 4, Stems: 3}, {Turn: -1, Kind: lexical.Paths, Units: 1, Words: 2, Stems: 1}}
	if diff := cmp.Diff(want, h.Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNorm(t *testing.T) {
	last := byte(0)
	for n := range 600_000 {
		c := lexical.Norm(n)
		if c < last {
			t.Fatalf("the norm of %d is below that of %d", n, n-1)
		}
		last = c
		got := lexical.NormLength(c)
		if n < 32 && got != float64(n) || n < 1<<19 && math.Abs(got-float64(n)) > 0.032*float64(n) {
			t.Fatalf("the length %d is kept as %v", n, got)
		}
	}
	if last != 255 {
		t.Errorf("the longest has %d", last)
	}
}

func TestNear(t *testing.T) {
	tests := []struct {
		name, text string
		want       int
	}{
		{"adjacent", "alpha beta", 1},
		{"one apart", "alpha gamma beta", 1},
		{"two apart", "alpha gamma gamma beta", 0},
		{"function words do not separate", "alpha of the beta", 1},
		{"the other way round", "beta alpha", 0},
		{"twice", "alpha beta x alpha beta", 2},
		{"one first, two seconds", "alpha beta beta", 2},
		{"parts of an identifier", "alphaBeta", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := lists(t, build(0, 0, "beta", tt.text))
			got, err := lexical.Near(all["alpha"][0], all["beta"][0], 2)
			if err != nil || got[1] != tt.want {
				t.Errorf("near = %v, %v, want %d", got, err, tt.want)
			}
		})
	}
}

func TestScorePrefersMore(t *testing.T) {
	b := build(0, 0, "alpha beta", "alpha x y beta", "alpha", "beta z", "nothing of it",
		"alpha beta "+"long story about other things altogether and more of the same")
	x, err := lexical.NewIndex([]*lexical.Header{&b.Header}, nil)
	if err != nil {
		t.Fatal(err)
	}
	scored, err := x.Score(query.Parse("alpha beta"), lists(t, b), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := scored.Matches
	if got[4].Found {
		t.Errorf("a session without the words scores %v", got[4])
	}
	for _, better := range [][2]int{{0, 1}, {1, 2}, {0, 5}, {1, 5}, {2, 3}} {
		if got[better[0]].Score <= got[better[1]].Score {
			t.Errorf("session %d scores %v, %d scores %v", better[0], got[better[0]].Score, better[1], got[better[1]].Score)
		}
	}
}

// TestHeld: how much of a question a session holds is told of the words that stand somewhere, unless nearly all stand
// nowhere.
func TestHeld(t *testing.T) {
	b := build(0, 0, "token expiry", "token token token", "oboe")
	x, err := lexical.NewIndex([]*lexical.Header{&b.Header}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		question    string
		first, next float64
	}{
		{"token expiry", 1, 0.32},
		{"the token expiry", 1, 0.32},
		{"token expiry zebra", 1, 0.32},
		{"token zebra quartz giraffe", 0, 0},
		{"zebra", 0, 0},
	} {
		got, err := x.Score(query.Parse(tt.question), lists(t, b), nil)
		if err != nil {
			t.Fatal(err)
		}
		first, next := got.Matches[0].Held, got.Matches[1].Held
		if math.Abs(first-tt.first) > 0.01 || math.Abs(next-tt.next) > 0.01 || got.Matches[2].Held != 0 {
			t.Errorf("%q: %.2f and %.2f held, want %.2f and %.2f", tt.question, first, next, tt.first, tt.next)
		}
	}
}

// TestScoreLeavesOutCommonTerms checks that what most turns of a large ledger hold is looked at
// only where a question has nothing rarer.
func TestScoreLeavesOutCommonTerms(t *testing.T) {
	b := lexical.NewBuilder(0, 0)
	a := analysis.New()
	for s := range 3 {
		b.Sessions = append(b.Sessions, fmt.Sprint(s))
		for turn := range 9000 {
			b.Add(s, turn, lexical.Content, a.Tokens("parser"))
		}
	}
	b.Add(2, 9000, lexical.Content, a.Tokens("needle"))
	x, err := lexical.NewIndex([]*lexical.Header{&b.Header}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := lists(t, b)
	for _, tt := range []struct {
		query string
		found [3]bool
	}{
		{"parser", [3]bool{true, true, true}},
		{"parser of", [3]bool{true, true, true}},
		{"parser needle", [3]bool{false, false, true}},
		{"parser nowhere", [3]bool{true, true, true}},
	} {
		scored, err := x.Score(query.Parse(tt.query), all, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := scored.Matches
		if found := [3]bool{got[0].Found, got[1].Found, got[2].Found}; found != tt.found {
			t.Errorf("%q: found %v, want %v", tt.query, found, tt.found)
		}
	}
}

func TestNewIndexRefuses(t *testing.T) {
	good := build(0, 0, "a", "b").Header
	tests := []struct {
		name    string
		headers []*lexical.Header
		hidden  []int
	}{
		{"a gap", []*lexical.Header{&good, {Base: 3, FirstSession: 2}}, nil},
		{"a session that is not there", []*lexical.Header{{
			Parts: []lexical.Part{{Session: 1, Units: 1}}, Words: []byte{1},
			Stems: []byte{1}, Sessions: []string{"a"},
		}}, nil},
		{"a negative session", []*lexical.Header{{
			Parts: []lexical.Part{{Session: -1, Units: 1}}, Words: []byte{1},
			Stems: []byte{1},
		}}, nil},
		{"a hidden session that is not there", []*lexical.Header{&good}, []int{2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := lexical.NewIndex(tt.headers, tt.hidden); !errors.Is(err, block.ErrFormat) {
				t.Errorf("error = %v, want ErrFormat", err)
			}
		})
	}
}

func FuzzList(f *testing.F) {
	b := build(3, 0, "alpha beta the alpha", "the", "beta gamma alpha")
	b.Write(func(_ string, postings []byte) { f.Add(slices.Clone(postings)) })
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := lexical.DecodeList(data, 3, 1000)
		if err != nil {
			if l != nil {
				t.Errorf("an error and %v", l)
			}
			return
		}
		near, err := lexical.Near(l, l, 2)
		if err != nil && !errors.Is(err, block.ErrFormat) {
			t.Errorf("near: %v", err)
		}
		for unit := range near {
			if unit < 3 || unit >= 1000 {
				t.Errorf("unit %d is not of the run", unit)
			}
		}
	})
}

func FuzzDecodeHeader(f *testing.F) {
	h := build(0, 0, "alpha", "beta").Header
	f.Add(h.Append(nil))
	f.Add([]byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0x07})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := lexical.DecodeHeader(data)
		if err != nil {
			return
		}
		again, err := lexical.DecodeHeader(h.Append(nil))
		if diff := cmp.Diff(h, again); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		_, _ = lexical.NewIndex([]*lexical.Header{h}, nil)
	})
}

func TestDecodeSkipsOtherTerms(t *testing.T) {
	b := build(0, 0, "alpha beta gamma")
	data, _ := pack(b)
	got := make(map[string]bool)
	err := lexical.Decode(&b.Header, data[:b.Fence.End()],
		func(term []byte) bool { return string(term) == "beta" },
		func(term string, _ *lexical.List) { got[term] = true })
	if want := map[string]bool{"beta": true}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
