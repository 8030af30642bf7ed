package ledger

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestRefName holds the names of branches: who once shared a ledger under one must find it
// again under the same.
func TestRefName(t *testing.T) {
	for _, tt := range []struct{ name, email, want string }{
		{"plain", "a@b.c", "a@b.c"},
		{"capitals", "First.Last@Example.COM", "first.last@example.com"},
		{"capitals beyond ASCII", "ÄRA@example.com", "ära@example.com"},
		{"plus and quotes", `o'neil+x"y@b.c`, `o'neil+x%22y@b.c`},
		{"no host", "root", "root"},
		{"a local host", "root@host.(none)", "root@host.(none)"},
		{"what git refuses", "a b~c^d:e?f*g[h\\i@j", "a%20b%7Ec%5Ed%3Ae%3Ff%2Ag%5Bh%5Ci@j"},
		{"a slash", "a/b@c", "a%2Fb@c"},
		{"a percent sign", "a%2Fb@c", "a%252fb@c"},
		{"a dot in front", ".a@b", "%2Ea@b"},
		{"a dot at the end", "a@b.", "a@b%2E"},
		{"two dots", "a..b@c", "a.%2Eb@c"},
		{"three dots", "a...b", "a.%2E%2Eb"},
		{"only dots", "..", "%2E%2E"},
		{"a lock", "a@b.lock", "a@b%2Elock"},
		{"a lock in capitals", "a@b.LOCK", "a@b%2Elock"},
		{"a lock inside", "a.lock@b", "a.lock@b"},
		{"only an at sign", "@", "%40"},
		{"a reflog", "a@{b}", "a@%7Bb}"},
		{"a brace", "{b}", "{b}"},
		{"an option", "-d@b.c", "%2Dd@b.c"},
		{"control characters", "a\x00\n\t\x7f@b", "a%00%0A%09%7F@b"},
		{"a script", "用户@例子.广告", "用户@例子.广告"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := RefName(tt.email)
			if err != nil || got != localPrefix+tt.want {
				t.Fatalf("%q, %v; want %q", got, err, localPrefix+tt.want)
			}
			if back := emailOf(strings.TrimPrefix(got, localPrefix)); back != strings.ToLower(tt.email) {
				t.Errorf("back again it is %q", back)
			}
			acceptedByGit(t, got)
		})
	}
	if ref, err := RefName(""); err == nil {
		t.Errorf("no address gives %q", ref)
	}
}

// acceptedByGit asks git for each ref, and whether `git branch` would take it.
func acceptedByGit(t *testing.T, refs ...string) {
	t.Helper()
	for _, ref := range refs {
		if err := exec.CommandContext(t.Context(), "git", "check-ref-format", ref).Run(); err != nil {
			t.Errorf("git check-ref-format %q: %v", ref, err)
		}
		if err := exec.CommandContext(t.Context(), "git", "check-ref-format", "--branch",
			strings.TrimPrefix(ref, "refs/heads/")).Run(); err != nil {
			t.Errorf("git check-ref-format --branch %q: %v", ref, err)
		}
	}
}

// TestEscape builds addresses of the characters that git has rules for: each gives a ref
// that git takes, and no two the same.
func TestEscape(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pieces := []string{
		".", ".", "@", "{", "-", "%", "/", "~", ".lock", "lock", "a", "2", "e", "2E", " ", "\\", "ü",
		"\x01", "*",
	}
	owner := map[string]string{}
	for range 3000 {
		var email strings.Builder
		for range 1 + rng.IntN(6) {
			email.WriteString(pieces[rng.IntN(len(pieces))])
		}
		e := email.String()
		if !utf8.ValidString(e) {
			t.Fatalf("%q", e)
		}
		ref, err := RefName(e)
		if err != nil {
			t.Fatalf("%q: %v", e, err)
		}
		if back := emailOf(strings.TrimPrefix(ref, localPrefix)); back != strings.ToLower(e) {
			t.Fatalf("%q becomes %q and comes back as %q", e, ref, back)
		}
		if other, ok := owner[ref]; ok && other != strings.ToLower(e) {
			t.Fatalf("%q and %q both have %q", e, other, ref)
		}
		owner[ref] = strings.ToLower(e)
	}
	refs := slices.Sorted(func(yield func(string) bool) {
		for ref := range owner {
			if !yield(ref) {
				return
			}
		}
	})
	acceptedByGit(t, refs[:60]...)
	acceptedByGit(t, refs[len(refs)-60:]...)
}

func TestEmailOfForeignRefs(t *testing.T) {
	for ref, want := range map[string]string{
		"a%40b": "a@b", "a%2fb": "a/b", "100%": "100%", "%4": "%4", "%4g": "%4g", "% 4": "% 4", "%+4": "%+4", "%%41": "%%41",
		"": "",
	} {
		if got := emailOf(ref); got != want {
			t.Errorf("emailOf(%q) = %q, want %q", ref, got, want)
		}
	}
}

func TestSegmentNames(t *testing.T) {
	n := segmentName{ID: "01KABCDEFGHJKMNPQRSTVWXYZ0", TS: time.Date(2026, 3, 4, 23, 59, 59, 0, time.UTC)}
	for part, want := range map[int]string{
		0:  "segments/2026/03/04/01KABCDEFGHJKMNPQRSTVWXYZ0.ndjson",
		1:  "segments/2026/03/04/01KABCDEFGHJKMNPQRSTVWXYZ0.1.ndjson",
		10: "segments/2026/03/04/01KABCDEFGHJKMNPQRSTVWXYZ0.10.ndjson",
	} {
		if got := n.path(part); got != want {
			t.Errorf("part %d is %q, want %q", part, got, want)
		}
	}
}

// TestCompare shuffles segments that stand in the order in which they are read.
func TestCompare(t *testing.T) {
	const early, late = "01M7W59H3G669C5312M9CYEVJ5", "01M7W59H3H000000000000000A"
	want := []Segment{
		{Path: "segments/2027/01/01/" + early + ".ndjson"}, // the name decides, not the folder
		{Path: "segments/2026/11/20/" + early + ".1.ndjson"},
		{Path: "segments/2026/11/20/" + early + ".2.ndjson"},
		{Path: "segments/2026/11/20/" + early + ".10.ndjson"},
		{Path: "segments/2026/11/20/" + late + ".ndjson"},
		{Path: "segments/2026/11/20/" + late + ".1.ndjson"},
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		got := slices.Clone(want)
		rng.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, Segment.Compare)
		if !slices.Equal(got, want) {
			t.Fatalf("%v", got)
		}
	}
}

func TestSegmentTime(t *testing.T) {
	for path, want := range map[string]time.Time{
		"segments/2026/11/20/01M7W59H3G669C5312M9CYEVJ5.ndjson":   time.UnixMilli(1795167667312).UTC(),
		"segments/2026/11/20/01M7W59H3G669C5312M9CYEVJ5.3.ndjson": time.UnixMilli(1795167667312).UTC(),
		"segments/2026/11/20/notes.ndjson":                        {},
		"":                                                        {},
	} {
		if got := (Segment{Path: path}).Time(); !got.Equal(want) {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}
