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

// batchBytes bounds how much is applied at once, in bytes of segments and of what comes of them, and so the memory that it takes.
const batchBytes = 8 << 20

// store is both databases, open for writing.
type store struct {
	data, index *db.DB
	repo        *git.Repo
	until       time.Time // of a past moment
	now         func() time.Time
	warn        func(error)

	unknown bool            // the files are still to be put in their place
	fresh   bool            // the tables were empty
	purged  map[string]bool // what was purged before; its files count for none that appear together
	grew    bool            // something that was purged before has more to be found
	trained string          // the entry that holds the last turn of the semantic model; "" for none
	told    []told          // of fresh tables: how many turns each entry added, in their order
	skipped map[string]*skipped
	kept    map[string]entry // commits of a small plan, read to see whose IDs stand there
	claims  *claims          // what everything is called
	rewrote map[string]bool  // whose ledgers say what became of code commits
	code    []string         // code commits of checkpoints
}

type told struct {
	key   string
	turns int
}

// skipped is what could not be taken from a ledger.
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
	s := &store{
		repo: m.Repo, now: m.Now, warn: m.Warn, unknown: strings.HasSuffix(data, fresh), skipped: map[string]*skipped{},
		kept: map[string]entry{}, rewrote: map[string]bool{},
	}
	if m.moment != nil {
		s.until = m.moment.Until
	}
	err := beside(
		func() (err error) {
			s.data, err = db.Open(ctx, m.path(data), db.ReadWrite, db.DataSchema())
			return err
		},
		func() (err error) {
			s.index, err = db.Open(ctx, m.path(index), db.ReadWrite, db.IndexSchema())
			return err
		})
	if err != nil {
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

// entry is one commit, read.
type entry struct {
	commit
	session.Entry
	at     time.Time // its segments', which stands in their names
	unread []error   // a segment each
	// What each link may be to, and each record of lines may be of, whatever that is called: its ID if it were somebody else's, too.
	linked, written []string
}

// sessions are the IDs of those that the commit adds to, links or tells lines of; some may stand twice.
func (e entry) sessions() []string {
	var ids []string
	for _, p := range e.Sessions {
		ids = append(ids, p.ID)
	}
	if e.Checkpoint != nil {
		for _, l := range e.Checkpoint.Links {
			ids = append(ids, l.Session)
		}
	}
	for _, w := range e.Wrote {
		ids = append(ids, w.Session)
	}
	return ids
}

// items are the IDs of all that the commit speaks of, besides marks.
func (e entry) items() []string {
	ids := e.sessions()
	for _, m := range e.Memories {
		ids = append(ids, m.ID)
	}
	return ids
}

// mentioned are items, and those that sessions were spawned by or begin with.
func (e entry) mentioned() []string {
	ids := e.items()
	for _, p := range e.Sessions {
		ids = append(ids, p.Parent, p.ForkedFrom)
	}
	return ids
}

// eachBatch reads commits in batches, the next one while write works on one.
func (s *store) eachBatch(ctx context.Context, commits []commit, write func([]entry) error) error {
	type batch struct {
		n       int
		entries []entry
		err     error
	}
	next := func(commits []commit) <-chan batch {
		read := make(chan batch, 1)
		go func() {
			n, entries, err := s.next(ctx, commits)
			read <- batch{n, entries, err}
		}()
		return read
	}
	for reading := next(commits); len(commits) > 0; {
		b := <-reading
		if b.err != nil {
			return b.err
		}
		commits = commits[b.n:]
		reading = next(commits)
		if err := write(b.entries); err != nil {
			<-reading // the repository is the caller's again
			return err
		}
	}
	return nil
}

// next reads commits until they fill a batch, and says how many it took.
func (s *store) next(ctx context.Context, commits []commit) (n int, entries []entry, err error) {
	size := uint64(0)
	for _, c := range commits {
		if err := ctx.Err(); err != nil {
			return 0, nil, fmt.Errorf("materialize: %w", err)
		}
		e, err := s.read(c)
		if err != nil {
			return 0, nil, err
		}
		s.skip(e)
		entries = append(entries, e)
		n++
		if size += c.bytes + e.pairs()*pairBytes; size >= batchBytes {
			break
		}
	}
	return n, entries, nil
}

// pairBytes is what a pair of files that a session touched together takes in memory, about.
const pairBytes = 128

// pairs is how many pairs of files an entry's sessions may have touched together, at most.
func (e entry) pairs() (n uint64) {
	for _, p := range e.Sessions {
		paths := map[string]bool{}
		for _, c := range p.ToolCalls {
			if c.Path != "" && len(paths) < maxTogether {
				paths[c.Path] = true
			}
		}
		n += uint64(len(paths) * (len(paths) - 1) / 2)
	}
	return n
}

// errAuthor is a segment in somebody else's ledger.
var errAuthor = errors.New("its checkpoint belongs in another ledger")

// read joins the segments of a commit. One that can't be read is skipped.
func (s *store) read(c commit) (entry, error) {
	if e, ok := s.kept[c.key]; ok {
		return e, nil
	}
	out := entry{commit: c}
	if len(c.Segments) > 0 {
		out.at = c.Segments[0].Time()
	}
	for _, seg := range c.Segments {
		e, err := ledger.ReadSegment(s.repo, seg.Blob)
		if errors.Is(err, git.ErrNotFound) { // it was there when the plan was made
			return out, err
		}
		if cp := e.Checkpoint; err == nil && cp != nil && authorOf(cp.UserEmail, "") != authorOf(c.email, "?") {
			err = fmt.Errorf("%w: it is by %q", errAuthor, cp.UserEmail)
		}
		if err != nil {
			out.unread = append(out.unread, fmt.Errorf("%s: %w", seg.Path, err))
			continue
		}
		out.Join(e)
	}
	if c.late {
		out.Entry = s.early(out.Entry)
	}
	if out.Checkpoint != nil {
		out.Checkpoint.UserEmail = address(out.Checkpoint.UserEmail)
	}
	out.believe()
	return out, nil
}

// skip notes what could not be read.
func (s *store) skip(e entry) {
	for _, err := range e.unread {
		if s.skipped[e.email] == nil {
			s.skipped[e.email] = &skipped{first: err}
		}
		s.skipped[e.email].segments++
	}
}

// apply writes a plan in batches: into files that are in use everything in one transaction on
// data.db and one on index.db, so that a catch-up that dies has done nothing, or at worst has
// finished one file alone, which the next one sees by the cursors. Files that nobody knows yet
// take a transaction for some batches at a time, because a transaction lies in memory.
func (s *store) apply(ctx context.Context, p *plan) error {
	if err := s.standsAt(ctx, p.have); err != nil {
		return err
	}
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { tx.rollback() }() // what failed is reported; what was not committed is undone
	s.fresh = len(p.have) == 0
	if s.trained, err = tx.index.Trained(ctx); err != nil {
		return err
	}
	if err := s.loadPurged(ctx, tx.data); err != nil {
		return err
	}
	if err := s.claim(ctx, tx.data, p); err != nil {
		return err
	}
	batches := 0
	err = s.eachBatch(ctx, p.commits, func(entries []entry) error {
		if batches++; s.unknown && batches%commitEvery == 0 {
			if err := tx.commit(ctx); err != nil {
				return err
			}
			if tx, err = s.begin(ctx); err != nil {
				return err
			}
		}
		return newBatch(s, tx.data, tx.index).write(ctx, entries)
	})
	if err != nil {
		return err
	}
	if err := s.finish(ctx, tx.data, tx.index, p.cursor); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	// Nobody's impatience comes between the two commits; only a crash does.
	if err := tx.commit(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	s.report(p)
	return nil
}

// commitEvery is how many batches a transaction on files that nobody knows yet takes.
const commitEvery = 4

// pair is a transaction on each database.
type pair struct{ data, index *db.Tx }

func (s *store) begin(ctx context.Context) (pair, error) {
	data, err := s.data.Begin(ctx)
	if err != nil {
		return pair{}, err
	}
	index, err := s.index.Begin(ctx)
	if err != nil {
		return pair{}, errors.Join(err, data.Rollback())
	}
	return pair{data, index}, nil
}

func (p pair) commit(ctx context.Context) error {
	return beside(func() error { return p.data.Commit(ctx) }, func() error { return p.index.Commit(ctx) })
}

// rollback does nothing after commit.
func (p pair) rollback() {
	if p.data != nil {
		_, _ = p.data.Rollback(), p.index.Rollback()
	}
}

// beside runs two steps, one on each database, at once. Both mostly fail for one reason, so
// one error is told.
func beside(data, index func() error) error {
	done := make(chan error, 1)
	go func() { done <- data() }()
	err := index()
	return cmp.Or(<-done, err)
}

func (s *store) finish(ctx context.Context, data, index *db.Tx, at cursor) error {
	if err := data.SetCursor(ctx, at.rows()); err != nil {
		return err
	}
	if err := index.SetCursor(ctx, at.rows()); err != nil {
		return err
	}
	if err := s.settle(ctx, data, index, at); err != nil {
		return err
	}
	if err := s.follow(ctx, data, index); err != nil {
		return err
	}
	dim, err := s.train(ctx, index)
	if err != nil {
		return err
	}
	return index.ReplaceIndexState(ctx, dim, s.trained, s.now())
}

// train trains the semantic model, and tells the dimension of its vectors. It is a model of the
// first turns in the order of the ledgers, which tables that grew do not know: when one is
// due, they are made anew.
func (s *store) train(ctx context.Context, index *db.Tx) (dim int, err error) {
	if s.fresh {
		if err := search.Train(ctx, index, s.now()); err != nil {
			return 0, err
		}
	}
	model, err := search.ReadModel(ctx, index)
	if err == nil && model.Due {
		err = errRestart
	}
	if s.fresh {
		turns := 0
		for _, e := range s.told {
			if turns >= model.Turns {
				break
			}
			turns, s.trained = turns+e.turns, e.key
		}
	}
	return model.Dim, err
}

// report warns of what the plan and the store left out, a line each ledger.
func (s *store) report(p *plan) {
	for _, err := range p.failed {
		s.warn(err)
	}
	for _, email := range slices.Sorted(maps.Keys(s.skipped)) {
		what, skip := "a segment in the ledger of %q: %w", s.skipped[email]
		if skip.segments > 1 {
			what = fmt.Sprintf("%d segments", skip.segments) + " in the ledger of %q: the first: %w"
		}
		s.warn(fmt.Errorf("skipped "+what, email, skip.first))
	}
}
