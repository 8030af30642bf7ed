package materialize

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/session"
)

// The tables of a past moment are tables like those of today, in a folder of their own below
// .git/rekal/at/: a file, a lock, and cursors. What differs is which commits of the heads
// count. The cursors hold the heads as they are today, so that a fetch which brings
// earlier commits of others brings these tables up, too, and one that brings only later ones
// moves nothing but the cursors. A moment with imports reads the heads as they are today, and of
// each later commit only what an import brought of the time before (early).
//
// init stores today what was said long ago. So a moment with imports reads each later commit of every ledger for what an import brought:
// sessions without a checkpoint, checkpoints with `via` `import`, and `wrote` records. A session ends at its last turn before the moment. One
// that began later is left out. A tie counts where its code commit is here and was made by then. What a hook captured later stays out
// as a whole, and so do memories, marks and rewrites. (late, early)
//
// A moment's own tables hold the marks that were made by then: what was hidden then is hidden in its answers, even if it was restored since.
// What is purged today is left out of the answers of any moment (ask.Past).

const (
	pastDir = "at"
	// keptMoments is how many moments are kept; the ones least recently asked for go.
	keptMoments = 4
)

// At is a Materializer of the tables of a past moment. Where that is how the ledgers are now,
// it is the one of today.
func (m *Materializer) At(moment ledger.Moment) (*Materializer, error) {
	heads, err := m.ledgersRead()
	if err != nil {
		return nil, err
	}
	now, err := m.isNow(moment, heads)
	if err != nil || now {
		return m, err
	}
	past := m.withFolder(momentName(moment))
	past.moment = &moment
	return past, nil
}

func (m *Materializer) withFolder(name string) *Materializer {
	past := *m
	past.past = true
	past.Dir = filepath.Join(m.Dir, pastDir, name)
	return &past
}

// WithoutPrivate is a Materializer of today's tables, in a place of their own, for a repository that is read without its private sessions.
func (m *Materializer) WithoutPrivate() *Materializer { return m.withFolder("public") }

// Folder is a Materializer of the tables of a ledger that lies in a folder, and of nothing else.
// What it says is kept, beside the tables, in a repository of its own.
func (m *Materializer) Folder(ctx context.Context, f *ledger.Folder) (*Materializer, error) {
	past := m.withFolder(f.Sum())
	used, err := past.lockMomentFolder(ctx)
	if err != nil {
		return nil, err
	}
	err = past.withWriteLock(ctx, patience, func() (err error) {
		past.Repo, err = past.unpackFolder(ctx, f)
		return err
	})
	return past, errors.Join(err, used.Release())
}

// unpackedDir is the repository that holds what lay in a folder.
const unpackedDir = "ledger.git"

func (m *Materializer) unpackFolder(ctx context.Context, f *ledger.Folder) (*git.Repo, error) {
	repo, err := git.OpenBare(ctx, m.filePath(unpackedDir))
	if err == nil || !errors.Is(err, git.ErrNotRepository) {
		return repo, err
	}
	if err := remove(m.filePath(unpackedDir + fresh)); err != nil {
		return nil, err
	}
	if repo, err = git.Init(ctx, m.filePath(unpackedDir+fresh)); err != nil {
		return nil, err
	}
	err = f.Into(ctx, repo)
	repo.Close()
	if err == nil {
		err = os.Rename(m.filePath(unpackedDir+fresh), m.filePath(unpackedDir))
	}
	if err != nil {
		return nil, err
	}
	return git.OpenBare(ctx, m.filePath(unpackedDir))
}

// momentName names the folder of a moment.
func momentName(at ledger.Moment) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%t\n", at.Ref, at.OID, at.Until.Unix(), at.Imports))
	return fmt.Sprintf("%x", sum[:16])
}

// isNow reports whether nothing of today's ledgers is later than a moment.
func (m *Materializer) isNow(at ledger.Moment, heads []ledger.Head) (bool, error) {
	own := git.OID("")
	for _, h := range heads {
		if h.Ref == at.Ref {
			own = h.OID
			continue
		}
		c, err := m.Repo.Commit(h.OID)
		if errors.Is(err, git.ErrNotFound) {
			return false, nil
		}
		if err != nil || c.Committer.When.After(at.Until) {
			return false, err
		}
	}
	return own == at.OID, nil
}

// ledgersRead are the ledgers that are read.
func (m *Materializer) ledgersRead() ([]ledger.Head, error) {
	heads, err := ledger.Heads(m.Repo)
	if err != nil || m.Ignore == nil || !slices.ContainsFunc(heads, func(h ledger.Head) bool { return h.Remote != "" }) {
		return heads, err
	}
	ignore, err := m.Ignore()
	return slices.DeleteFunc(heads, ignore.Has), err
}

// countingHeads are the ledgers whose commits count, one's own as it is at the moment.
func (m *Materializer) countingHeads() ([]ledger.Head, error) {
	heads, err := m.ledgersRead()
	if m.moment == nil || m.moment.Imports || err != nil {
		return heads, err
	}
	i := slices.IndexFunc(heads, func(h ledger.Head) bool { return h.Ref == m.moment.Ref })
	switch {
	case i >= 0 && m.moment.OID == "":
		heads = slices.Delete(heads, i, i+1)
	case i >= 0:
		heads[i].OID = m.moment.OID
	}
	return heads, nil
}

// countingCommits lists commits of a ledger which, with all behind them, are what counts of it.
func (m *Materializer) countingCommits(ctx context.Context, ref string, tip git.OID) ([]git.OID, error) {
	if m.moment == nil || m.moment.Imports || ref == m.moment.Ref {
		return []git.OID{tip}, nil
	}
	return ledger.AsOf(ctx, m.Repo, tip, m.moment.Until)
}

