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
)

// reach is how far a ledger was read: every commit up to applied is in the tables, and tried is
// the newest that was looked at. They differ where that could not be read.
type reach struct{ applied, tried git.OID }

// cursor is how far each ledger was read, by ref. In the tables a reach is the OID of a
// commit, or "applied!tried".
type cursor map[string]reach

func readCursor(ctx context.Context, d *db.DB) (cursor, error) {
	rows, err := d.Cursor(ctx)
	out := cursor{}
	for ref, text := range rows {
		applied, tried, failed := strings.Cut(text, "!")
		if !failed {
			tried = applied
		}
		out[ref] = reach{git.OID(applied), git.OID(tried)}
	}
	return out, err
}

func (c cursor) rows() map[string]string {
	out := map[string]string{}
	for ref, r := range c {
		out[ref] = string(r.applied)
		if r.applied != r.tried {
			out[ref] += "!" + string(r.tried)
		}
	}
	return out
}

// current reports whether everything at heads was tried.
func (c cursor) current(heads []ledger.Head) bool {
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
	email string
	// key orders all commits of all ledgers: by the name of the first segment, which begins with
	// its time, then by the commit itself.
	key string
}

func newCommit(c ledger.Commit, h ledger.Head) commit {
	out := commit{Commit: c, email: h.Email}
	if len(c.Segments) > 0 {
		name, _, _ := strings.Cut(path.Base(c.Segments[0].Path), ".ndjson")
		id, part, _ := strings.Cut(name, ".")
		out.key = fmt.Sprintf("%s.%6s %s %s", id, part, c.OID, h.Email)
	}
	return out
}

// retry says whether a ledger that could not be read is tried again at the same commit.
type retry bool

const (
	once  retry = false
	again retry = true
)

// plan is what is missing from tables that stand at have.
type plan struct {
	have, cursor cursor
	commits      []commit // in their order
	bytes        uint64   // of their segments
	failed       []error  // by ledgers that could not be read
}

// plan lists what heads hold beyond have. It returns errRestart where a ledger that was read is
// gone or was rewritten: what it said must leave the tables.
func (m *Materializer) plan(ctx context.Context, heads []ledger.Head, have cursor, retry retry) (*plan, error) {
	p := &plan{have: have, cursor: cursor{}}
	known := map[string][]git.OID{} // what is applied, by author
	authors := map[string]string{}  // by ref
	for _, h := range heads {
		author := authorOf(h.Email, h.Ref)
		authors[h.Ref] = author
		if applied := have[h.Ref].applied; applied != "" {
			counting, err := m.counting(ctx, h.Ref, applied)
			if err != nil {
				return nil, errRestart // it is not all here any more
			}
			known[author] = append(known[author], counting...)
		}
	}
	for ref := range have {
		if authors[ref] == "" {
			return nil, errRestart
		}
	}
	for _, h := range heads {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("materialize: %w", err)
		}
		r := have[h.Ref]
		if r.tried != h.OID || retry == again && r.applied != h.OID {
			if err := m.head(ctx, p, h, known[authors[h.Ref]]); err != nil {
				return nil, err
			}
		} else {
			p.cursor[h.Ref] = r
		}
		if p.cursor[h.Ref].applied == h.OID {
			counting, err := m.counting(ctx, h.Ref, h.OID)
			if err != nil {
				return nil, err
			}
			known[authors[h.Ref]] = append(known[authors[h.Ref]], counting...)
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

// head plans one ledger. What is wrong with it costs only itself: its old state stays.
func (m *Materializer) head(ctx context.Context, p *plan, h ledger.Head, known []git.OID) error {
	old := p.have[h.Ref].applied
	commits, bytes, err := m.missing(ctx, h, known)
	if err == nil && old != "" {
		if ok, err := m.Repo.IsAncestor(old, h.OID); err != nil || !ok || slices.ContainsFunc(commits, anew) {
			return errRestart
		}
	}
	switch {
	case m.movedOn(err, h):
		return err
	case errors.Is(err, git.ErrNotFound) && m.gone(ctx, h, known):
		return errRestart
	case err == nil:
		p.commits, p.bytes = append(p.commits, commits...), p.bytes+bytes
		p.cursor[h.Ref] = reach{h.OID, h.OID}
	case ctx.Err() == nil && (h.Remote != "" || errors.Is(err, ledger.ErrFormat) || errors.Is(err, git.ErrNotFound)):
		p.failed = append(p.failed, fmt.Errorf("skipped %s: %w", h.Ref, err))
		p.cursor[h.Ref] = reach{old, h.OID}
	default:
		return err
	}
	return nil
}

// gone reports whether it is what was read before that is not all here any more, as behind a scrub.
func (m *Materializer) gone(ctx context.Context, h ledger.Head, known []git.OID) bool {
	for _, h.OID = range known {
		if _, err := m.since(ctx, h, nil); errors.Is(err, git.ErrNotFound) {
			return true
		}
	}
	return false
}

// anew reports whether a commit begins a ledger anew, as a rewritten one does. What it repeats
// of what was read before counts once, which only a rebuild can tell.
func anew(c commit) bool { return c.Root && len(c.Segments) > 0 }

// missing lists a ledger's commits beyond those that are known, each of whose segments is
// there: in a partial clone some may not be.
func (m *Materializer) missing(ctx context.Context, h ledger.Head, known []git.OID) (out []commit, bytes uint64, err error) {
	commits, err := m.since(ctx, h, known)
	for _, c := range commits {
		if err := ctx.Err(); err != nil {
			return nil, 0, fmt.Errorf("materialize: %w", err)
		}
		for _, s := range c.Segments {
			size, err := m.Repo.BlobSize(s.Blob)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", s.Path, err)
			}
			bytes += size
		}
		out = append(out, newCommit(c, h))
	}
	return out, bytes, err
}

// nothing reports whether the tables are what they should be.
func (p *plan) nothing() bool { return len(p.commits) == 0 && maps.Equal(p.have, p.cursor) }
