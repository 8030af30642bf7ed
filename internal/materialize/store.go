package materialize

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
)

// errRestart says that the index can't be continued from where it stands.
var errRestart = errors.New("materialize: start again")

// batchBytes bounds how much is applied at once, in bytes of segments, and so the memory that it takes.
const batchBytes = 8 << 20

// batchesAhead is how many batches are read before the first is written.
const batchesAhead = 2

// store is the index, open for writing.
type store struct {
	*Materializer
	db *db.DB

	unknown   bool               // the file is still to be put in its place
	fresh     bool               // the index was empty
	purged    map[string]bool    // what was purged before
	grew      bool               // something that was purged before grew
	skipped   map[string][]error // by author: segments that could not be taken
	readAhead []entry            // a plan's first commits, read to see whose IDs stand there
	claims    *claims            // what everything is called
	rewrote   map[string]bool    // whose ledgers say what became of code commits
	code      []string           // code commits of checkpoints
	lastEntry int                // the number of the last entry

	signingKeys string            // with which …
	signatures  []db.SignatureRow // … an index that this one replaces judged these; "" for none
}

// newStore is the index in an open file.
func (m *Materializer) newStore(d *db.DB) *store {
	return &store{Materializer: m, db: d, skipped: map[string][]error{}, rewrote: map[string]bool{}}
}

// entry is one commit, read.
type entry struct {
	commit
	session.Entry
	n      int       // its number
	at     time.Time // its segments', which stands in their names
	unread []error   // a segment each
	// What each link may be to, and each record of lines may be of, whatever that is called: its ID if it were somebody
	// else's, too.
	linked, written []string
}

// row is what the index notes of the entry.
func (e entry) row() db.EntryRow {
	return db.EntryRow{N: e.n, ID: string(e.OID), Commit: string(e.In), Email: address(e.email), Key: e.key}
}

// idsBesideMarks are the IDs of all that the commit speaks of, besides marks; some may stand twice.
func (e entry) idsBesideMarks() []string {
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
	for _, m := range e.Memories {
		ids = append(ids, m.ID)
	}
	return ids
}

// idsMentioned are items, and those that sessions were spawned by or begin with.
func (e entry) idsMentioned() []string {
	ids := e.idsBesideMarks()
	for _, p := range e.Sessions {
		ids = append(ids, p.Parent, p.ForkedFrom)
	}
	return ids
}

// eachBatch reads commits in batches: batchesAhead, and another one as soon as use, which works on one, has a core to
// spare and calls readOn. Use must leave the repository alone, which belongs to the reader.
func (s *store) eachBatch(ctx context.Context, commits []commit, use func(batch []entry, readOn func()) error) error {
	batches, ahead := make(chan []entry, batchesAhead), make(chan struct{}, batchesAhead)
	var failed error
	var beside sync.WaitGroup
	defer beside.Wait() // then the repository is the caller's again
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	beside.Go(func() {
		defer close(batches)
		for batch := []entry(nil); len(commits) > 0; commits = commits[len(batch):] {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done(): // nextBatch says so
			}
			if batch, failed = s.nextBatch(ctx, commits); failed != nil {
				return
			}
			batches <- batch
		}
	})
	for batch := range batches {
		readOn := sync.OnceFunc(func() { <-ahead })
		if err := use(batch, readOn); err != nil {
			return err
		}
		readOn()
	}
	return failed
}

// nextBatch reads commits until they fill a batch.
func (s *store) nextBatch(ctx context.Context, commits []commit) (out []entry, err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("materialize: %w", err)
	}
	size := uint64(0)
	for _, c := range commits {
		if len(s.readAhead) > 0 {
			out = append(out, s.readAhead[0])
			s.readAhead[0] = entry{} // nothing of it is kept
			s.readAhead = s.readAhead[1:]
		} else {
			e, err := s.read(ctx, s.Repo, c)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		if size += c.bytes; size >= batchBytes {
			break
		}
	}
	return out, nil
}

// errAuthor is a segment in somebody else's ledger.
var errAuthor = errors.New("its checkpoint belongs in another ledger")

