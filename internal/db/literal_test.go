package db

import (
	"regexp"
	"strings"
	"testing"
)

// TestLiteral: whatever a pattern matches holds its literal.
func TestLiteral(t *testing.T) {
	paths := []string{"src/auth/jwt.go", "src/Auth/JWT.go", "docs/a.b", "a\x00b", "\xff.go", "src/ä/ö.go", "", "aaab", "x"}
	for pattern, want := range map[string]string{
		`^src/auth/`: "src/auth/", `\.go$`: ".go", `(?i)jwt`: "", `src/(auth|billing)/`: "src/", `(src/)+jwt?`: "src/",
		`a*b`:       "b",
		`(?:abc)?d`: "d", `x|y`: "", `[a-z]+\.go`: ".go", `.`: "", ``: "", `a{2}b`: "a", `src/ä`: "src/ä", `(`: "",
	} {
		got := longestLiteral(pattern)
		re, err := regexp.Compile(pattern)
		if err != nil {
			continue
		}
		if len(got) < len(want) {
			t.Errorf("%q: %q, want %q or more", pattern, got, want)
		}
		for _, p := range paths {
			if re.MatchString(p) && !strings.Contains(p, got) {
				t.Errorf("%q matches %q, which does not hold %q", pattern, p, got)
			}
		}
	}
}
