// Package materialize turns the ledgers of everybody into tables: data.db, which holds
// what they say, and index.db, which search and recall read.
//
// In: the ledger branches of a repository. Out: two DuckDB files below .rekal/, which hold
// exactly what the ledgers say at the commits in their ledger_cursor tables. It owns the
// order of writes: rows and cursor of a file change in one transaction, and both files stand
// behind one lock.
//
// Promises: deleting either file loses nothing; tables that were built commit by commit
// and tables that were rebuilt hold the same rows (docs/architecture.md names the one known
// exception); a file that is damaged, half-written or
// of another schema version is rebuilt, and Warn says so; where nothing is new, nothing is
// written. It never writes to git.
package materialize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
)

// The files below .rekal/.
const (
	dataFile  = "data.db"
	indexFile = "index.db"
	lockFile  = "lock"
)

// How long a command waits for others that hold the databases. A rebuild of a large
// ledger may take longer than a writer waits; the reader's word then is lock.ErrBusy.
const (
	readWait  = 10 * time.Second
	writeWait = 60 * time.Second
)

// Materializer works on the databases of one repository.
type Materializer struct {
	Repo *git.Repo
	Dir  string // .rekal
	Now  func() time.Time
	Warn func(error) // what was skipped, set aside or could not be brought up to date
}

// Reader is a database open for reading, under the lock.
type Reader struct {
	*db.DB
	opened *opened
}

// Close closes the database and gives up the lock.
func (r *Reader) Close() error { return r.opened.close() }

// Pair is both databases open for reading, under one lock.
type Pair struct {
	Data, Index *db.DB
	opened      *opened
}

// Close closes both databases and gives up the lock.
func (p *Pair) Close() error { return p.opened.close() }

// Index brings the databases up to the ledgers, and opens index.db for reading.
func (m *Materializer) Index(ctx context.Context) (*Reader, error) {
	o, err := m.open(ctx, indexFile)
	if err != nil {
		return nil, err
	}
	return &Reader{DB: o.index, opened: o}, nil
}

// Data brings the databases up to the ledgers, and opens data.db for reading.
func (m *Materializer) Data(ctx context.Context) (*Reader, error) {
	o, err := m.open(ctx, dataFile)
	if err != nil {
		return nil, err
	}
	return &Reader{DB: o.data, opened: o}, nil
}

// Both brings the databases up to the ledgers, and opens the two for reading. Opening one
// and then the other would wait for its own lock where there is something to bring up.
func (m *Materializer) Both(ctx context.Context) (*Pair, error) {
	o, err := m.open(ctx, dataFile, indexFile)
	if err != nil {
		return nil, err
	}
	return &Pair{Data: o.data, Index: o.index, opened: o}, nil
}

// opened is what of the databases is open under a lock; one that is not is nil.
type opened struct {
	data, index *db.DB
	lock        *lock.Lock
}

// close gives up the lock last: until then nobody else may open the files.
func (o *opened) close() error {
	var errs []error
	for _, d := range []*db.DB{o.data, o.index} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(append(errs, o.lock.Release())...)
}

// open tries to read first: mostly the tables are current, and then nothing but the files
// that were asked for is opened. Otherwise the databases that were just brought up to date
// are handed on as they are, because opening one costs about 12 ms.
func (m *Materializer) open(ctx context.Context, files ...string) (*opened, error) {
	heads, err := ledger.Heads(m.Repo)
	if err != nil {
		return nil, err
	}
	o, current, err := m.tryOpen(ctx, cursorOf(heads), files)
	if err == nil && current {
		return o, nil
	}
	if err == nil {
		err = o.close()
	}
	if err != nil && !rebuildable(err) {
		return nil, err
	}
	s, held, err := m.current(ctx)
	if errors.Is(err, fs.ErrPermission) {
		m.Warn(fmt.Errorf("the index is behind the ledger and can't be updated: %w", err))
		o, _, err = m.tryOpen(ctx, nil, files)
		return o, err
	}
	if err != nil {
		return nil, err
	}
	return &opened{data: s.data, index: s.index, lock: held}, nil
}

