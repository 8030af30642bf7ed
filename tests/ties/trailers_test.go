package ties

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// helped counts commits by what their trailers say of who helped.
type helped struct{ commits, missing, wrong int }

// hold holds the counts to what is wanted, of which few commits can't tell 2 % from 3, nor .3 % from 1.
func (h helped) hold(t *testing.T) {
	t.Helper()
	missing, wrong := share(h.missing, h.commits), share(h.wrong, h.commits)
	t.Logf("of %d commits, %.2f %% lack a trailer, %.2f %% have a false one", h.commits, missing, wrong)
	most := .3
	if h.commits < 2000 {
		most = 1
	}
	if missing > 2 || wrong > most {
		t.Errorf("want 2 and %.1f %% at most", most)
	}
}

// agent is what ledgers call the agent of a session.
func (k *talk) agent() string {
	if k.dialect == nil {
		return "claude-code"
	}
	return k.dialect.name
}

// helpers are the agents of which a commit brought lines that say something, and whether it brought any lines.
func (c *commit) helpers() (out map[string]bool, lines bool) {
	out = map[string]bool{}
	for _, f := range c.tree {
		for _, l := range f.text {
			if c.parents[0].holds(l.root) {
				continue
			}
			if lines = true; l.by != nil && !session.IsFiller(l.text) {
				out[l.by.agent()] = true
			}
		}
	}
	return out, lines
}

// judgeTrailers asks for the trailers of all commits with one parent that brought lines: who helped with the others,
// the lines don't tell.
func (a *author) judgeTrailers() (h helped) {
	a.T.Helper()
	said := map[string][]string{}
	for line := range strings.Lines(string(a.asks("trailers", "--json", a.first().sha+"..HEAD"))) {
		var agents []string
		for _, helper := range gjson.Get(line, "helpers").Array() {
			agents = append(agents, helper.Get("agent").Str)
		}
		said[gjson.Get(line, "commit").Str] = agents
	}
	for c := range a.head.past() {
		if len(c.parents) != 1 {
			continue
		}
		want, lines := c.helpers()
		if !lines {
			continue
		}
		h.commits++
		got := said[c.sha]
		missing, wrong := false, false
		for agent := range want {
			missing = missing || !slices.Contains(got, agent)
		}
		for _, agent := range got {
			wrong = wrong || !want[agent]
		}
		if missing {
			h.missing++
		}
		if wrong {
			h.wrong++
		}
		if (missing || wrong) && os.Getenv("TIES_SHOW") != "" {
			a.T.Logf("%.7s in %s's clone is of %v, and has trailers of %v", c.sha, a.name, want, got)
		}
	}
	return h
}

// first is the root of the history.
func (a *author) first() *commit {
	for c := range a.head.past() {
		if len(c.parents) == 0 {
			return c
		}
	}
	return nil
}
