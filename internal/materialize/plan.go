package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
)

// A ledger that could not be read to its end keeps its cursor (`applied!tried`). It is tried again when it moves and at
// each CatchUp, and not by each reader. A ledger that fails alone when it is applied rests (`applied!!tried`) until its
// ref moves; doctor names it. The others come with the next catch-up. A ledger's segments count only if their
// checkpoint is by the ledger's own author. A ledger can't hide another author's commits by pointing at them, nor add
// to another author's session.

// reach is how far a ledger was read: every commit up to applied is in the tables, and tried is
// the newest that was looked at. They differ where that could not be read, or is beyond the bounds.
type reach struct {
	applied, tried git.OID
	rests          bool   // applying it failed: it is not tried again before it moves
	bytes          uint64 // of somebody else's ledger up to applied; see ledger.Cumulative
}

// withTip is the reach after an attempt to read up to the commit tried.
func (r reach) withTip(tried git.OID, rests bool) reach {
	r.tried, r.rests = tried, rests
	return r
}

// behind is the commit up to which all is applied, if there is any.
func (r reach) behind() []git.OID {
	if r.applied == "" {
		return nil
	}
	return []git.OID{r.applied}
}

// cursor is how far each ledger was read, by ref. In the tables a reach is the OID of a
// commit, "applied!tried", or "applied!!tried" where it rests, and behind it what was counted.
type cursor map[string]reach

func readCursor(ctx context.Context, q db.Querier) (cursor, error) {
	rows, err := db.Cursor(ctx, q)
	out := cursor{}
	for ref, text := range rows {
		out[ref] = parseReach(text)
	}
	return out, err
}

func parseReach(text string) (r reach) {
	text, counted, _ := strings.Cut(text, " ")
	_, _ = fmt.Sscan(counted, &r.bytes) // 0 where nothing was
	applied, tried, failed := strings.Cut(text, "!")
	if !failed {
		tried = applied
	}
	tried, r.rests = strings.CutPrefix(tried, "!")
	r.applied, r.tried = git.OID(applied), git.OID(tried)
	return r
}

// text is what parseReach reads.
func (r reach) text() string {
	out := string(r.applied)
	if r.rests {
		out += "!"
	}
	if r.applied != r.tried {
		out += "!" + string(r.tried)
	}
	if r.bytes > 0 {
		out += fmt.Sprintf(" %d", r.bytes)
	}
	return out
}

func (c cursor) rows() map[string]string {
	out := map[string]string{}
	for ref, r := range c {
		out[ref] = r.text()
	}
	return out
}

// isCurrent reports whether everything at heads was tried.
func (c cursor) isCurrent(heads []ledger.Head) bool {
	for _, h := range heads {
		if r, ok := c[h.Ref]; !ok || r.tried != h.OID {
			return false
		}
	}
	return len(c) == len(heads)
}

// commit is one ledger commit to apply, with its author.
type commit struct {
	ledger.Commit
	email   string
	private bool
	bytes   uint64 // of the segments
	// key orders all commits of all ledgers: by the name of the first segment, which begins with
	// its time, then by the commit itself.
	key string
}

func newCommit(c ledger.Commit, h ledger.Head) commit {
	out := commit{Commit: c, email: h.Email, private: h.Private}
	if len(c.Segments) > 0 {
		name, _, _ := strings.Cut(path.Base(c.Segments[0].Path), ".ndjson")
		id, part, _ := strings.Cut(name, ".")
		if c.IsAhead() { // all that comes later would stand before it
			id = session.NewID(c.When, h.Email, string(c.OID))
		}
		out.key = fmt.Sprintf("%s.%6s %s %s", id, part, c.OID, h.Email)
	}
	return out
}

// plan is what is missing from tables that stand at have.
type plan struct {
	have, cursor cursor
	was          cursor // how far the tables went that a rebuild replaces; else have
	effort       effort
	off          map[string]bool // refs of which nothing new is taken this time
	tips         map[string]git.OID
	authors      map[string]string // by ref
	commits      []commit          // in their order
	bytes        uint64            // of their segments
	added        uint64            // of other people's ledgers, beyond was
	failed       []error           // by ledgers that could not be read, or not to their end
}

