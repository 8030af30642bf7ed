package name_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestSplitLines(t *testing.T) {
	for word, want := range map[string]struct {
		file     string
		from, to int
	}{
		"a.go:3": {"a.go", 3, 3}, "a.go:3,9": {"a.go", 3, 9}, "a.go:3,+2": {"a.go", 3, 4}, "dir/b c.go:12": {"dir/b c.go", 12, 12},
		"a:3:1": {"a:3", 1, 1}, "a.go": {}, "a.go:": {}, "a.go:x": {}, "a.go:99999999999999999999": {}, "": {},
	} {
		file, from, to := name.SplitLines(word)
		harness.Equal(t, word, []any{want.file, want.from, want.to}, []any{file, from, to})
		if from > 0 && !name.LooksLikeLines(word) {
			t.Errorf("%q does not look like lines", word)
		}
	}
}

func TestParseID(t *testing.T) {
	for word, want := range map[string]session.Ref{
		"01KJW4MN": {ID: "01KJW4MN", Turn: -1}, "01KJW4MN:8": {ID: "01KJW4MN", Turn: 8}, "rekal:01KJW4MN#8": {ID: "01KJW4MN", Turn: 8},
		"rekal:01KJW4MN": {ID: "01KJW4MN", Turn: -1}, "a.go:8": {ID: "a.go:8", Turn: -1},
	} {
		got, err := name.ParseID(word)
		harness.Equal(t, word, want, got)
		if err != nil {
			t.Errorf("%q: %v", word, err)
		}
	}
	for _, word := range []string{"01KJW4MN:x", "01KJW4MN:-1", "01KJW4MN:"} {
		if ref, err := name.ParseID(word); err == nil {
			t.Errorf("%q is %+v", word, ref)
		}
	}
}

// TestCompleteIDs: each word is told of, and an item once.
func TestCompleteIDs(t *testing.T) {
	names := session.NewNames(map[string]string{"01KJW4MN48AJBF1NFJ2X4RZ873": "", "01KJW4MP48AJBF1NFJ2X4RZ873": ""})
	ids, failed := name.CompleteIDs(names, []string{"01KJW4MN", "01KJW4MN48", "01KJW", "02AB"})
	harness.Equal(t, "found", []string{"01KJW4MN48AJBF1NFJ2X4RZ873"}, ids)
	harness.Equal(t, "failed", 2, len(failed))
}