// commitsSince lists what counts of a ledger beyond what is known.
func (m *Materializer) commitsSince(ctx context.Context, h ledger.Head, known []git.OID) ([]ledger.Commit, error) {
	tips, err := m.countingCommits(ctx, h.Ref, h.OID)
	var out []ledger.Commit
	for _, tip := range tips {
		more, err := m.limits().AsOf(m.Now()).Since(ctx, m.Repo, tip, known...)
		if err != nil {
			return nil, err
		}
		out, known = append(out, more...), append(slices.Clip(known), tip)
	}
	return out, err
}

// isLaterThanMoment tells the commits of a ledger that are read for nothing but imports: those that are later than the moment.
func (m *Materializer) isLaterThanMoment(ctx context.Context, h ledger.Head, known []git.OID) (func(ledger.Commit) bool, error) {
	switch {
	case m.moment == nil || !m.moment.Imports:
		return func(ledger.Commit) bool { return false }, nil
	case h.Ref != m.moment.Ref:
		return func(c ledger.Commit) bool { return c.When.After(m.moment.Until) }, nil
	}
	then := map[git.OID]bool{}
	if m.moment.OID != "" {
		commits, err := ledger.Since(ctx, m.Repo, m.moment.OID, known...)
		if err != nil {
			return nil, err
		}
		for _, c := range commits {
			then[c.OID] = true
		}
	}
	return func(c ledger.Commit) bool { return !then[c.OID] }, nil
}

// importedBefore is what an import brought, in an entry later than the moment, of what had been said and committed by then.
func (s *store) importedBefore(repo *git.Repo, e session.Entry) session.Entry {
	end := s.moment.Until.Add(time.Second) // git leaves out milliseconds
	made := func(sha string) bool {
		c, err := repo.Commit(git.OID(sha))
		return err == nil && c.Committer.When.Before(end)
	}
	if cp := e.Checkpoint; cp != nil && (cp.Via != session.ViaImport || !made(cp.GitSHA)) {
		return session.Entry{}
	}
	out := session.Entry{Checkpoint: e.Checkpoint}
	for _, p := range e.Sessions {
		if p = p.Before(end); len(p.Turns) > 0 {
			out.Sessions = append(out.Sessions, p)
		}
	}
	for _, w := range e.Wrote {
		if made(w.GitSHA) {
			out.Wrote = append(out.Wrote, w)
		}
	}
	return out
}

// usedFile says by its time when somebody last asked for a moment, and is the lock that its folder
// is not let go while somebody comes to it.
const usedFile = "used"

// lockMomentFolder makes the folder of a past moment where there is none, lets others go for it, and
// notes that it is in use: as long as the lock is held, it stays. Today's folder is there.
func (m *Materializer) lockMomentFolder(ctx context.Context) (*lock.Lock, error) {
	if !m.past {
		return nil, nil
	}
	for {
		_, err := os.Stat(m.filePath(usedFile))
		isNew := errors.Is(err, fs.ErrNotExist)
		if isNew {
			if err := m.mkdir(); err != nil {
				return nil, err
			}
		}
		held, err := lock.Acquire(ctx, m.filePath(usedFile), lock.ToRead, inUse)
		if errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
			continue // somebody let it go just now
		}
		if err != nil {
			return nil, err
		}
		now := m.Now()
		_ = os.Chtimes(m.filePath(usedFile), now, now) // what can't be noted is no reason not to answer
		if isNew {
			if err := forgetMoments(ctx, filepath.Dir(m.Dir), m.Dir, keptMoments-1); err != nil {
				m.Warn(fmt.Errorf("the caches of an older moment stay: %w", err))
			}
		}
		return held, nil
	}
}

func (m *Materializer) mkdir() error {
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	return nil
}

// Forget removes the tables of all past moments that nobody reads just now.
func (m *Materializer) Forget(ctx context.Context) error {
	return forgetMoments(ctx, filepath.Join(m.Dir, pastDir), "", 0)
}

// forgetMoments removes the tables of the moments in a folder, but for one, and some of those last
// asked for.
func forgetMoments(ctx context.Context, dir, except string, keep int) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("materialize: %w", err)
	}
	used := map[string]time.Time{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || path == except { // none of ours: a .DS_Store
			continue
		}
		if filepath.Ext(path) == goneSuffix { // of a process that died
			if err := remove(path); err != nil {
				return err
			}
			continue
		}
		used[path] = time.Time{}
		if info, err := os.Stat(filepath.Join(path, usedFile)); err == nil {
			used[path] = info.ModTime()
		}
	}
	moments := slices.SortedFunc(maps.Keys(used), func(a, b string) int {
		return cmp.Or(used[b].Compare(used[a]), cmp.Compare(a, b))
	})
	for _, path := range moments[min(keep, len(moments)):] {
		if err := forgetMoment(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// goneSuffix ends the name of a folder that is being removed.
const goneSuffix = ".gone"

// forgetMoment removes the tables of one moment, unless somebody uses them.
func forgetMoment(ctx context.Context, dir string) error {
	users, err := lock.Acquire(ctx, filepath.Join(dir, usedFile), lock.ToWrite, 0)
	var writers *lock.Lock
	if err == nil {
		writers, err = lock.Acquire(ctx, filepath.Join(dir, writerFile), lock.ToWrite, 0)
	}
	if err == nil {
		err = remove(dir + goneSuffix)
	}
	if err == nil {
		err = os.Rename(dir, dir+goneSuffix) // in one step: who comes meanwhile makes a new one
	}
	if err == nil {
		err = remove(dir + goneSuffix)
	}
	if errors.Is(err, lock.ErrBusy) || errors.Is(err, fs.ErrNotExist) { // in use, or gone
		err = nil
	}
	return errors.Join(err, writers.Release(), users.Release())
}