// plan lists what heads hold beyond have. It returns errRestart where a ledger that was read is
// gone or was rewritten: what it said must leave the tables.
func (m *Materializer) plan(ctx context.Context, heads []ledger.Head, have, was cursor, effort effort,
	leaveOut map[string]bool,
) (*plan, error) {
	p := &plan{
		have: have, was: was, effort: effort, off: leaveOut, cursor: cursor{}, authors: map[string]string{},
		tips: map[string]git.OID{},
	}
	known := map[string][]git.OID{} // what is applied, by author
	for _, h := range heads {
		author := authorOf(h.Email, h.Ref)
		p.authors[h.Ref], p.tips[h.Ref] = author, h.OID
		if applied := have[h.Ref].applied; applied != "" {
			known[author] = append(known[author], applied)
		}
	}
	for ref := range have {
		if p.authors[ref] == "" {
			return nil, errRestart
		}
	}
	for _, h := range heads {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("materialize: %w", err)
		}
		r := have[h.Ref]
		if r.tried == h.OID && (r.applied == h.OID || r.rests || effort == reading) {
			p.cursor[h.Ref] = r
			continue
		}
		if err := m.planLedger(ctx, p, h, known[p.authors[h.Ref]]); err != nil {
			return nil, err
		}
		if applied := p.cursor[h.Ref].applied; applied != r.applied {
			known[p.authors[h.Ref]] = append(known[p.authors[h.Ref]], applied)
		}
	}
	slices.SortFunc(p.commits, func(a, b commit) int { return cmp.Compare(a.key, b.key) })
	return p, nil
}

// authorOf is what refs of one author have in common. Only what an author's own ledgers hold
// counts as known: a ledger can't make another's commits its own by pointing at them.
func authorOf(email, ref string) string {
	if name, err := ledger.RefName(email); err == nil {
		return name
	}
	return ref
}

// planLedger plans one ledger. What is wrong with it costs only itself: its old state stays.
func (m *Materializer) planLedger(ctx context.Context, p *plan, h ledger.Head, known []git.OID) error {
	old := p.have[h.Ref].applied
	to, counted, over, err := m.readableUpTo(ctx, p, h)
	var commits []commit
	if err == nil && to.applied != "" {
		end := h
		end.OID = to.applied
		if !slices.Equal(known, p.was[h.Ref].behind()) { // others count
			counted = nil
		}
		commits, err = m.missingCommits(ctx, end, known, counted)
	}
	if err == nil && old != "" {
		if ok, err := m.Repo.IsAncestor(old, to.applied); err != nil || !ok || slices.ContainsFunc(commits, restartsLedger) {
			return errRestart
		}
	}
	switch {
	case m.isLedgerMoved(err, h):
		return err
	case errors.Is(err, git.ErrNotFound) && m.lostHistory(ctx, h, known):
		return errRestart
	case err == nil:
		for _, c := range commits {
			p.commits, p.bytes = append(p.commits, c), p.bytes+c.bytes
		}
		p.added += to.bytes - min(to.bytes, p.was[h.Ref].bytes)
		p.cursor[h.Ref] = to
		if over != nil {
			p.failed = append(p.failed, fmt.Errorf("skipped what %s holds behind %s: %w", h.Ref, describeReach(to.applied),
				over))
		}
	case ctx.Err() == nil && (h.Remote != "" || errors.Is(err, ledger.ErrFormat) || errors.Is(err, git.ErrNotFound)):
		p.failed = append(p.failed, fmt.Errorf("skipped %s: %w", h.Ref, err))
		p.cursor[h.Ref] = p.have[h.Ref].withTip(h.OID, false)
	default:
		return err
	}
	return nil
}

// lostHistory reports whether it is what was read before that is not all here any more, as behind a scrub.
func (m *Materializer) lostHistory(ctx context.Context, h ledger.Head, known []git.OID) bool {
	for _, h.OID = range known {
		if _, err := m.commitsSince(ctx, h.OID, nil); errors.Is(err, git.ErrNotFound) {
			return true
		}
	}
	return false
}

// restartsLedger reports whether a commit begins a ledger anew, as a rewritten one does. What it repeats
// of what was read before counts once, which only a rebuild can tell.
func restartsLedger(c commit) bool { return c.Root && len(c.Segments) > 0 }

// commitsSince lists what a ledger holds beyond what is known.
func (m *Materializer) commitsSince(ctx context.Context, tip git.OID, known []git.OID) ([]ledger.Commit, error) {
	return m.limits().AsOf(m.Now()).Since(ctx, m.Repo, tip, known...)
}

// missingCommits lists a ledger's commits beyond those that are known, each of whose segments is
// there: in a partial clone some may not be. They may be counted already.
func (m *Materializer) missingCommits(ctx context.Context, h ledger.Head, known []git.OID,
	counted []ledger.Commit,
) (out []commit, err error) {
	commits := counted
	if commits == nil {
		if commits, err = m.commitsSince(ctx, h.OID, known); err != nil {
			return nil, err
		}
	}
	for _, c := range commits {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("materialize: %w", err)
		}
		one := newCommit(c, h)
		for i := range c.Segments {
			size, err := c.Segments[i].Bytes(m.Repo)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Segments[i].Path, err)
			}
			one.bytes += size
		}
		out = append(out, one)
	}
	return out, nil
}

// upToDate reports whether there is nothing to apply.
func (p *plan) upToDate() bool { return len(p.commits) == 0 && maps.Equal(p.have, p.cursor) }
