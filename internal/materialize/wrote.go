package materialize

import (
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// addWrote takes which lines of code commits sessions wrote. A ledger speaks of its own sessions only. What it says of
// a commit ties them to it and gives them the file, as a checkpoint does; of the commit of the entry's own checkpoint
// give has seen to that.
func (b *batch) addWrote(e entry) {
	var here []session.Wrote
	ties, start := b.tiesOfCheckpoint(e), len(b.ties)
	for i, w := range e.Wrote {
		if b.rows[w.Session] == nil {
			b.dangling = append(b.dangling, db.DanglingLink{Session: e.written[i], Entry: e.key})
			continue
		}
		here = append(here, w)
		b.changed[w.Session], b.rows[w.Session].LastEntry = true, e.key
		if len(w.Lines) == 0 { // lines that it took away: others did so before
			continue
		}
		at, known := ties[wroteIn{w.Session, w.GitSHA}]
		again := slices.ContainsFunc(here[:len(here)-1], func(o session.Wrote) bool {
			return o.Session == w.Session && o.GitSHA == w.GitSHA && o.Path == w.Path
		})
		if !known {
			at = len(b.ties)
			ties[wroteIn{w.Session, w.GitSHA}] = at
			// As a checkpoint of its own; a time of its own keeps their order.
			b.ties = append(b.ties, attribution.Tie{
				Session: w.Session, Checkpoint: string(e.OID) + ":" + w.GitSHA, SHA: w.GitSHA, Email: address(e.email),
				TS: e.at.Add(time.Duration(at-start) * time.Millisecond), Turn: -1,
			})
		}
		b.ties[at].Kind, b.ties[at].Evidence = session.TieWrote,
			attribution.LinesOf(e.Wrote[:i+1], w.GitSHA, e.Wrote[i].Session)
		b.ties[at].Lines = min(b.ties[at].Lines+w.Lines.Count(), session.MaxLine)
		if at >= start && !again {
			b.files = append(b.files, db.FileRow{
				Checkpoint: b.ties[at].Checkpoint, Session: w.Session, Path: w.Path, Change: "M", Blob: db.KeyOf(w.Blob),
				Kind: session.TieEdited,
			})
		}
	}
	e.Wrote = here
	b.notes = append(b.notes, e)
}

// maxSpawned is how many sessions that spawned one another are followed.
const maxSpawned = 16

// tieSpawners ties the sessions that spawned those that wrote or edited something of an entry's commits, as these are
// tied.
func (b *batch) tieSpawners(e entry, start int) {
	at := map[wroteIn]int{}
	for i, t := range b.ties[start:] {
		at[wroteIn{t.Session, t.SHA}] = start + i
	}
	for _, t := range slices.Clone(b.ties[start:]) {
		for id, n := b.rows[t.Session].Parent, 0; b.rows[id] != nil && n < maxSpawned && !t.Kind.IsWeak(); id,
			n = b.rows[id].Parent, n+1 {
			of := wroteIn{id, t.SHA}
			i, known := at[of]
			if !known {
				i, at[of] = len(b.ties), len(b.ties)
				b.ties = append(b.ties, attribution.Tie{
					Session: id, Checkpoint: t.Checkpoint, SHA: t.SHA, Email: t.Email, Kind: t.Kind, TS: t.TS, Turn: -1,
					Evidence: t.Evidence,
				})
				b.changed[id], b.rows[id].LastEntry = true, max(b.rows[id].LastEntry, e.key)
			}
			if t.Kind < b.ties[i].Kind {
				b.ties[i].Kind, b.ties[i].Evidence = t.Kind, t.Evidence
			}
		}
	}
}

// wroteIn is a session and a code commit.
type wroteIn struct{ session, sha string }

// tiesOfCheckpoint are the ties of an entry's checkpoint, by their places.
func (b *batch) tiesOfCheckpoint(e entry) map[wroteIn]int {
	out := map[wroteIn]int{}
	for i := len(b.ties) - 1; i >= 0 && b.ties[i].Checkpoint == string(e.OID); i-- {
		out[wroteIn{b.ties[i].Session, b.ties[i].SHA}] = i
	}
	return out
}
