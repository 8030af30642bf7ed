package materialize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// A catch-up is one transaction. At its end the log is written back into the file, as far as nobody reads what stood
// there. A rebuild writes `recall.db.new` without a log, and renames it; who reads the old file goes on with it. The
// databases for SQL are removed then: they may hold what had to leave.
//
// Tables that grew are tables that were rebuilt, whatever the order in which ledgers came. All commits of all ledgers
// have one order: by the name of their first segment. What comes late calls for a rebuild: before something that the
// tables already say of the same session.

// advance brings the index up to heads; lock.writer is held. It is taken to stand at
// have; when it doesn't, it returns errMoved. Without have it looks for itself. Where it can't
// be continued (it is missing or damaged, a ledger was rewritten), it is made anew.
func (m *Materializer) advance(ctx context.Context, heads []ledger.Head, have cursor, effort effort) error {
	err := m.removeLeftovers()
	if err == nil && have == nil {
		have, err = m.cursorOnDisk(ctx)
	}
	if err == nil {
		err = m.applyUpTo(ctx, heads, have, have, effort, func(p *plan) error {
			if p.upToDate() {
				m.warnOfLeftOut(p)
				return nil
			}
			return m.apply(ctx, p, indexFile, db.ReadWrite)
		})
	}
	if !rebuildable(err) {
		return err
	}
	if errors.Is(err, db.ErrCorrupt) {
		m.Warn(fmt.Errorf("rebuilding the caches from the ledger: %w", err))
	}
	return m.rebuild(ctx, heads, have, effort)
}

// cursorOnDisk is how far each ledger was read into the index that is on disk.
func (m *Materializer) cursorOnDisk(ctx context.Context) (cursor, error) {
	r, err := m.OpenExisting(ctx)
	if err != nil {
		return nil, err
	}
	return r.cursor, r.Close()
}

// applyUpTo writes what heads hold beyond have, and then what was put off, unless somebody waits for an answer.
func (m *Materializer) applyUpTo(ctx context.Context, heads []ledger.Head, have, was cursor, effort effort,
	write func(*plan) error,
) error {
	off, err := m.writeBisecting(ctx, func(off map[string]bool) (*plan,
		error,
	) {
		return m.plan(ctx, heads, have, was, effort, off)
	}, write)
	if err != nil || !off || effort == reading {
		return err
	}
	return m.advance(ctx, heads, nil, asked)
}

// warnOfLeftOut warns of the ledgers that a plan left out: where somebody waits for an answer, of the first few. Others
// are tried again when asked.
func (m *Materializer) warnOfLeftOut(p *plan) {
	const few = 3
	for i, err := range p.failed {
		if left := len(p.failed) - i; p.effort == reading && i == few && left > 1 {
			m.Warn(fmt.Errorf("skipped %d more ledgers (git rekal index says which, and why)", left))
			return
		}
		m.Warn(err)
	}
}

// rebuild makes the index anew. The one that was there went as far as was, where that is known.
func (m *Materializer) rebuild(ctx context.Context, heads []ledger.Head, was cursor, effort effort) error {
	return m.applyUpTo(ctx, heads, cursor{}, was, effort, func(p *plan) error { return m.replace(ctx, p) })
}

// replace applies a plan to a file beside the old one, and puts it in its place. Who reads the old one goes on with it.
func (m *Materializer) replace(ctx context.Context, p *plan) error {
	err := m.removeLeftovers()
	if err == nil {
		err = m.apply(ctx, p, indexFile+fresh, db.Fresh)
	}
	if err == nil {
		err = m.carryVectors(ctx)
	}
	if err != nil {
		return errors.Join(err, m.removeLeftovers())
	}
	// The log belongs to the old file: behind another one it would be taken for its own. What was made of the old one for
	// SQL may hold what had to go. Versions before 0.3 kept indexes of past moments in at.
	for _, name := range []string{indexFile, indexFile + "-wal", indexFile + "-shm", "data.db", "index.db", "at"} {
		if err := remove(m.filePath(name)); err != nil {
			return err
		}
	}
	if err := os.Rename(m.filePath(indexFile+fresh), m.filePath(indexFile)); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	return nil
}

// apply writes a plan into a file.
func (m *Materializer) apply(ctx context.Context, p *plan, file string, mode db.Mode) error {
	d, err := db.Open(ctx, m.filePath(file), mode)
	if err != nil {
		return err
	}
	s := m.newStore(d)
	if s.unknown = mode == db.Fresh; s.unknown && p.effort != everything { // else they are judged anew, too
		s.signingKeys, s.signatures = m.readSignatures(ctx)
	}
	return errors.Join(s.apply(ctx, p), d.Close())
}

// goneSuffix ends the name of a file that a clean removes.
const goneSuffix = ".gone"

// removeLeftovers removes what processes that died left behind; lock.writer is held.
func (m *Materializer) removeLeftovers() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), indexFile+fresh) || strings.HasSuffix(e.Name(), goneSuffix) {
			if err := remove(m.filePath(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func remove(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	return nil
}
