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
	c := attribution.Committed{At: at(30), PreviousAt: at(15), Files: []session.File{{Path: "a.go", OldPath: "b.go"}}}
	for _, id := range writers {
		c.Wrote = append(c.Wrote, session.Wrote{Session: id, Path: "a.go", Lines: session.RangesOf([]int{1})})
	}
	return c
}

// TestBefore: git cuts a commit's time to the second, and its clock may lag behind an agent's by a tick.
func TestBefore(t *testing.T) {
	commit := time.Date(2026, 3, 1, 10, 0, 5, 0, time.UTC)
	for after, want := range map[time.Duration]bool{
		-time.Second: false, 0: false, 999 * time.Millisecond: false, 1020 * time.Millisecond: false,
		1200 * time.Millisecond: true, time.Minute: true,
	} {
		if got := attribution.IsCommittedBefore(commit, commit.Add(after)); got != want {
			t.Errorf("a commit made %s before a moment: %v", after, got)
		}
	}
}

func TestEarlier(t *testing.T) {
	gone := committed("w")
	gone.Wrote[0].Lines, gone.Wrote[0].Gone = nil, 3
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
		{"it took lines away", attribution.SessionState{}, gone, ""},
		{"it commits", attribution.SessionState{RunsGit: true}, committed(), "w"},
		{"in use since the commit before", attribution.SessionState{NewSinceTie: true}, committed(), "w"},
		{"in use, and tied since", attribution.SessionState{}, committed(), ""},
		{"in use before the commit before", attribution.SessionState{NewSinceTie: true, Last: at(10)}, committed(), ""},
		{"in use after it", attribution.SessionState{NewSinceTie: true, Last: at(31)}, committed(), ""},
	} {
		if c.worker.ID = "w"; c.worker.Last.IsZero() {
			c.worker.Last = at(20)
		}
		harness.Equal(t, c.name, c.want, linked(attribution.TieKnown(c.in, []attribution.SessionState{c.worker}, at(40))))
	}
}

// A commit no lines of which are any session's is tied to the one that alone had something said within the hour before.
func TestImported(t *testing.T) {
	talk := func(id string, minutes ...int) attribution.Span {
		s := attribution.Span{ID: id, Top: strings.TrimRight(id, "+")}
		for _, m := range minutes {
			s.Turns = append(s.Turns, at(m))
		}
		return s
	}
	stored := attribution.Span{ID: "s", Top: "s", From: at(-80), To: at(-20)}
	for _, c := range []struct {
		name  string
		in    attribution.Committed
		spans []attribution.Span
		want  string
	}{
		{"alone", committed(), []attribution.Span{talk("w", 10, 20)}, "w?"},
		{"said later", committed(), []attribution.Span{talk("w", 31, 40)}, ""},
		{"said before and later, long apart", committed(), []attribution.Span{talk("w", -80, -31, 40)}, ""},
		{"an hour ago", committed(), []attribution.Span{talk("w", -80, -30)}, "w?"},
		{"two", committed(), []attribution.Span{talk("v", 20), talk("w", 10)}, ""},
		{"one and its subagent", committed(), []attribution.Span{talk("w", 10), talk("w+", 20)}, "w?"},
		{"beside a stored one", committed(), []attribution.Span{talk("w", 10), stored}, ""},
		{"a stored one", committed(), []attribution.Span{stored}, ""},
		{"its lines are there", committed("w"), []attribution.Span{talk("v", 10), talk("w", -80, -31)}, "w"},
		{"the lines of two", committed("w", "v"), []attribution.Span{talk("v", 10), talk("w", 10)}, "v w"},
	} {
		harness.Equal(t, c.name, c.want, linked(attribution.TieImported(c.in, c.spans)))
	}
}