// tryOpen opens files as they are, and reports whether all of them stand at a cursor.
func (m *Materializer) tryOpen(ctx context.Context, want map[string]string, files []string) (o *opened, current bool, err error) {
	held, err := lock.Acquire(ctx, m.path(lockFile), lock.ToRead, readWait)
	if err != nil {
		return nil, false, err
	}
	o, current = &opened{lock: held}, true
	for _, file := range files {
		have, err := m.openOne(ctx, o, file)
		if err != nil {
			return nil, false, errors.Join(err, o.close())
		}
		current = current && maps.Equal(have, want)
	}
	return o, current, nil
}

func (m *Materializer) openOne(ctx context.Context, o *opened, file string) (cursor map[string]string, err error) {
	into, schema := &o.data, db.DataSchema()
	if file == indexFile {
		into, schema = &o.index, db.IndexSchema()
	}
	if *into, err = db.Open(ctx, m.path(file), db.ReadOnly, schema); err != nil {
		return nil, err
	}
	return (*into).Cursor(ctx)
}

// CatchUp applies what the ledgers say beyond the databases.
func (m *Materializer) CatchUp(ctx context.Context) error {
	s, held, err := m.current(ctx)
	if err != nil {
		return err
	}
	return errors.Join(s.close(), held.Release())
}

// Rebuild makes both databases anew from the ledgers.
func (m *Materializer) Rebuild(ctx context.Context) error {
	held, heads, err := m.lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(m.rebuild(ctx, heads), held.Release())
}

func (m *Materializer) lock(ctx context.Context) (*lock.Lock, []ledger.Head, error) {
	held, err := lock.Acquire(ctx, m.path(lockFile), lock.ToWrite, writeWait)
	if err != nil {
		return nil, nil, err
	}
	heads, err := ledger.Heads(m.Repo)
	if err != nil {
		return nil, nil, errors.Join(err, held.Release())
	}
	return held, heads, nil
}

// current opens both databases, brought up to the ledgers, under the exclusive lock. Where
// they can't be continued in place (a file is missing or damaged, the two disagree, a
// ledger was rewritten), both are rebuilt.
func (m *Materializer) current(ctx context.Context) (*store, *lock.Lock, error) {
	held, heads, err := m.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := m.advanced(ctx, heads)
	if errors.Is(err, errRestart) || rebuildable(err) {
		if errors.Is(err, db.ErrCorrupt) {
			m.Warn(fmt.Errorf("rebuilding the caches from the ledger: %w", err))
		}
		if err = m.rebuild(ctx, heads); err == nil {
			s, err = m.advanced(ctx, heads)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, held.Release())
	}
	return s, held, nil
}

func (m *Materializer) advanced(ctx context.Context, heads []ledger.Head) (*store, error) {
	s, err := m.openStore(ctx, dataFile, indexFile)
	if err != nil {
		return nil, err
	}
	if err := s.advance(ctx, heads); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// rebuild writes both databases beside the old ones and puts them in their place, so that
// a rebuild that dies leaves the old ones.
func (m *Materializer) rebuild(ctx context.Context, heads []ledger.Head) error {
	newData, newIndex := dataFile+".new", indexFile+".new"
	if err := m.removeAll(newData, newIndex); err != nil {
		return err
	}
	s, err := m.openStore(ctx, newData, newIndex)
	if err != nil {
		return err
	}
	err = errors.Join(s.advance(ctx, heads), s.close())
	if err != nil {
		return errors.Join(err, m.removeAll(newData, newIndex))
	}
	for from, to := range map[string]string{newData: dataFile, newIndex: indexFile} {
		if err := os.Rename(m.path(from), m.path(to)); err != nil {
			return fmt.Errorf("materialize: %w", err)
		}
	}
	return nil
}

func (m *Materializer) removeAll(files ...string) error {
	for _, f := range files {
		for _, suffix := range []string{"", ".wal"} {
			if err := os.Remove(m.path(f + suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("materialize: %w", err)
			}
		}
	}
	return nil
}

func (m *Materializer) path(file string) string { return filepath.Join(m.Dir, file) }

// rebuildable reports whether an error means that a database must be made anew.
func rebuildable(err error) bool {
	return errors.Is(err, db.ErrCorrupt) || errors.Is(err, db.ErrSchema) || errors.Is(err, fs.ErrNotExist)
}

func cursorOf(heads []ledger.Head) map[string]string {
	out := map[string]string{}
	for _, h := range heads {
		out[h.Ref] = string(h.OID)
	}
	return out
}
