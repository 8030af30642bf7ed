package materialize

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Whose an ID is. An ID says nothing of the author, and everybody can read everybody's: a ledger could put
// words into another author's session by naming it, or put itself in its place. So an ID belongs to one of the
// authors whose ledgers name it: to the owner of a branch of this clone, else to the first whose segment is
// dated as it can be, else to the first. What another author's ledger says of a session by that ID is a session
// of its own, of that author, which began with the other one (forked_from). So is the rest of a session whose user
// changed address. Memories share these IDs.
//
// The table claims says whose ledger names which ID. A catch-up reads the claims of all that is new before it writes
// anything. So the name of each session follows from all claims, and not from the order in which they came. Where an ID
// in the tables changes hands, the tables are made anew.

// claim says that an author's ledger names an ID.
type claim struct{ id, author string }

// claims are who names which ID, and so what each of them is called.
type claims struct {
	said  map[claim]db.Claim
	owner map[string]string // ID → author
	also  map[string]claim  // the IDs of their own that those who name a contested one have, here or elsewhere
	taken map[string]bool   // those of also that are in use: no ledger can take them by naming them
}

// newClaims weighs claims. Own tells by its refs which ledgers are one's own.
func newClaims(said map[claim]db.Claim, own cursor) *claims {
	c := &claims{said: said, owner: map[string]string{}, also: map[string]claim{}, taken: map[string]bool{}}
	contested := map[string]bool{}
	for cl := range said {
		first, known := c.owner[cl.id]
		contested[cl.id] = known
		if !known || c.outranks(cl, claim{cl.id, first}, own) {
			c.owner[cl.id] = cl.author
		}
	}
	var lost []claim
	for cl := range said {
		if contested[cl.id] {
			c.also[session.IDOfOthers(cl.id, cl.author)] = cl
		}
		if c.owner[cl.id] != cl.author {
			lost = append(lost, cl)
		}
	}
	for len(lost) > 0 {
		cl := lost[0]
		id := session.IDOfOthers(cl.id, cl.author)
		if author, named := c.owner[id]; named && !c.taken[id] {
			lost = append(lost, claim{id, author})
		}
		c.taken[id], lost = true, lost[1:]
	}
	return c
}

// outranks reports whether a claim counts for more than another one of the same ID.
func (c *claims) outranks(a, b claim, own cursor) bool {
	if mine := isOwn(own, a.author); mine != isOwn(own, b.author) {
		return mine
	}
	return isFirmer(c.said[a], c.said[b])
}

func isOwn(own cursor, author string) bool {
	_, ok := own[author]
	return ok
}

// name is what an author's session or memory is called that the author's ledger calls id.
func (c *claims) name(id, author string) string {
	if owner, named := c.owner[id]; c.taken[id] || named && owner != author {
		return session.IDOfOthers(id, author)
	}
	return id
}

// refer is what an author's ledger means by an ID: the author's own session or memory, where there is one.
func (c *claims) refer(id, author string) string {
	if _, ok := c.said[claim{id, author}]; ok {
		return c.name(id, author)
	}
	return id
}

// marked is refer for a mark, which may call what is the author's as another clone does.
func (c *claims) marked(id, author string) string {
	if cl, ok := c.also[id]; ok && cl.author == author {
		id = cl.id
	}
	return c.refer(id, author)
}

// address is the one spelling of an address: that of the ref (ledger.RefName).
func address(email string) string { return strings.ToLower(email) }

// isCredible reports whether a commit can be the one that named an ID first: it is by the ledger's author, and
// dated neither before what has the ID began, nor otherwise than its segment. What stood behind a cut may be
// older than its commit.
func (c commit) isCredible(id string) bool {
	at := c.Segments[0].Time()
	return authorOf(c.By, "") == authorOf(c.email, "?") && !at.Add(ledger.Leeway).Before(session.TimeOfID(id)) &&
		(c.Cut || at.Sub(c.When).Abs() <= ledger.Leeway)
}

