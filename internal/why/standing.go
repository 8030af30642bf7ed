package why

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
)

// Share counts lines that are not blank: those that sessions are known to have written, and those behind which no
// session is known. Behind the remaining lines stands a session, but it is not known who wrote them.
type Share struct {
	Lines     int
	Wrote     map[string]int // lines by the session that is known to have written them
	NoSession int            // behind which no session is known
	Named     int            // of these, those of commits whose message names an agent
}

// Counter counts lines of many files as Lines gives them to sessions.
type Counter struct {
	index  *db.DB
	repo   *git.Repo
	hidden []string
	finder *claimFinder
	named  map[git.OID]bool
}

// NewCounter makes a Counter. Purged sessions don't count.
func NewCounter(ctx context.Context, index *db.DB, repo *git.Repo) (*Counter, error) {
	purged, err := db.PurgedIDs(ctx, index)
	if err != nil {
		return nil, err
	}
	finder, err := newClaimFinder(ctx, index, repo, nil)
	return &Counter{index, repo, purged, finder, map[git.OID]bool{}}, err
}

// Count takes where the lines of one file come from. Lines that are not committed do not count.
func (c *Counter) Count(ctx context.Context, origins []history.Origin) (Share, error) {
	from := groupByCommit(origins)
	shas := make([]string, len(from))
	for i, s := range from {
		shas[i] = string(s.Commit)
	}
	if err := c.finder.Extend(ctx, c.index, shas); err != nil {
		return Share{}, err
	}
	// as for a file that is asked for alone
	c.finder.inferred, c.finder.traced, c.finder.late = 0, 0, time.After(tracePatience)
	out := Share{Wrote: map[string]int{}}
	for _, s := range from {
		out.Lines += len(s.lines)
		writers, noSession, err := c.writers(ctx, s)
		if err != nil {
			return out, err
		}
		out.NoSession += noSession
		if noSession > 0 && !s.Cut && c.isNamed(s.Commit) {
			out.Named += noSession
		}
		for _, w := range writers {
			if w.Session != "" {
				out.Wrote[w.Session]++
			}
		}
	}
	return out, nil
}

// isNamed reports whether the message of a commit names an agent.
func (c *Counter) isNamed(id git.OID) bool {
	is, known := c.named[id]
	if !known {
		commit, err := c.repo.Commit(id)
		is = err == nil && len(commits.NamedBy(commit)) > 0
		c.named[id] = is
	}
	return is
}

// Writer is a session that is known to have written a line, and when; "" for none.
type Writer struct {
	Session string
	At      time.Time
}

// writers tells of each of some lines who is known to have written it, and behind how many of them no session is known.
func (c *Counter) writers(ctx context.Context, s source) (writers []Writer, noSession int, err error) {
	claims, err := c.finder.claims(ctx, s)
	writers = make([]Writer, len(claims))
	for i, of := range claims {
		of = slices.DeleteFunc(slices.Clone(of), func(claim attribution.Claim) bool {
			return slices.Contains(c.hidden, claim.Session)
		})
		if len(of) == 0 {
			noSession++
		}
		if at := slices.IndexFunc(of, func(claim attribution.Claim) bool { return claim.Exact }); at >= 0 {
			writers[i] = Writer{of[at].Session, of[at].At}
		}
	}
	return writers, noSession, err
}

// File is a file that a commit changed, with the lines that it brought.
type File struct {
	Path   string
	Added  int      // lines, with blank ones
	Lines  []int    // as numbered in the file after the commit
	Writer []Writer // of each line
}

// BroughtLines tells who wrote the lines that a commit brought, against its first parent, but for blank ones. Only
// what is known line by line counts: no tie to the commit says it. Files whose lines can't be compared (binary,
// large, one of very many) are left out. It returns ErrNotFound for a commit that is not here.
func (c *Counter) BroughtLines(ctx context.Context, id git.OID) (out []File, err error) {
	patches, err := history.Patch(ctx, c.repo, id)
	if err == nil {
		err = c.finder.Extend(ctx, c.index, []string{string(id)})
	}
	c.finder.late = time.After(tracePatience)
	for i := 0; i < len(patches) && err == nil; i++ {
		s := source{Origin: history.Origin{Commit: id, Path: patches[i].Path}, at: patches[i].Brought()}
		for line := range s.at {
			s.lines = append(s.lines, line)
		}
		if len(s.at) > 0 {
			f := File{Path: s.Path, Added: len(patches[i].Added()), Lines: s.at}
			f.Writer, _, err = c.writers(ctx, s)
			out = append(out, f)
		}
	}
	return out, err
}

// HasWriters reports whether sessions may be known that wrote lines which a commit brought: records say so, or commits
// that it was made of are known.
func (c *Counter) HasWriters(ctx context.Context, id git.OID) (bool, error) {
	err := errors.Join(c.finder.Extend(ctx, c.index, []string{string(id)}), c.finder.readWrote(ctx, []string{string(id)}))
	if err != nil || len(c.finder.wrote[string(id)].makers) > 0 {
		return err == nil, err
	}
	rows, err := c.finder.ties(ctx, c.finder.FollowFrom(string(id), c.finder.Predecessors, c.finder.Successors))
	if err != nil || len(rows) > 0 {
		return err == nil, err
	}
	parts, _, err := c.finder.madeOf(ctx, id)
	return len(parts)+len(c.finder.beforeReverted(id)) > 0, err
}

// WritersOf tells who wrote lines of a file that a commit brought, as numbered there.
func (c *Counter) WritersOf(ctx context.Context, id git.OID, path string, lines []int) ([]Writer, error) {
	s := source{Origin: history.Origin{Commit: id, Path: path}, at: lines}
	for i := range lines {
		s.lines = append(s.lines, i)
	}
	c.finder.inferred, c.finder.traced, c.finder.late = 0, 0, time.After(tracePatience)
	out, _, err := c.writers(ctx, s)
	return out, err
}

// CountCommit counts the lines that a commit brought, against its first parent, as BroughtLines has them. It returns
// ErrNotFound for a commit that is not here.
func (c *Counter) CountCommit(ctx context.Context, id git.OID) (Share, error) {
	out := Share{Wrote: map[string]int{}}
	patches, err := history.Patch(ctx, c.repo, id)
	for i := 0; i < len(patches) && err == nil; i++ {
		var origins []history.Origin
		for _, line := range patches[i].Brought() {
			origins = append(origins, history.Origin{Commit: id, Path: patches[i].Path, Line: line})
		}
		var one Share
		one, err = c.Count(ctx, origins)
		out.Add(one)
	}
	return out, err
}

// Add adds other lines.
func (s *Share) Add(o Share) {
	s.Lines, s.NoSession, s.Named = s.Lines+o.Lines, s.NoSession+o.NoSession, s.Named+o.Named
	for id, n := range o.Wrote {
		s.Wrote[id] += n
	}
}
