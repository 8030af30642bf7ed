package materialize

import (
	"github.com/git-rekal/git-rekal/internal/session"
)

// Whose a session is. An ID says nothing of the author, and everybody can read everybody's: a
// ledger could put words into another author's session by naming it. So an ID belongs to the author
// whose ledger names it first, in the order of all entries. What another author's ledger says of a
// session by that ID is a session of its own, of that author, which began with the other one
// (forked_from). So is the rest of a session whose user changed address.

// apart gives the sessions in entries that belong to other authors their own IDs, and reports whether
// there are any. It expects what the tables hold of all sessions in b.rows.
func (b *batch) apart(entries []entry) bool {
	owners := map[string]string{}
	for id, row := range b.rows {
		owners[id] = authorOf(row.Email, "?")
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
