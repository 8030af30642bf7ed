package materialize

import (
	"time"

	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
)

// clampTimes makes times of an entry that are later than its commit's that one: nobody says today what was said
// tomorrow, and it would stand before everything else for ever.
func (e *entry) clampTimes() {
	made := e.When.UTC()
	for _, ts := range e.times() {
		if ts.After(made.Add(ledger.Leeway)) {
			*ts = made
		}
	}
}

// times are all that an entry says.
func (e *entry) times() []*time.Time {
	out := []*time.Time{&e.at}
	if e.Checkpoint != nil {
		out = append(out, &e.Checkpoint.TS)
	}
	for i := range e.Sessions {
		s := &e.Sessions[i]
		out = append(out, &s.StartedAt)
		for j := range s.Turns {
			out = append(out, &s.Turns[j].TS)
		}
	}
	for i := range e.Memories {
		out = append(out, &e.Memories[i].TS)
	}
	for _, marks := range [][]session.Mark{e.Purges, e.Restores} {
		for i := range marks {
			out = append(out, &marks[i].TS)
		}
	}
	for i := range e.Rewrites {
		out = append(out, &e.Rewrites[i].TS)
	}
	for i := range e.Wrote {
		out = append(out, &e.Wrote[i].TS)
	}
	return out
}
