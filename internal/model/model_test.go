package model

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func openFile(t testing.TB) *Model {
	t.Helper()
	m, err := Open(File)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A file that is missing, torn or of another kind is an error and no crash.
func TestOpenWrongFile(t *testing.T) {
	whole, err := os.ReadFile(File)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": nil, "header": whole[:headerSize-1], "torn": whole[:len(whole)-1], "longer": append(slices.Clip(whole), 0),
		"other": append([]byte("x"), whole[1:]...),
		"sizes": append([]byte(magic), bytes.Repeat([]byte{255}, 100)...),
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, errFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// What Hugging Face's tokenizers say of these texts.
func TestTokens(t *testing.T) {
	v := openFile(t).vocabulary
	for _, tt := range []struct {
		text string
		want []int32
	}{
		{"", []int32{101, 102}},
		{"why does the sweeper ignore junk?", []int32{101, 2339, 2515, 1996, 11740, 2121, 8568, 18015, 1029, 102}},
		{"getHTTPStatus404 in src/auth/jwt.go:42", []int32{
			101, 2131, 11039, 25856, 9153, 5809, 12740, 2549, 1999, 5034, 2278,
			1013, 8740, 2705, 1013, 1046, 26677, 1012, 2175, 1024, 4413, 102,
		}},
		{"na\u00efve Caf\u00e9 \u00c0\u00c9", []int32{101, 15743, 7668, 29347, 102}},
		{
			"\u65e5\u672c\u8a9e \u041f\u0440\u0438\u0432\u0435\u0442",
			[]int32{101, 1864, 1876, 1950, 1194, 16856, 10325, 25529, 15290, 22919, 102},
		},
		{"a\u0000b\u200bc\ufffd it's", []int32{101, 5925, 2009, 1005, 1055, 102}},
		{strings.Repeat("x", 120), []int32{101, 100, 102}},
	} {
		if diff := cmp.Diff(tt.want, v.tokens(tt.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
	if n := len(v.tokens(strings.Repeat("word ", 400))); n != maxTokens {
		t.Errorf("a long text has %d tokens", n)
	}
}

// Whatever the text: it has tokens, as many as fit, of the vocabulary.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{"", "naïve Café", "日本語 текст", "it's foo_bar(baz)", "a\x00b\xff\u200b", "\u0130 ﬁ ½"} {
		f.Add(text)
	}
	v := openFile(f).vocabulary
	f.Fuzz(func(t *testing.T, text string) {
		tokens := v.tokens(text)
		if n := len(tokens); n < 2 || n > maxTokens || tokens[0] != firstToken || tokens[n-1] != lastToken {
			t.Fatalf("%v", tokens)
		}
		for _, token := range tokens {
			if token < 0 || int(token) >= len(v.ids)/2 {
				t.Fatalf("%v", tokens)
			}
		}
	})
}

// What numpy says of the same weights, for the first numbers of the vectors.
func TestVectors(t *testing.T) {
	m := openFile(t)
	for _, tt := range []struct {
		text string
		want []float32
	}{
		{"", []float32{-0.12762, 0.04090, -0.00138, -0.01582, 0.05400, 0.00884, 0.11735, 0.00501}},
		{"why does the sweeper ignore junk?", []float32{
			-0.02020, 0.04071, 0.03809, -0.01662, -0.00928, -0.14494, 0.03955,
			-0.03245,
		}},
		{"getHTTPStatus404 in src/auth/jwt.go:42", []float32{
			-0.04478, 0.04568, 0.01157, -0.07072, 0.03019, -0.00664, 0.00211,
			0.02456,
		}},
		{
			strings.Repeat("The command leaves stray branches behind. ", 6),
			[]float32{0.09218, 0.04577, 0.00840, 0.05064, 0.02563, -0.01349, 0.03737, 0.00460},
		},
	} {
		got, err := m.Vector(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range tt.want {
			if math.Abs(float64(got[i]-x)) > 1e-3 {
				t.Errorf("%q: number %d is %f, not %f", tt.text, i, got[i], x)
			}
		}
	}
}

// Each path gives the same bits, so each processor does.
func TestPathsAgree(t *testing.T) {
	m := openFile(t)
	for _, text := range []string{
		"", "a", "why does the cleanup leave old branches",
		strings.Repeat("Some longer text, of (many) words. ", 20),
	} {
		var vectors [][]float32
		for path := range pathCount {
			v, err := m.vector(text, path)
			if err != nil {
				t.Fatal(err)
			}
			vectors = append(vectors, v)
		}
		for path, v := range vectors {
			if !cmp.Equal(v, vectors[0]) {
				t.Errorf("%q: path %d differs from the best", text, path)
			}
		}
	}
}

func TestLikeness(t *testing.T) {
	m := openFile(t)
	likeness := func(a, b string) (sum float64) {
		x, errA := m.Vector(a)
		y, errB := m.Vector(b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for i := range x {
			sum += float64(x[i]) * float64(y[i])
		}
		return sum
	}
	same, other := likeness("the sweeper ignores junk", "cleanup skips leftover files"),
		likeness("the sweeper ignores junk", "two-factor login by SMS")
	if same < other+0.1 {
		t.Errorf("in other words %.2f, of something else %.2f", same, other)
	}
}

func BenchmarkQuestion(b *testing.B) {
	m := openFile(b)
	for b.Loop() {
		if _, err := m.Vector("why does the cleanup of old shadow branches not remove them"); err != nil {
			b.Fatal(err)
		}
	}
}
