package search_test

import (
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// ownParts reads the project's own corpus: 32 short sessions, of some four turns each.
func ownParts(tb testing.TB) []session.Session {
	tb.Helper()
	return corpusParts(tb, filepath.Join(harness.Root(tb), "tests/testdata/ranking"))
}

// realParts reads the shared corpus of 276 real sessions, or skips the test.
func realParts(tb testing.TB) []session.Session {
	tb.Helper()
	return corpusParts(tb, harness.Data(tb, "ranking"))
}

func corpusParts(tb testing.TB, dir string) (out []session.Session) {
	tb.Helper()
	err := harness.Corpus(dir, func(d harness.Document) {
		s := d.Session("test")
		for i := range s.ToolCalls {
			if c := &s.ToolCalls[i]; c.Tool == "Edit" {
				c.Act = session.ActEdit
			}
		}
		out = append(out, s)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
