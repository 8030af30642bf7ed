package session_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const gone = session.Scrubbed

// What was scrubbed is known again by its time and role, with the calls behind it, whichever of
// the two came first; what is behind other turns is told as ever.
func TestAbsorbScrubbed(t *testing.T) {
	scrubbed := script(0, 0, "h1:"+gone, "!Edit ", "a2:so")
	for _, tt := range []struct {
		name       string
		have, part session.Session
		want       session.Session
	}{
		{
			"the text comes again in a piece", scrubbed, script(0, 0, "h1:why", "!Edit x", "a2:so", "h3:more"),
			script(0, 0, "h1:"+gone, "!Edit ", "a2:so", "h3:more"),
		},
		{
			"under other numbers", scrubbed, script(5, 3, "h1:why", "!Edit x", "!Read y", "a2:so", "!Read z", "h3:more"),
			script(0, 0, "h1:"+gone, "!Edit ", "a2:so", "!Read z", "h3:more"),
		},
		{
			"another turn of that time", scrubbed, script(5, 3, "h1:why", "!Edit x", "h1:why again", "!Edit y"),
			script(0, 0, "h1:"+gone, "!Edit ", "a2:so", "h1:why again", "!Edit y"),
		},
		{
			"what was scrubbed comes late", script(0, 0, "h1:why", "!Edit x", "a2:so"),
			script(5, 3, "h1:"+gone, "!Edit ", "h3:more"),
			script(0, 0, "h1:why", "!Edit x", "a2:so", "h3:more"),
		},
		{"into nothing", session.Session{}, scrubbed, scrubbed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.have
			got.Absorb(tt.part, session.Piece)
			tt.want.StartedAt = got.StartedAt
			harness.Equal(t, "session", tt.want, got)
		})
	}
}

// A scrubbed title stays, whatever a transcript says.
func TestAdoptScrubbedTitle(t *testing.T) {
	s := session.Session{Title: gone}
	s.TakeHead(session.Session{Title: "how to use it", Branch: "main"})
	harness.Equal(t, "session", session.Session{Title: gone, Branch: "main"}, s)
}

// A fork begins with a copy of turns of which some were scrubbed.
func TestSharedPrefixScrubbed(t *testing.T) {
	origin := script(0, 0, "h1:"+gone, "a2:so", "h3:"+gone)
	origin.ID = "origin"
	n, holder := session.SharedPrefix(script(0, 0, "h1:why", "a2:so", "h3:and", "a4:new"), []session.Session{origin})
	harness.Equal(t, "shared", 3, n)
	harness.Equal(t, "holder", "origin", holder)
}
