package samples_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/samples"
)

// TestLongFindsWhatTheLibraryFinds holds windows, offsets and allowlists against gitleaks'
// own detector on long texts: every secret that it finds in the whole text is gone.
func TestLongFindsWhatTheLibraryFinds(t *testing.T) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	d.IgnoreGitleaksAllow = true
	r := harness.Redactor()
	total := 0
	for seed := range uint64(12) {
		in := mixed(seed)
		got := applyText(t, r, in)
		for _, f := range d.DetectString(in) {
			total++
			if len(f.Secret) >= 8 && strings.Contains(got, f.Secret) {
				t.Errorf("seed %d: %s: still there: %q", seed, f.RuleID, f.Secret)
			}
		}
		for _, f := range d.DetectString(got) {
			if !strings.Contains(f.Secret, "[REDACTED:") {
				t.Errorf("seed %d: %s: found in the result: %q", seed, f.RuleID, f.Secret)
			}
		}
	}
	if total < 200 {
		t.Errorf("the library found only %d: the texts test nothing", total)
	}
	t.Logf("%d findings", total)
}

// mixed is a long text of samples, near-samples and filler, on lines of any length.
func mixed(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	filler := []string{
		"the token is refreshed by", "key", "api", " = ", ":", "\n", " ", "\t", `"`, "'", ";", "\\n", `\"`,
		"secret:", "password=", "é", "\u212aey", "auth.go", "x", ".", "-", "=", "ey", "s.", "curl -u ",
		strings.Repeat("lorem ipsum ", 40), strings.Repeat("a1B2", 60),
	}
	var b strings.Builder
	for b.Len() < 30_000 {
		if rng.IntN(30) == 0 {
			all := samples.All(rng.Uint64())
			b.WriteString(all[rng.IntN(len(all))].Text)
			continue
		}
		b.WriteString(filler[rng.IntN(len(filler))])
	}
	return b.String()
}

func applyText(t *testing.T, r *redact.Redactor, text string) string {
	t.Helper()
	entry, _, err := r.Apply(t.Context(),
		session.Entry{Sessions: []session.Session{{Turns: []session.Turn{{Content: text}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return entry.Entry().Sessions[0].Turns[0].Content
}
