package materialize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// amends are rewrites, each "ab" for what a became; digits name the commits.
func amends(pairs ...string) (e session.Entry) {
	for _, p := range pairs {
		e.Rewrites = append(e.Rewrites, session.Rewrite{
			Old: strings.Repeat(p[:1], 40), New: strings.Repeat(p[1:], 40),
			TS: dawn,
		})
	}
	return e
}

// resolved is what rewrites come to: "ab d 1" for what a became, what it is at last, and the name of its family.
func (w *world) resolved(m *materialize.Materializer) []string {
	return w.index(m, `SELECT concat(left(user_email, 1), ' ', left(old_sha, 1), left(new_sha, 1), ' ', left(last_sha, 1), ' ', left(root_sha, 1)) AS r FROM rewrites_index ORDER BY ALL`)
}

func TestRewritesAreResolved(t *testing.T) {
	for _, c := range []struct {
		name string
		says []session.Entry
		want []string
	}{
		{
			"the later one counts",
			[]session.Entry{entryOf(commit("1", alice)), amends("12"), amends("13")},
			[]string{"a 12 3 1", "a 13 3 1"},
		},
		{"named later", []session.Entry{amends("12", "34"), entryOf(commit("1", alice))}, []string{"a 12 2 1"}},
		{"before the first commit", []session.Entry{entryOf(commit("0", alice)), amends("01", "10")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.append(bob, 1, entryOf(commit("2", bob)), entryOf(commit("3", bob))) // names nothing for her
			m := w.materializer()
			for i, e := range c.says {
				w.append(alice, 10+i, e)
				w.catchUp(m)
			}
			var want []string
			for _, r := range c.want {
				want = append(want, fmt.Sprintf(`{"r":%q}`, r))
			}
			harness.Equal(t, "resolved", append([]string{}, want...), w.resolved(m))
			same(t, "lived", w.rebuilt(), w.catchUp(m))
		})
	}
}

// What somebody else's ledger makes of a commit is that ledger's own.
func TestRewritesOfSeveralLedgers(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(commit("1", alice)), amends("12"))
	w.append(bob, 11, entryOf(commit("2", bob)), amends("29"))
	m := w.materializer()
	harness.Equal(t, "resolved", []string{`{"r":"a 12 2 1"}`, `{"r":"b 29 9 2"}`}, w.resolved(m))
	index, err := m.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	got, err := index.RewriteFamilies(t.Context(), []string{strings.Repeat("1", 40)})
	harness.Equal(t, "of hers", []attribution.Rewrite{{
		Email: alice, Old: strings.Repeat("1", 40),
		New: strings.Repeat("2", 40),
	}}, got)
	harness.Equal(t, "error", nil, err)
}
