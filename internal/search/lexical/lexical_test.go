package lexical_test

import (
	"bytes"
	"errors"
	"maps"
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
		b.Add(lexical.Unit{Session: int32(firstSession + i)}, a.Tokens(text))
	}
	return b
}

func TestHeaderRoundTrip(t *testing.T) {
	want := &lexical.Header{
		Base: 7, FirstSession: 3, Sessions: []string{"a", "b"}, Fence: block.Fence{"", "x"},
		Units: []lexical.Unit{
			{Session: 3, Turn: 0, Len: 5, Stems: 2},
			{Session: 3, Turn: 1, Len: 300, Stems: 0},
			{Session: 3, Turn: -1, Len: 1, Kind: lexical.Paths},
			{Session: 4, Turn: 9, Len: 1, Stems: 1},
			{Session: 1, Turn: -1, Len: 1, Stems: 1, Kind: lexical.Title},
		},
	}
	got, err := lexical.DecodeHeader(lexical.AppendHeader(nil, want))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestMergeEqualsOne checks that runs merge into the very bytes that one run would have.
func TestMergeEqualsOne(t *testing.T) {
	texts := []string{"alpha beta the alpha", "the", "beta gamma alpha", "src/a.go ALPHA", "gamma the beta", ""}
	one := build(0, 0, texts...)
	header := &one.Header
	want := lexical.Pack(header, one.Lists())
	var headers []*lexical.Header
	var blocks [][][]byte
	for _, cut := range [][2]int{{0, 2}, {2, 3}, {3, 6}} {
		b := build(cut[0], cut[0], texts[cut[0]:cut[1]]...)
		blocks = append(blocks, lexical.Pack(&b.Header, b.Lists()))
		headers = append(headers, &b.Header)
	}
	merged, lists, err := lexical.Merge(headers, blocks)
	if err != nil {
		t.Fatal(err)
	}
	got := lexical.Pack(merged, lists)
	if diff := cmp.Diff(header, merged); diff != "" {
		t.Errorf("header (-one +merged):\n%s", diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-one +merged):\n%s", diff)
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
			lists := build(0, 0, "beta", tt.text).Lists()
			got, err := lexical.Near(lists["alpha"], lists["beta"], 2)
			if err != nil || got[1] != tt.want {
				t.Errorf("near = %v, %v, want %d", got, err, tt.want)
			}
		})
	}
}

func TestScorePrefersMore(t *testing.T) {
	b := build(0, 0, "alpha beta", "alpha x y beta", "alpha", "beta z", "nothing of it", "alpha beta "+"long story about other things altogether and more of the same")
	x, err := lexical.NewIndex([]*lexical.Header{&b.Header}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.Score(query.Parse("alpha beta"), b.Lists())
	if err != nil {
		t.Fatal(err)
	}
	if got[4] != nil {
		t.Errorf("a session without the words scores %v", got[4])
	}
	for _, better := range [][2]int{{0, 1}, {1, 2}, {0, 5}, {1, 5}, {2, 3}} {
		if got[better[0]].Score <= got[better[1]].Score {
			t.Errorf("session %d scores %v, %d scores %v", better[0], got[better[0]].Score, better[1], got[better[1]].Score)
		}
	}
}

func TestNewIndexRefuses(t *testing.T) {
	good := build(0, 0, "a", "b").Header
	tests := []struct {
		name    string
		headers []*lexical.Header
		removed []int
	}{
		{"a gap", []*lexical.Header{&good, {Base: 3, FirstSession: 2}}, nil},
		{"a session that is not there", []*lexical.Header{{Units: []lexical.Unit{{Session: 1}}, Sessions: []string{"a"}}}, nil},
		{"a negative session", []*lexical.Header{{Units: []lexical.Unit{{Session: -1}}}}, nil},
		{"a removed session that is not there", []*lexical.Header{&good}, []int{2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := lexical.NewIndex(tt.headers, tt.removed); !errors.Is(err, block.ErrFormat) {
				t.Errorf("error = %v, want ErrFormat", err)
			}
		})
	}
}

func FuzzList(f *testing.F) {
	lists := build(3, 0, "alpha beta the alpha", "the", "beta gamma alpha").Lists()
	for _, l := range lists {
		f.Add(lexical.Append(l, 3))
	}
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
		if _, err := lexical.Near(l, l, 2); err != nil && !errors.Is(err, block.ErrFormat) {
			t.Errorf("near: %v", err)
		}
		again, err := lexical.DecodeList(lexical.Append(l, 3), 3, 1000)
		if err != nil {
			t.Fatalf("decoding what was encoded: %v", err)
		}
		if !bytes.Equal(lexical.Append(l, 3), lexical.Append(again, 3)) {
			t.Error("encoding differs after a round trip")
		}
	})
}

func FuzzDecodeHeader(f *testing.F) {
	h := build(0, 0, "alpha", "beta").Header
	f.Add(lexical.AppendHeader(nil, &h))
	f.Add([]byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0x07})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := lexical.DecodeHeader(data)
		if err != nil {
			return
		}
		again, err := lexical.DecodeHeader(lexical.AppendHeader(nil, h))
		if diff := cmp.Diff(h, again); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		_, _ = lexical.NewIndex([]*lexical.Header{h}, nil)
	})
}

func TestListsSkipsOtherTerms(t *testing.T) {
	b := build(0, 0, "alpha beta gamma")
	blocks := lexical.Pack(&b.Header, b.Lists())
	got := make(map[string]bool)
	err := lexical.Lists(&b.Header, blocks,
		func(term string) bool { return term == "beta" },
		func(term string, _ *lexical.List) { got[term] = true })
	if want := map[string]bool{"beta": true}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
