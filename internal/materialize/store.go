package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// errRestart says that the databases can't be continued from where they stand.
var errRestart = errors.New("materialize: start again")

// batchBytes bounds how much text is applied at once, and so the memory that it takes.
const batchBytes = 16 << 20

// store is both databases, open for writing.
type store struct {
	data, index *db.DB
	repo        *git.Repo
	fresh       bool // the tables are empty
	now         func() time.Time
	warn        func(error)
	skipped     map[string]*skipped // by the author of the ledger
}

// skipped is what of one ledger could not be taken: a ledger may be full of it, and one line
// says so.
type skipped struct {
	segments int
	first    error
}

// openStore opens both files, side by side, because starting an engine costs 10 ms. Both are
// made when neither is there; one alone is fs.ErrNotExist.
func (m *Materializer) openStore(ctx context.Context, data, index string) (*store, error) {
	if m.exists(data) != m.exists(index) {
		return nil, fmt.Errorf("materialize: %w", fs.ErrNotExist)
	}
	s := &store{repo: m.Repo, now: m.Now, warn: m.Warn, skipped: map[string]*skipped{}}
	var indexErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.index, indexErr = db.Open(ctx, m.path(index), db.ReadWrite, db.IndexSchema())
	}()
	var dataErr error
	s.data, dataErr = db.Open(ctx, m.path(data), db.ReadWrite, db.DataSchema())
	<-done
	if err := errors.Join(dataErr, indexErr); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (m *Materializer) exists(file string) bool {
	_, err := os.Stat(m.path(file))
	return err == nil
}

func (s *store) close() error {
	var errs []error
	for _, d := range []*db.DB{s.data, s.index} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(errs...)
}

// commit is one ledger commit to apply, with its author.
type commit struct {
	ledger.Commit
	email string
}

// advance applies every commit that the databases lack, in the order of their segments.
func (s *store) advance(ctx context.Context, heads []ledger.Head) error {
	have, err := s.cursor(ctx, heads)
	if err != nil {
		return err
	}
	want := cursorOf(heads)
	if maps.Equal(have, want) {
		return nil
	}
	s.fresh = len(have) == 0
	commits, err := s.missing(ctx, heads, have)
	if err != nil {
		return err
	}
	return s.apply(ctx, commits, want)
}

// cursor is how far both databases have read, which must be the same commits, each of
// them still part of its ledger.
func (s *store) cursor(ctx context.Context, heads []ledger.Head) (map[string]string, error) {
	have, err := s.data.Cursor(ctx)
	if err != nil {
		return nil, err
	}
	index, err := s.index.Cursor(ctx)
	if err != nil {
		return nil, err
	}
	if !maps.Equal(have, index) {
		return nil, errRestart
	}
	now := cursorOf(heads)
	for ref, oid := range have {
		ok, err := s.repo.IsAncestor(git.OID(oid), git.OID(now[ref]))
		if now[ref] == "" || err != nil || !ok {
			return nil, errRestart
		}
	}
	return have, nil
}

// missing lists the commits of all heads beyond the cursor, by their segments. Each counts
// once in the ledgers of one author; a branch that names another's commits takes none away.
func (s *store) missing(ctx context.Context, heads []ledger.Head, have map[string]string) ([]commit, error) {
	known := map[string][]git.OID{}
	for _, h := range heads {
		if oid := have[h.Ref]; oid != "" {
			known[h.Email] = append(known[h.Email], git.OID(oid))
		}
	}
	var out []commit
	for _, h := range heads {
		commits, err := ledger.Since(ctx, s.repo, h.OID, known[h.Email]...)
		if errors.Is(err, ledger.ErrFormat) || err != nil && h.Remote != "" {
			// Somebody else's ledger is untrusted: what is wrong with it costs only itself.
			s.warn(fmt.Errorf("skipped %s: %w", h.Ref, err))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("materialize: read %s: %w", h.Ref, err)
		}
		for _, c := range commits {
			out = append(out, commit{Commit: c, email: h.Email})
		}
		known[h.Email] = append(known[h.Email], h.OID)
	}
	slices.SortStableFunc(out, func(a, b commit) int {
		return cmp.Or(cmp.Compare(min(len(a.Segments), 1), min(len(b.Segments), 1)), compareFirst(a, b))
	})
	return out, nil
}

