package lexical_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/google/go-cmp/cmp"
)

func TestSimilar(t *testing.T) {
	var w block.Writer
	for _, stem := range []string{
		"auth", "checkpoint", "command", "commit", "commut", "cryptic", "log", "login",
		"session", "настройк",
	} {
		w.Add(stem, nil)
	}
	w.Flush()
	vocabulary := w.Take()
	for _, tt := range []struct{ name, word, want string }{
		{"swapped", "cmomit", "commit"},
		{"missing", "chekpoint", "checkpoint"},
		{"added", "sesssion", "session"},
		{"replaced", "logim", "login"},
		{"two slips", "comamdn", "command"},
		{"two slips in a short word", "agtk", ""},
		{"a missing part", "checkpoin", "checkpoint"},
		{"the first of equals", "commyt", "commit"},
		{"Cyrillic", "настойк", "настройк"},
		{"too short", "lo", ""},
		{"like nothing", "kubernet", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			guesses, err := lexical.Similar([]lexical.Misspelt{{Word: tt.word, Stem: tt.word}}, [][]byte{vocabulary})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, g := range guesses {
				if got = g.Stem; g.Word != tt.word || g.Similarity <= 0 || g.Similarity >= 1 {
					t.Errorf("guess %+v", g)
				}
			}
			if got != tt.want {
				t.Errorf("guessed %q, want %q", got, tt.want)
			}
		})
	}
}

// A slip in an ending keeps it from being cut off. The stem that was meant may be much shorter than the word.
func TestSimilarFixesEndings(t *testing.T) {
	var w block.Writer
	for _, stem := range []string{"lag", "log", "long", "valid", "valor"} {
		w.Add(stem, nil)
	}
	w.Flush()
	vocabulary := w.Take()
	for word, stem := range map[string]string{"loggnig": "log", "validaiton": "valid"} {
		got, err := lexical.Similar([]lexical.Misspelt{{Word: word, Stem: word, Fixed: map[string]bool{stem: true}}},
			[][]byte{vocabulary})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Stem != stem || got[0].Similarity < 0.8 {
			t.Errorf("%s: guesses %+v", word, got)
		}
	}
	if diff := cmp.Diff([]string{"олг", "лго"}, lexical.WithNeighboursSwapped("лог")); diff != "" {
		t.Errorf("swapped (-want +got):\n%s", diff)
	}
}

func BenchmarkSimilar(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	stems := make(map[string]bool)
	for len(stems) < 100_000 {
		stem := make([]byte, 4+r.IntN(8))
		for i := range stem {
			stem[i] = "etaoinshrdlucmfwypvbgkjqxz"[min(r.IntN(26), r.IntN(26))]
		}
		stems[string(stem)] = true
	}
	var w block.Writer
	for _, stem := range slices.Sorted(maps.Keys(stems)) {
		w.Add(stem, nil)
	}
	w.Flush()
	vocabulary := w.Take()
	var words []lexical.Misspelt
	for _, w := range []string{"checkpoont", "sesion"} {
		m := lexical.Misspelt{Word: w, Stem: w, Fixed: make(map[string]bool)}
		for _, swapped := range lexical.WithNeighboursSwapped(w) {
			m.Fixed[swapped] = true
		}
		words = append(words, m)
	}
	for b.Loop() {
		if _, err := lexical.Similar(words, [][]byte{vocabulary}); err != nil {
			b.Fatal(err)
		}
	}
}
