package materialize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
)

// How long a reader whose tables are behind waits to bring them up, when others work on
// them; then it answers from what there is. In between it looks whether they are done.
const (
	readerPatience = time.Second
	inUse          = 10 * time.Second // for files that are written in place, which takes 50 ms
	lookAgain      = 50 * time.Millisecond
)

// opened is what of the databases is open under a lock; one that is not is nil.
type opened struct {
	data, index *db.DB
	lock        *lock.Lock
	cursor      cursor
}

// close gives up the lock last: until then nobody may write into the files.
func (o *opened) close() error {
	var errs []error
	for _, d := range []*db.DB{o.data, o.index} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(append(errs, o.lock.Release())...)
}

// open opens files of the tables, up to date.
func (m *Materializer) open(ctx context.Context, files ...string) (o *opened, err error) {
	used, err := m.folder(ctx)
	if err != nil {
		return nil, err
	}
	o, err = m.openCurrent(ctx, files)
	return o, errors.Join(err, used.Release())
}

// openCurrent opens files as they are where they are current, and mostly they are. Otherwise
// it brings them up first, or lets another process do that.
func (m *Materializer) openCurrent(ctx context.Context, files []string) (*opened, error) {
	waited := time.Duration(0)
	for moves := 0; ; moves++ {
		listed := m.listed() // beside the files
		before := m.stamps()
		o, err := m.peek(ctx, files)
		heads, failed := listed()
		if failed != nil {
			if err == nil {
				failed = errors.Join(failed, o.close())
			}
			return nil, failed
		}
		if err == nil && o.cursor.current(heads) {
			return o, nil
		}
		wait, have := patience, cursor(nil)
		switch {
		case err == nil:
			wait, have = readerPatience, o.cursor
			err = o.close()
		case rebuildable(err):
			err = nil
		}
		if err != nil {
			return nil, err
		}
		err = m.turn(ctx, before, &waited, wait, func() error { return m.advance(ctx, heads, have, reading) })
		if (errors.Is(err, errMoved) || m.movedOn(err, heads...)) && moves < maxMoves {
			continue
		}
		return m.asItIs(ctx, err, files)
	}
}

// listed lists the heads meanwhile, which may take a process that asks git for the settings.
func (m *Materializer) listed() func() ([]ledger.Head, error) {
	type answer struct {
		heads []ledger.Head
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		heads, err := m.heads()
		done <- answer{heads, err}
	}()
	return func() ([]ledger.Head, error) { a := <-done; return a.heads, a.err }
}

// asItIs opens files in the state that there is after an attempt to bring them up, which may
// have failed.
func (m *Materializer) asItIs(ctx context.Context, failed error, files []string) (*opened, error) {
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(failed, fmt.Errorf("materialize: %w", err))
	}
	if failed == nil {
		return m.peek(ctx, files)
	}
	o, err := m.peek(ctx, files)
	if errors.Is(err, errTorn) {
		o, err = m.tryPeek(ctx, files, torn)
	}
	if err != nil {
		return nil, failed
	}
	if errors.Is(failed, lock.ErrBusy) { // which file is locked is of no use to anybody
		failed = fmt.Errorf("%w; try again in a moment", lock.ErrBusy)
	}
	m.Warn(fmt.Errorf("the index is behind the ledger and can't be updated: %w", failed))
	return o, nil
}

// maxMoves bounds how often one looks again because somebody else changed the files or the ledgers.
const maxMoves = 50

// errMoved says that somebody else changed the files meanwhile.
var errMoved = errors.New("materialize: the databases moved")

// turn waits for the right to write, and does what is to be done with it. It returns errMoved
// when the files are not those of before any more. What was waited counts over several turns.
func (m *Materializer) turn(ctx context.Context, before [2]fs.FileInfo, waited *time.Duration, wait time.Duration, do func() error) error {
	for {
		held, err := lock.Acquire(ctx, m.path(writerFile), lock.ToWrite, lookAgain)
		switch moved := !same(before, m.stamps()); {
		case moved:
			return errors.Join(errMoved, held.Release())
		case err == nil:
			return errors.Join(do(), held.Release())
		case !errors.Is(err, lock.ErrBusy) || *waited >= wait:
			return err
		}
		*waited += lookAgain
	}
}

// stamps tell states of the two files apart.
func (m *Materializer) stamps() (out [2]fs.FileInfo) {
	for i, file := range [2]string{dataFile, indexFile} {
		if info, err := os.Stat(m.path(file)); err == nil {
			out[i] = info
		}
	}
	return out
}

func same(a, b [2]fs.FileInfo) bool {
	for i := range a {
		if (a[i] == nil) != (b[i] == nil) {
			return false
		}
		if a[i] != nil && (!os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime())) {
			return false
		}
	}
	return true
}

// errTorn says that the two files hold different states: between two renames, or because
// a process died there.
var errTorn = fmt.Errorf("materialize: the databases disagree: %w", errRestart)

// peek opens files as they are. Where they disagree it looks again, as somebody may be
// about to rename them.
func (m *Materializer) peek(ctx context.Context, files []string) (o *opened, err error) {
	for range 3 {
		if o, err = m.tryPeek(ctx, files, whole); !errors.Is(err, errTorn) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return o, err
}

// wholeness says whether files that disagree are better than none.
type wholeness bool

const (
	whole wholeness = true
	torn  wholeness = false
)

func (m *Materializer) tryPeek(ctx context.Context, files []string, must wholeness) (*opened, error) {
	held, err := lock.Acquire(ctx, m.path(lockFile), lock.ToRead, inUse)
	if err != nil {
		return nil, err
	}
	o := &opened{lock: held}
	for i, file := range files {
		have, err := m.openOne(ctx, o, file)
		if err == nil && i > 0 && must == whole && !maps.Equal(have, o.cursor) {
			err = errTorn
		}
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		o.cursor = have
	}
	return o, nil
}

func (m *Materializer) openOne(ctx context.Context, o *opened, file string) (cursor, error) {
	into, schema := &o.data, db.DataSchema()
	if file == indexFile {
		into, schema = &o.index, db.IndexSchema()
	}
	var err error
	if *into, err = db.Open(ctx, m.path(file), db.ReadOnly, schema); err != nil {
		return nil, err
	}
	return readCursor(ctx, *into)
}

// rebuildable reports whether an error means that the databases must be made anew.
func rebuildable(err error) bool {
	return errors.Is(err, errRestart) || errors.Is(err, db.ErrCorrupt) || errors.Is(err, db.ErrSchema) || errors.Is(err, fs.ErrNotExist)
}