// claimed are the claims that an entry makes.
func (e entry) claimed() map[claim]db.Claim {
	out := map[claim]db.Claim{}
	add := func(id string) {
		out[claim{id, authorOf(e.email, "?")}] = db.Claim{
			ID: id, Email: address(e.email), Entry: e.key,
			Credible: e.isCredible(id),
		}
	}
	for _, p := range e.Sessions {
		add(p.ID)
	}
	for _, m := range e.Memories {
		add(m.ID)
	}
	return out
}

// claim reads who names which ID in what is to be applied, and says so in the tables. It returns errRestart
// where something in them is called otherwise from now on, or is tied to what it was not.
func (s *store) claim(ctx context.Context, tx *db.Tx, p *plan) error {
	more, err := s.scan(ctx, p)
	if err != nil {
		return err
	}
	before, err := readClaims(ctx, tx, more.ids)
	if err != nil {
		return err
	}
	all, changed := maps.Clone(before), []db.Claim{}
	for cl, c := range more.said {
		if was, known := before[cl]; !known || isFirmer(c, was) {
			all[cl], changed = c, append(changed, c)
		}
	}
	s.claims = newClaims(all, p.cursor)
	if len(p.have) > 0 {
		if err := s.renames(ctx, tx, newClaims(before, p.have), more); err != nil {
			return err
		}
	}
	return tx.SetClaims(ctx, changed)
}

// isFirmer reports whether claim a of an author to an ID counts for more than the same author's claim b.
func isFirmer(a, b db.Claim) bool {
	if a.Credible != b.Credible {
		return a.Credible
	}
	return a.Entry < b.Entry
}

// scanned are the IDs in commits.
type scanned struct {
	said  map[claim]db.Claim
	first map[claim]string // the first entry that makes each claim
	ids   []string         // of all that is spoken of, and what that may be called
}

// scan reads which IDs stand in commits, and keeps what comes first for the first batches.
func (s *store) scan(ctx context.Context, p *plan) (scanned, error) {
	out, ids := scanned{said: map[claim]db.Claim{}, first: map[claim]string{}}, map[claim]bool{}
	first, bytes := 0, uint64(0)
	for ; first < len(p.commits) && bytes < batchesAhead*batchBytes; first++ {
		bytes += p.commits[first].bytes
	}
	s.readAhead = make([]entry, first)
	// by core; for a little, no other repository is opened
	failed := make([]error, min(runtime.GOMAXPROCS(0), 1+int(p.bytes/batchBytes)))
	var begun atomic.Int64
	var adding sync.Mutex
	var all sync.WaitGroup
	for core := range failed {
		all.Go(func() {
			failed[core] = s.scanSome(ctx, p.commits, &begun, core > 0, func(i int, e entry) {
				adding.Lock()
				defer adding.Unlock()
				if i < first {
					s.readAhead[i] = e
				}
				out.add(e, ids)
			})
		})
	}
	all.Wait()
	for cl := range ids {
		out.ids = append(out.ids, cl.id, session.IDOfOthers(cl.id, cl.author))
	}
	return out, cmp.Or(failed...)
}

// scanSome reads commits that nobody else has begun, beside others that do if so told: then by a repository of its own.
func (s *store) scanSome(ctx context.Context, commits []commit, begun *atomic.Int64, beside bool,
	use func(i int, e entry),
) (err error) {
	repo := s.Repo
	if beside {
		if repo, err = repo.Reopen(); err != nil {
			return err
		}
		defer repo.Close()
	}
	for i := int(begun.Add(1)) - 1; i < len(commits); i = int(begun.Add(1)) - 1 {
		e, err := s.read(ctx, repo, commits[i])
		if err != nil {
			return err
		}
		use(i, e)
	}
	return nil
}

