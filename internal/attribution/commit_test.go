package attribution_test

import (
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func linked(all []session.Link) string {
	var out []string
	for _, l := range all {
		out = append(out, l.Session+map[bool]string{true: "?"}[l.Inferred])
	}
	return strings.Join(out, " ")
}

// pending are files that wait for a commit since a minute.
func pending(minute int, paths ...string) map[string]time.Time {
	out := map[string]time.Time{}
	for _, p := range paths {
		out[p] = at(minute)
	}
	return out
}

// committed is a commit of a.go, which was b.go, at half past, in which some wrote.
func committed(writers ...string) attribution.Committed {
	c := attribution.Committed{At: at(30), Files: []session.File{{Path: "a.go", OldPath: "b.go"}}}
	for _, id := range writers {
		c.Wrote = append(c.Wrote, session.Wrote{Session: id, Path: "a.go"})
	}
	return c
}

func TestEarlier(t *testing.T) {
	for _, c := range []struct {
		name   string
		worker attribution.SessionState
		in     attribution.Committed
		want   string
	}{
		{"its edit waits", attribution.SessionState{Pending: pending(10, "a.go")}, committed(), "w"},
		{"by the former name", attribution.SessionState{Pending: pending(10, "b.go")}, committed(), "w"},
		{"of another file", attribution.SessionState{Pending: pending(10, "c.go")}, committed(), ""},
		{"made after the commit", attribution.SessionState{Pending: pending(31, "a.go")}, committed(), ""},
		{"long ago", attribution.SessionState{Pending: pending(10, "a.go"), Last: at(0).AddDate(0, 0, -8)}, committed(), ""},
		{"long ago, and its lines are there", attribution.SessionState{Last: at(0).AddDate(0, 0, -8)}, committed("w"), "w"},
		{"it commits", attribution.SessionState{Commits: true}, committed(), "w"},
	} {
		if c.worker.ID = "w"; c.worker.Last.IsZero() {
			c.worker.Last = at(20)
		}
		harness.Equal(t, c.name, c.want, linked(attribution.TieKnown(c.in, []attribution.SessionState{c.worker}, at(40))))
	}
}

func TestOnlyTalks(t *testing.T) {
	done := attribution.SessionState{ID: "w", Edited: true}
	waits := attribution.SessionState{ID: "w", Edited: true, Pending: pending(10, "c.go")}
	sub := attribution.SessionState{ID: "sub", Parent: "w", Edited: true, Pending: pending(10, "c.go")}
	calls := func(c ...session.ToolCall) session.Session { return session.Session{ID: "w", ToolCalls: c} }
	for _, c := range []struct {
		name    string
		in      attribution.Committed
		workers []attribution.SessionState
		fresh   session.Session
		want    bool
	}{
		{"all is committed", committed(), []attribution.SessionState{done}, calls(), true},
		{"it never edited", committed(), []attribution.SessionState{{ID: "w"}}, calls(), false},
		{"new", committed(), nil, calls(), false},
		{"an edit waits", committed(), []attribution.SessionState{waits}, calls(), false},
		{"a subagent's waits", committed(), []attribution.SessionState{done, sub}, calls(), false},
		{"it wrote in the commit", committed("w"), []attribution.SessionState{done}, calls(), false},
		{"it edits", committed(), []attribution.SessionState{done}, calls(session.ToolCall{Tool: "Edit", Act: session.ActEdit, Path: "z"}), false},
		{"an edit that failed", committed(), []attribution.SessionState{done}, calls(session.ToolCall{Tool: "Edit", Act: session.ActEdit, Path: "z", Failed: true}), true},
		{"it commits", committed(), []attribution.SessionState{done}, calls(session.ToolCall{Tool: "Bash", Cmd: "git commit -m x"}), false},
		{"a command names a file", committed(), []attribution.SessionState{done}, calls(session.ToolCall{Tool: "Bash", Cmd: "gofmt -w a.go"}), false},
		{"it reads", committed(), []attribution.SessionState{done}, calls(session.ToolCall{Tool: "Read", Act: session.ActRead, Path: "a.go"}), true},
		{"a commit without files", attribution.Committed{At: at(30)}, []attribution.SessionState{done}, calls(), false},
	} {
		harness.Equal(t, c.name, c.want, attribution.OnlyTalks("w", c.in, c.workers, []session.Session{c.fresh}))
	}
}

func TestPlausible(t *testing.T) {
	talk := func(first, last int, edits ...string) session.Session {
		s := session.Session{ID: "w", Turns: []session.Turn{{TS: at(first)}, {TS: at(last)}}}
		for _, p := range edits {
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{Tool: "Edit", Act: session.ActEdit, Path: p})
		}
		return s
	}
	for _, c := range []struct {
		name string
		s    session.Session
		in   attribution.Committed
		want string
	}{
		{"open, and edited it", talk(10, 20, "a.go"), committed(), "w?"},
		{"edited what was renamed", talk(10, 20, "b.go"), committed(), "w?"},
		{"edited another", talk(10, 20, "c.go"), committed(), ""},
		{"began later", talk(31, 40, "a.go"), committed(), ""},
		{"ended long before", talk(-80, -40, "a.go"), committed(), ""},
		{"its lines are there", talk(-80, -40, "a.go"), committed("w"), "w"},
		{"edited nothing", talk(10, 20), committed(), ""},
	} {
		harness.Equal(t, c.name, c.want, linked(attribution.TieImported(c.in, attribution.Spans([]session.Session{c.s}))))
	}
}
