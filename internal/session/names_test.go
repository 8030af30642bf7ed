package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func named(ids ...string) map[string]string {
	out := map[string]string{}
	for _, id := range ids {
		out[id] = ""
	}
	return out
}

// Agents that were started at once have IDs that begin alike.
func TestFindAmongMany(t *testing.T) {
	var ids []string
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("01KAB3F9%018d", i))
	}
	_, err := session.NewNames(named(ids...)).CompleteID("01KAB3F9")
	if err == nil || strings.Count(err.Error(), ", ") != 9 || !strings.HasSuffix(err.Error(), "9 and more") {
		t.Errorf("error %v", err)
	}
}

func TestFind(t *testing.T) {
	const one, two, other = "01KAB3F9AAAAAAAAAAAAAAAAA1", "01KAB3F9AAAABBBBBBBBBBBBB2", "01KZZZZZZZZZZZZZZZZZZZZZZ3"
	n := session.NewNames(map[string]string{other: "5d0cAAAA-1", two: "5d0caaaa-2", one: "77"})
	for _, c := range []struct {
		name, prefix, want string
		is                 error
		candidates         []string
	}{
		{"whole", one, one, nil, nil},
		{"prefix", "01KZZZZZ", other, nil, nil},
		{"lower case", "01kzzzzz", other, nil, nil},
		{"just enough", "01KAB3F9AAAAB", two, nil, nil},
		{"nothing", "01KAAAAA", "", session.ErrNoID, nil},
		{"longer than an ID", one + "1", "", session.ErrNoID, nil},
		{"a pattern is not one", "01KZ%ZZZ", "", session.ErrNoID, nil},
		{"four are enough", "01KZ", other, nil, nil},
		{"too short", "01K", "", session.ErrShortID, nil},
		{"an agent's own", "5D0CAAAA-1", other, nil, nil},
		{"an agent's own, shorter than is tried", "77", "", session.ErrShortID, nil},
		{"agents' own, two", "5d0c", "", nil, []string{"01KZZZZZ", "01KAB3F9AAAAB"}},
		{"two", "01KAB3F9", "", nil, []string{"01KAB3F9AAAAA", "01KAB3F9AAAAB"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := n.CompleteID(c.prefix)
			var ambiguous *session.AmbiguousError
			switch {
			case c.candidates != nil:
				if !errors.As(err, &ambiguous) {
					t.Fatalf("error %v, want an AmbiguousError", err)
				}
				harness.Equal(t, "candidates", c.candidates, ambiguous.IDs)
			case !errors.Is(err, c.is):
				t.Errorf("error %v, want %v", err, c.is)
			}
			if got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%q", c.prefix)) {
				t.Errorf("%q does not name %q", err, c.prefix)
			}
		})
	}
}

func TestShortest(t *testing.T) {
	for _, c := range []struct {
		name     string
		ids, out []string // the IDs are in order
	}{
		{"none", nil, []string{}},
		{"one", []string{"0123456789"}, []string{"01234567"}},
		{"apart", []string{"0123456789", "1123456789"}, []string{"01234567", "11234567"}},
		{"near the next", []string{"0123456789A", "0123456789B", "9"}, []string{"0123456789A", "0123456789B", "9"}},
		{
			"near the one before",
			[]string{"01234567AA", "01234567AB", "01234567BB"},
			[]string{"01234567AA", "01234567AB", "01234567B"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := []string{}
			for _, id := range c.ids {
				got = append(got, session.NewNames(named(c.ids...)).Short(id))
			}
			harness.Equal(t, "shortest", c.out, got)
		})
	}
}