func compareFirst(a, b commit) int {
	if len(a.Segments) == 0 || len(b.Segments) == 0 {
		return 0
	}
	return a.Segments[0].Compare(b.Segments[0])
}

// entry is one commit, read.
type entry struct {
	commit
	parts []part
	session.Entry
}

// time is that of the commit's segments, which stands in their names.
func (e entry) time() time.Time {
	if len(e.Segments) == 0 {
		return time.Time{}
	}
	return e.Segments[0].Time()
}

// sessions are the IDs of those that the commit adds to or links; some may stand twice.
func (e entry) sessions() []string {
	var ids []string
	for _, p := range e.parts {
		ids = append(ids, p.ID)
	}
	if e.Checkpoint != nil {
		for _, l := range e.Checkpoint.Links {
			ids = append(ids, l.Session)
		}
	}
	return ids
}

// part is a session's part, with where it stands.
type part struct {
	segment ledger.Segment
	session.Session
}

// next reads commits until their text fills a batch, and says how many it took.
func (s *store) next(commits []commit) (n int, entries []entry) {
	size := 0
	for _, c := range commits {
		e := s.read(c)
		entries = append(entries, e)
		n++
		for _, p := range e.parts {
			for _, t := range p.Turns {
				size += len(t.Content)
			}
		}
		if size >= batchBytes {
			break
		}
	}
	return n, entries
}

// read joins the segments of a commit. One that can't be read, or that says it is of another
// author, is skipped.
func (s *store) read(c commit) entry {
	out := entry{commit: c}
	for _, seg := range c.Segments {
		e, err := ledger.ReadSegment(s.repo, seg.Blob)
		if cp := e.Checkpoint; cp != nil && !strings.EqualFold(cp.UserEmail, c.email) {
			err = fmt.Errorf("it says that it is of %q", cp.UserEmail)
		}
		if err != nil {
			s.skip(c.email, fmt.Errorf("%s: %w", seg.Path, err))
			continue
		}
		for _, p := range e.Sessions {
			out.parts = append(out.parts, part{segment: seg, Session: p})
		}
		out.Join(e)
	}
	return out
}

func (s *store) skip(email string, err error) {
	if s.skipped[email] == nil {
		s.skipped[email] = &skipped{first: err}
	}
	s.skipped[email].segments++
}

// report says what was skipped, in one line a ledger.
func (s *store) report() {
	for _, email := range slices.Sorted(maps.Keys(s.skipped)) {
		if k := s.skipped[email]; k.segments == 1 {
			s.warn(fmt.Errorf("skipped a segment in the ledger of %s: %w", email, k.first))
		} else {
			s.warn(fmt.Errorf("skipped %d segments in the ledger of %s, the first of them %w", k.segments, email, k.first))
		}
	}
	clear(s.skipped)
}

// apply writes commits in batches: everything in one transaction on data.db and one on
// index.db, so that a catch-up that dies has done nothing, or at worst has finished one
// file alone, which the next one sees by the cursors.
func (s *store) apply(ctx context.Context, commits []commit, cursor map[string]string) error {
	data, err := s.data.Begin(ctx)
	if err != nil {
		return err
	}
	defer data.Rollback() // what failed is reported; the file is unchanged
	index, err := s.index.Begin(ctx)
	if err != nil {
		return err
	}
	defer index.Rollback() // as above
	for len(commits) > 0 {
		n, entries := s.next(commits)
		commits = commits[n:]
		b := newBatch(s, data, index)
		if err := b.write(ctx, entries); err != nil {
			return err
		}
	}
	if err := s.finish(ctx, data, index, cursor); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	// Nobody's impatience comes between the two commits; only a crash does.
	last := context.WithoutCancel(ctx)
	s.report()
	return beside(func() error { return data.Commit(last) }, func() error { return index.Commit(last) })
}

// beside runs two steps, one on each database, at once.
func beside(data, index func() error) error {
	done := make(chan error, 1)
	go func() { done <- data() }()
	err := index()
	return errors.Join(<-done, err)
}

func (s *store) finish(ctx context.Context, data, index *db.Tx, cursor map[string]string) error {
	if err := data.SetCursor(ctx, cursor); err != nil {
		return err
	}
	if err := index.SetCursor(ctx, cursor); err != nil {
		return err
	}
	dim, err := search.Dim(ctx, index)
	if err != nil {
		return err
	}
	return index.ReplaceIndexState(ctx, dim, s.now())
}
