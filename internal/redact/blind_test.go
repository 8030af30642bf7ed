package redact_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// kind draws a string of a kind that testdata/blind.txt names.
func (d draw) kind(k string) string {
	bytes := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(d.IntN(256))
		}
		return b
	}
	words := []string{
		"copper", "lantern", "otter", "meadow", "granite", "willow", "harbor", "saffron", "pebble",
		"thunder",
	}
	word := func() string { return words[d.IntN(len(words))] }
	switch k {
	case "p":
		return d.password()
	case "w":
		return word() + d.of(1, "-_.") + word() + d.of(2, "23456789")
	case "t":
		return d.of(40, alnum)
	case "s", "S":
		return d.of(24, alnum)
	case "x", "h":
		return d.of(32, hex)
	case "X":
		return d.of(64, hex)
	case "u":
		return fmt.Sprintf("%s-%s-4%s-9%s-%s", d.of(8, hex), d.of(4, hex), d.of(3, hex), d.of(3, hex), d.of(12, hex))
	case "b":
		return base64.StdEncoding.EncodeToString(bytes(32))
	case "e":
		return base64.RawURLEncoding.EncodeToString(bytes(32))
	case "B":
		return base64.StdEncoding.EncodeToString([]byte("svc-deploy:" + d.password()))
	case "W":
		return base64.StdEncoding.EncodeToString([]byte("DATABASE_URL=postgres://app:" + d.password() + "@db/shop\n"))
	case "j":
		return d.jwt()
	case "n":
		return d.of(6+d.IntN(3), digits)
	case "c":
		return d.of(5, hex) + "-" + d.of(5, hex)
	case "5":
		return d.of(1, "5KL") + d.of(50, strings.NewReplacer("0", "", "O", "", "I", "", "l", "").Replace(alnum))
	case "K":
		_, body := d.pem("", 5)
		return body
	case "V":
		var lines strings.Builder
		for range 16 {
			lines.WriteString(d.of(32, hex) + "\n")
		}
		return lines.String()
	case "O":
		return d.of(3, digits) + d.of(1, " -") + d.of(3, digits)
	case "P":
		return d.of(4+d.IntN(3), digits)
	case "q":
		return strings.ToUpper(word()[:1]) + word()[1:] + d.of(1, digits) + d.of(1, "&,|;") + word() + d.of(2, digits)
	case "D":
		return d.of(10, "123456789")
	case "A":
		return d.of(10, upper32)
	}
	n, from := 0, map[string]string{
		"": alnum, "x": hex, "X": strings.ToUpper(hex), "A": upper32,
		"a": strings.ToLower(upper32), "b": b64,
	}
	size := strings.TrimRight(k, "xXAab")
	n, err := strconv.Atoi(size)
	if err != nil {
		return "{" + k + "}"
	}
	return d.of(n, from[k[len(size):]])
}

var braces = regexp.MustCompile(`\{(\w{1,3})\}`)

// fill draws a line of blind.txt or near.txt.
func (d draw) fill(line string) string {
	line = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\x1b`, "\x1b").Replace(line)
	return braces.ReplaceAllStringFunc(line, func(b string) string { return d.kind(b[1 : len(b)-1]) })
}

// blindLines are those of a file of ways, by group.
func blindLines(t testing.TB, name string) (groups []string, lines map[string][]string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines = map[string][]string{}
	group := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
			continue
		case line[0] == '[' && line[len(line)-1] == ']':
			group = line[1 : len(line)-1]
			groups = append(groups, group)
			continue
		}
		lines[group] = append(lines[group], line)
	}
	return groups, lines
}

// TestBlind: of ways in which secrets are met, written before the rules, most leave nothing of the secret. Five draws
// each.
func TestBlind(t *testing.T) {
	// of the judged ways
	for file, floor := range map[string]float64{"blind.txt": 0.91, "odd.txt": 0.85, "kinds.txt": 0.9} {
		t.Run(file, func(t *testing.T) { testWays(t, "testdata/"+file, floor) })
	}
}

func testWays(t *testing.T, file string, floor float64) {
	r := redact.New()
	groups, lines := blindLines(t, file)
	var all, found [2]int
	for _, g := range groups {
		var of, good [2]int
		for i, line := range lines[g] {
			kind, frame, _ := strings.Cut(line, " ")
			missed, got := 0, ""
			for seed := range uint64(5) {
				d := draw{rand.New(rand.NewPCG(seed, uint64(i)+100))}
				secret := d.kind(kind)
				filled := strings.ReplaceAll(d.fill(frame), "{}",
					strings.TrimSuffix(secret, "\n")+strings.Repeat("\n",
						strings.Count(secret, "\n")-strings.Count(strings.TrimSuffix(secret, "\n"), "\n")))
				text := applyText(t, r, filled)
				of[i%2]++
				if left(text, secret) == "" {
					good[i%2]++
				} else {
					missed, got = missed+1, text
				}
			}
			if missed > 0 && os.Getenv("BLIND") == fmt.Sprint(i%2) {
				t.Logf("missed %d of 5: %s: %q", missed, line, got)
			}
		}
		for i := range of {
			all[i] += of[i]
			found[i] += good[i]
		}
		if share := float64(good[0]+good[1]) / float64(of[0]+of[1]); share < 0.75 {
			t.Errorf("%s: %.1f %%", g, 100*share)
		}
		t.Logf("%-36s %3d of %3d (%5.1f %%), judged %3d of %3d (%5.1f %%)", g, good[0], of[0],
			100*float64(good[0])/float64(of[0]), good[1], of[1], 100*float64(good[1])/float64(of[1]))
	}
	t.Logf("%-36s %3d of %3d (%5.1f %%), judged %3d of %3d (%5.1f %%)", "in all", found[0], all[0],
		100*float64(found[0])/float64(all[0]), found[1], all[1], 100*float64(found[1])/float64(all[1]))
	if float64(found[1]) < floor*float64(all[1]) {
		t.Errorf("%d of %d judged ways", found[1], all[1])
	}
}

// TestNearMisses: of texts that come near a secret and hold none, hardly any is changed. Three draws each.
func TestNearMisses(t *testing.T) {
	for _, file := range []string{"near.txt", "odd_near.txt", "kinds_near.txt"} {
		t.Run(file, func(t *testing.T) { testNearMisses(t, "testdata/"+file) })
	}
}

func testNearMisses(t *testing.T, file string) {
	r := redact.New()
	_, lines := blindLines(t, file)
	var all, changed [2]int
	for i, line := range lines[""] {
		for seed := range uint64(3) {
			d := draw{rand.New(rand.NewPCG(seed, uint64(i)+100))}
			text := d.fill(line)
			got := applyText(t, r, text)
			all[i%2]++
			if got == session.PlainText(text) {
				continue
			}
			if changed[i%2]++; os.Getenv("BLIND") == fmt.Sprint(i%2) {
				t.Logf("changed: %q became %q", text, got)
			}
		}
	}
	t.Logf("%d of %d (%.1f %%) changed, judged %d of %d (%.1f %%)", changed[0], all[0],
		100*float64(changed[0])/float64(all[0]), changed[1], all[1], 100*float64(changed[1])/float64(all[1]))
	if float64(changed[0]+changed[1]) > 0.02*float64(all[0]+all[1]) {
		t.Errorf("%d changed", changed[0]+changed[1])
	}
}
