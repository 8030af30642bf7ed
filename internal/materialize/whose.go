package materialize

import (
	"github.com/git-rekal/git-rekal/internal/session"
)

// Whose a session is. An ID says nothing of the author, and everybody can read everybody's: a
// ledger could put words into another author's session by naming it. So an ID belongs to the author
// whose ledger names it first, in the order of all entries. What another author's ledger says of a
// session by that ID is a session of its own, of that author, which began with the other one
// (forked_from). So is the rest of a session whose user changed address. Memories share these IDs.

// apart gives the sessions and memories in entries whose IDs belong to other authors IDs of their own,
// and reports whether there are any. It expects what the tables hold of all in b.rows and b.memories.
func (b *batch) apart(entries []entry) bool {
	owners := map[string]string{}
	for id, row := range b.rows {
		owners[id] = authorOf(row.Email, "?")
	}
	for id, m := range b.memories {
		owners[id] = authorOf(m.Email, "?")
	}
	found := false
	for _, e := range entries {
		author := authorOf(e.email, "?")
		own := func(id string) string {
			if owner, ok := owners[id]; !ok || owner == author {
				return id
			}
			found = true
			return session.OthersID(id, author)
		}
		for i := range e.Sessions {
			p := &e.Sessions[i]
			if _, ok := owners[p.ID]; !ok {
				owners[p.ID] = author
			}
			if id := own(p.ID); id != p.ID {
				if p.ForkedFrom == "" {
					p.ForkedFrom = p.ID
				}
				p.ID = id
			}
		}
		for i := range e.Memories {
			m := &e.Memories[i]
			if _, ok := owners[m.ID]; !ok {
				owners[m.ID] = author
			}
			m.ID = own(m.ID)
		}
		if e.Checkpoint == nil {
			continue
		}
		for i := range e.Checkpoint.Links {
			l := &e.Checkpoint.Links[i]
			l.Session = own(l.Session)
		}
	}
	return found
}
