package recall

import (
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestStatements(t *testing.T) {
	for _, c := range []struct{ text, anchor, value string }{
		{"pool.max_open is 20 on the gate.", "pool.max_open", "20"},
		{"`pool.max_open` = 50", "pool.max_open", "50"},
		{"MAX_AGE defaults to 30 s, as clocks differ", "MAX_AGE", "30 s"},
		{"auth/jwt.go uses `HS256` only", "auth/jwt.go", "HS256"},
		{`retryLimit: "five"`, "retryLimit", "five"},
		{"rekal.sign must be off in CI", "rekal.sign", "off"},
		{"cache_dir is set to /tmp", "", ""},
		{"version is v1.2.3", "", ""},
		{"auth/jwt.go is slow and nobody knows why", "", ""},
		{"The leeway is 30 s.", "", ""},
		{"See docs/search.md: it explains the weights", "", ""},
		{"", "", ""},
	} {
		var got statement
		if all := statements(c.text); len(all) > 0 {
			got = all[0]
		}
		harness.Equal(t, c.text, c.anchor+" "+c.value, got.anchor+" "+got.value)
	}
}

func TestFindDiffering(t *testing.T) {
	said := []statement{{"a.b", "1"}, {"A_B", "on"}}
	for _, c := range []struct {
		other statement
		want  bool
	}{
		{statement{"a.b", "2"}, true},
		{statement{"a.b", "1"}, false},
		{statement{"A_B", "On"}, false},
		{statement{"c.d", "2"}, false},
	} {
		_, got := findDiffering(said, []statement{c.other})
		harness.Equal(t, c.other.anchor+" "+c.other.value, c.want, got)
	}
}
