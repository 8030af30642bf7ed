package redact_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// written is a form in which somebody let secrets slip.
type written struct {
	ID     string   `json:"id"`
	Kind   string   `json:"kind"`
	Text   string   `json:"text"`
	Secret []string `json:"secret"`
}

// readForms reads forms, a line each.
func readForms(t testing.TB, file string) (out []written) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var w written
		if err := d.Decode(&w); err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// TestNightForms counts the forms of REKAL_FORMS=FILE:FILE of which redaction leaves nothing. REKAL_MISSED=1 shows the
// others: a set that is for judging is never looked at.
func TestNightForms(t *testing.T) {
	files := os.Getenv("REKAL_FORMS")
	if files == "" {
		t.Skip("REKAL_FORMS names no files")
	}
	r := redact.New()
	for _, file := range filepath.SplitList(files) {
		all, found := map[string]int{}, map[string]int{}
		for _, w := range readForms(t, file) {
			got := applyText(t, r, w.Text)
			piece := w.left(got)
			for _, kind := range []string{w.Kind, "in all"} {
				all[kind]++
				if piece == "" {
					found[kind]++
				}
			}
			if piece != "" && os.Getenv("REKAL_MISSED") != "" {
				t.Logf("missed: %s: %q: %q", w.ID, piece, got)
			}
		}
		t.Logf("%s: %d of %d (%.1f %%), by kind %v of %v", filepath.Base(file), found["in all"], all["in all"],
			100*float64(found["in all"])/float64(all["in all"]), found, all)
	}
}

// markers are ours: the name of a rule may be in a secret as well.
var markers = regexp.MustCompile(`\[REDACTED:[a-z\d-]+\]`)

// left is a piece of a secret that is still there: all of it, or six characters that stand nowhere else in the text.
func (w written) left(got string) string {
	got = markers.ReplaceAllString(got, "\x01")
	elsewhere := w.Text
	for _, s := range w.Secret {
		elsewhere = strings.ReplaceAll(elsewhere, s, "\x00")
	}
	for _, s := range w.Secret {
		runes := []rune(s)
		n := min(len(runes), 6)
		for i := 0; i+n <= len(runes); i++ {
			if p := string(runes[i : i+n]); strings.Contains(got, p) && !strings.Contains(elsewhere, p) {
				return p
			}
		}
	}
	return ""
}