// add adds what an entry claims, and to ids what it speaks of.
func (out *scanned) add(e entry, ids map[claim]bool) {
	for cl, c := range e.claimed() {
		if was, ok := out.first[cl]; !ok || c.Entry < was {
			out.first[cl] = c.Entry
		}
		if was, known := out.said[cl]; !known || isFirmer(c, was) {
			out.said[cl] = c
		}
	}
	for _, id := range e.idsMentioned() {
		ids[claim{id, authorOf(e.email, "?")}] = true
	}
}

// readClaims reads the claims to some IDs, and those to contested ones.
func readClaims(ctx context.Context, q db.Querier, ids []string) (map[claim]db.Claim, error) {
	rows, err := db.Claims(ctx, q, ids)
	out := map[claim]db.Claim{}
	for _, c := range rows {
		out[claim{c.ID, authorOf(c.Email, "?")}] = c
	}
	return out, err
}

// renames returns errRestart where what the tables hold is called, or refers to something, otherwise than before:
// an ID changed hands, or an author has a session now that the author's links or other sessions named in vain.
func (s *store) renames(ctx context.Context, tx *db.Tx, before *claims, more scanned) error {
	for cl := range before.said {
		if s.claims.name(cl.id, cl.author) != before.name(cl.id, cl.author) {
			return errRestart
		}
	}
	var lost []db.Claim
	for cl := range more.first {
		if _, known := before.said[cl]; !known && s.claims.name(cl.id, cl.author) != cl.id {
			lost = append(lost, s.claims.said[cl])
		}
	}
	dangling, err := tx.Dangling(ctx, more.ids)
	if err != nil {
		return err
	}
	for cl, entry := range more.first {
		if entry < dangling[session.IDOfOthers(cl.id, cl.author)] {
			return errRestart
		}
	}
	refer, err := tx.IsReferredTo(ctx, lost)
	if err == nil && refer {
		err = errRestart
	}
	return err
}

// rename gives the sessions and memories in entries, and what these refer to, the names that they have here.
func (s *store) rename(entries []entry) {
	for n, e := range entries {
		author := authorOf(e.email, "?")
		for i := range e.Sessions {
			p := &e.Sessions[i]
			p.Parent, p.ForkedFrom = s.claims.refer(p.Parent, author), s.claims.refer(p.ForkedFrom, author)
			if id := s.claims.name(p.ID, author); id != p.ID {
				p.ID, p.ForkedFrom = id, cmp.Or(p.ForkedFrom, p.ID)
			}
		}
		for i := range e.Memories {
			m := &e.Memories[i]
			m.ID, m.Supersedes = s.claims.name(m.ID, author), s.claims.refer(m.Supersedes, author)
			if session.IsID(m.Rejects) {
				m.Rejects = s.claims.refer(m.Rejects, author)
			}
		}
		for i := range e.Wrote {
			w := &e.Wrote[i]
			entries[n].written = append(entries[n].written, session.IDOfOthers(w.Session, author))
			w.Session = s.claims.name(w.Session, author)
		}
		if e.Checkpoint == nil {
			continue
		}
		for i := range e.Checkpoint.Links {
			l := &e.Checkpoint.Links[i]
			entries[n].linked = append(entries[n].linked, session.IDOfOthers(l.Session, author))
			l.Session = s.claims.name(l.Session, author)
		}
	}
}

// Contested is an ID that more than one ledger names.
type Contested struct {
	ID     string
	Owner  string   // the address of the author whose it is here
	Others []string // addresses, in order
}

// contested lists the IDs that more than one ledger names, in order.
func contested(ctx context.Context, q db.Querier, at cursor) ([]Contested, error) {
	said, err := readClaims(ctx, q, nil)
	by := map[string]*Contested{}
	for id, author := range newClaims(said, at).owner {
		by[id] = &Contested{ID: id, Owner: said[claim{id, author}].Email}
	}
	for cl, c := range said {
		if all := by[cl.id]; c.Email != all.Owner {
			all.Others = append(all.Others, c.Email)
		}
	}
	var out []Contested
	for _, id := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[id].Others)
		out = append(out, *by[id])
	}
	return out, err
}
