package redact_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// said reads the ways in which a secret is said: a letter for what kind it is, and the words around it.
func said(t testing.TB) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/said.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

// drawn is a way with a secret drawn for it.
func (d draw) drawn(way string) (text, secret string) {
	uuid := func() string {
		return fmt.Sprintf("%s-%s-4%s-9%s-%s", d.of(8, hex), d.of(4, hex), d.of(3, hex), d.of(3, hex), d.of(12, hex))
	}
	kinds := map[byte]func() string{
		'p': d.password,
		't': func() string { return d.of(40, alnum) },
		'x': func() string { return d.of(32, hex) },
		'u': uuid,
		'b': func() string { return d.of(43, b64) + "=" },
	}
	kind := kinds[way[0]]
	secret = kind()
	text = strings.NewReplacer("{n}", kind(), "{u}", uuid(), "{x}", kinds['x'](), "{D}", d.of(16, digits), "{K}",
		d.of(16, upper32),
		"{U}", d.of(27, upper32), "{S}", d.of(8, alnum), `\n`, "\n", `\t`, "\t", `\r`, "\r", `\\`, `\`).Replace(way[2:])
	return strings.ReplaceAll(text, "{}", secret), secret
}

// TestSaid: of all ways in which secrets are said, redaction finds 95 % and more.
func TestSaid(t *testing.T) {
	r := redact.New()
	ways := said(t)
	var all, found [2]int
	for seed := range uint64(4) {
		d := draw{rand.New(rand.NewPCG(seed, 13))}
		for i, way := range ways {
			text, secret := d.drawn(way)
			all[i%2]++
			got := applyText(t, r, text)
			if left(got, secret) == "" {
				found[i%2]++
			} else if os.Getenv("SAID") == fmt.Sprint(i%2) {
				t.Logf("missed: %d %s: %q became %q", seed, way, text, got)
			}
		}
	}
	for i := range all {
		share := 100 * float64(found[i]) / float64(all[i])
		t.Logf("half %d: %d of %d (%.1f %%)", i, found[i], all[i], share)
		if share < 95 {
			t.Errorf("half %d: %.1f %%", i, share)
		}
	}
}