// read joins the segments of a commit. One that can't be read is skipped.
func (s *store) read(ctx context.Context, repo *git.Repo, c commit) (entry, error) {
	if err := ctx.Err(); err != nil {
		return entry{}, fmt.Errorf("materialize: %w", err)
	}
	out := entry{commit: c}
	if len(c.Segments) > 0 {
		out.at = c.Segments[0].Time()
	}
	for _, seg := range c.Segments {
		e, err := ledger.ReadSegment(repo, seg)
		if errors.Is(err, git.ErrNotFound) { // it was there when the plan was made
			return entry{}, err
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
	for i := range out.Sessions {
		out.Sessions[i].CorrectSpeakers()
	}
	if out.Checkpoint != nil {
		out.Checkpoint.UserEmail = address(out.Checkpoint.UserEmail)
	}
	out.clampTimes()
	return out, nil
}

// apply writes a plan in batches: into a file that is in use everything in one transaction, so that a catch-up that
// dies has done nothing. A file that nobody knows yet takes a transaction for some batches at a time, because what is
// written and not committed lies in memory.
func (s *store) apply(ctx context.Context, p *plan) error {
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { tx.Rollback() }() // what failed is reported; what was not committed is undone
	if err := s.checkStart(ctx, tx, p); err != nil {
		return err
	}
	batches, done := 0, 0
	s.reportProgress(done, p)
	err = s.eachBatch(ctx, p.commits, func(entries []entry, readOn func()) error {
		if batches++; s.unknown && batches%commitEvery == 0 {
			if err := tx.Commit(ctx); err != nil {
				return err
			}
			if tx, err = s.db.Begin(ctx); err != nil {
				return err
			}
		}
		for _, e := range entries {
			if len(e.unread) > 0 {
				s.skipped[e.email] = append(s.skipped[e.email], e.unread...)
			}
		}
		if err := newBatch(s, tx, readOn).write(ctx, entries); err != nil {
			return err
		}
		if done += len(entries); done < len(p.commits) { // all of it is done behind what finish does
			s.reportProgress(done, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.finish(ctx, tx, p.cursor); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.reportProgress(done, p)
	s.reportLeftOut(p)
	return nil
}

// checkStart reads what a plan is applied to. It returns errMoved where that is not what was planned for, and
// errRestart where it is to be made anew.
func (s *store) checkStart(ctx context.Context, tx *db.Tx, p *plan) error {
	at, err := readCursor(ctx, tx)
	if err == nil && !maps.Equal(at, p.have) {
		err = errMoved
	}
	if err != nil {
		return err
	}
	s.fresh = len(p.have) == 0
	if s.signingKeys != "" {
		if err := tx.ReplaceSignatures(ctx, s.signingKeys, s.signatures); err != nil {
			return err
		}
	}
	if s.lastEntry, err = tx.LastEntry(ctx); err != nil {
		return err
	}
	if err := s.loadPurged(ctx, tx); err != nil {
		return err
	}
	return s.claim(ctx, tx, p)
}

// reportProgress says how many commits of a plan are applied.
func (s *store) reportProgress(done int, p *plan) {
	if s.Progress != nil {
		s.Progress(done, len(p.commits))
	}
}

// commitEvery is how many batches a transaction on a file that nobody knows yet takes.
const commitEvery = 4

func (s *store) finish(ctx context.Context, tx *db.Tx, at cursor) error {
	if err := tx.SetCursor(ctx, at.rows()); err != nil {
		return err
	}
	if err := s.updatePurged(ctx, tx, at); err != nil {
		return err
	}
	if err := s.resolveRewrites(ctx, tx); err != nil {
		return err
	}
	return tx.ReplaceIndexState(ctx, s.Now())
}

// reportLeftOut warns of what the plan and the store left out, a line each ledger.
func (s *store) reportLeftOut(p *plan) {
	s.warnOfLeftOut(p)
	for _, email := range slices.Sorted(maps.Keys(s.skipped)) {
		what, all := "a segment in the ledger of %q: %w", s.skipped[email]
		if len(all) > 1 {
			what = fmt.Sprintf("%d segments", len(all)) + " in the ledger of %q: the first: %w"
		}
		s.Warn(fmt.Errorf("skipped "+what, email, all[0]))
	}
}

// resolveRewrites brings what became of code commits up to the index: for the ledgers that said something of it, and
// those that named something.
func (s *store) resolveRewrites(ctx context.Context, tx *db.Tx) error {
	emails, err := tx.RewriteAuthors(ctx, s.code, s.fresh)
	if err != nil {
		return err
	}
	for _, email := range emails {
		s.rewrote[email] = true
	}
	return resolveRewritesOf(ctx, tx, s.Repo, slices.Sorted(maps.Keys(s.rewrote)))
}

// resolveRewritesOf does so for some authors.
func resolveRewritesOf(ctx context.Context, tx *db.Tx, repo *git.Repo, emails []string) error {
	for _, email := range emails {
		all, err := tx.RecordedRewrites(ctx, email)
		if err != nil {
			return err
		}
		for i, r := range all { // versions before 0.2.0 took git's list as it is
			if became, ok := history.Became(repo, git.OID(r.Old), git.OID(r.New)); ok {
				all[i].New = string(became)
			} else {
				all[i].New = r.Old
			}
		}
		if err := tx.ReplaceLineage(ctx, email, attribution.Resolve(all)); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	return nil
}
