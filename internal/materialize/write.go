package materialize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
)

// A catch-up of few bytes is written into the files in place, which takes 50 ms and keeps
// readers out meanwhile. What is more, or what readers are in the way of, is written beside
// them: so nobody waits, and a copy of both files costs more than what is written.
const (
	inPlaceBytes = 512 << 10
	inPlaceWait  = 200 * time.Millisecond
)

// errAside says that a catch-up is not for being written in place.
var errAside = errors.New("materialize: too much to write in place")

// advance brings both databases up to heads; lock.writer is held. They are taken to stand at
// have; when they don't, it returns errMoved. Without have it looks for itself. Where they can't
// be continued (a file is missing or damaged, the two disagree, a ledger was rewritten),
// both are rebuilt.
func (m *Materializer) advance(ctx context.Context, heads []ledger.Head, have cursor, effort effort) error {
	err := m.sweep()
	if err == nil && have == nil {
		have, err = m.stands(ctx)
	}
	if err == nil {
		err = m.tryAdvance(ctx, heads, have, effort)
	}
	if !rebuildable(err) {
		return err
	}
	if errors.Is(err, db.ErrCorrupt) {
		m.Warn(fmt.Errorf("rebuilding the caches from the ledger: %w", err))
	}
	return m.rebuild(ctx, heads, have, effort)
}

// stands looks where both files stand.
func (m *Materializer) stands(ctx context.Context) (cursor, error) {
	o, err := m.peek(ctx, []string{dataFile, indexFile})
	if err != nil {
		return nil, err
	}
	return o.cursor, o.close()
}

func (m *Materializer) tryAdvance(ctx context.Context, heads []ledger.Head, have cursor, effort effort) error {
	off, err := m.without(ctx, func(off map[string]bool) (*plan, error) {
		return m.plan(ctx, heads, have, have, effort, off)
	}, func(p *plan) error {
		if p.nothing() {
			m.warnAll(p.failed)
			return nil
		}
		err := m.inPlace(ctx, p)
		if errors.Is(err, errAside) {
			err = m.aside(ctx, p, m.copyOf)
		}
		return err
	})
	return m.goOn(ctx, heads, effort, off, err)
}

// goOn takes what was put off, where nobody waits for an answer.
func (m *Materializer) goOn(ctx context.Context, heads []ledger.Head, effort effort, off bool, err error) error {
	if err != nil || !off || effort == reading {
		return err
	}
	return m.advance(ctx, heads, nil, asked)
}

func (m *Materializer) warnAll(errs []error) {
	for _, err := range errs {
		m.Warn(err)
	}
}

// inPlace applies a plan to the files themselves.
func (m *Materializer) inPlace(ctx context.Context, p *plan) error {
	if p.bytes > inPlaceBytes {
		return errAside
	}
	held, err := lock.Acquire(ctx, m.path(lockFile), lock.ToWrite, inPlaceWait)
	if errors.Is(err, lock.ErrBusy) {
		return errAside
	}
	if err != nil {
		return err
	}
	return errors.Join(m.apply(ctx, p, dataFile, indexFile), held.Release())
}

// rebuild makes both databases anew. Those that were there went as far as was, where that is known.
func (m *Materializer) rebuild(ctx context.Context, heads []ledger.Head, was cursor, effort effort) error {
	off, err := m.without(ctx, func(off map[string]bool) (*plan, error) {
		return m.plan(ctx, heads, cursor{}, was, effort, off)
	}, func(p *plan) error {
		return m.aside(ctx, p, func(string) error { return nil })
	})
	return m.goOn(ctx, heads, effort, off, err)
}

// aside applies a plan to files beside the old ones, which begin makes or leaves to be made,
// and puts them in their place. Who reads the old ones goes on with these.
func (m *Materializer) aside(ctx context.Context, p *plan, begin func(file string) error) error {
	err := m.sweep()
	for _, file := range []string{dataFile, indexFile} {
		if err == nil {
			err = begin(file)
		}
	}
	if err == nil {
		err = m.apply(ctx, p, dataFile+fresh, indexFile+fresh)
	}
	if err == nil && len(p.have) == 0 {
		err = m.carry(ctx)
	}
	if err != nil {
		return errors.Join(err, m.sweep())
	}
	for _, file := range []string{dataFile, indexFile} {
		// A log that a process which died left behind is not the new file's.
		if err := remove(m.path(file + ".wal")); err != nil {
			return err
		}
		if err := os.Rename(m.path(file+fresh), m.path(file)); err != nil {
			return fmt.Errorf("materialize: %w", err)
		}
	}
	return nil
}

func (m *Materializer) copyOf(file string) error {
	from, err := os.Open(m.path(file))
	if err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	defer from.Close() // it was only read
	to, err := os.OpenFile(m.path(file+fresh), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	return nil
}

// apply writes a plan into two files.
func (m *Materializer) apply(ctx context.Context, p *plan, data, index string) error {
	s, err := m.openStore(ctx, data, index)
	if err != nil {
		return err
	}
	return errors.Join(s.apply(ctx, p), s.close())
}

// sweep removes what processes that died left behind; lock.writer is held.
func (m *Materializer) sweep() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	for _, e := range entries {
		if ours, _ := strings.CutSuffix(e.Name(), ".wal"); ours == dataFile+fresh || ours == indexFile+fresh || filepath.Ext(ours) == gone || orphan(e.Name()) {
			if err := remove(m.path(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphan reports whether a name is that of a folder that a dead process spilled data into.
func orphan(name string) bool {
	rest, ok := strings.CutPrefix(name, db.SpillPrefix)
	digits, _, _ := strings.Cut(rest, ".")
	pid, err := strconv.Atoi(digits)
	return ok && err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func remove(path string) error {
	if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("materialize: %w", err)
	}
	return nil
}

// standsAt returns an error unless both databases stand where the plan begins.
func (s *store) standsAt(ctx context.Context, have cursor) error {
	data, err := readCursor(ctx, s.data)
	if err != nil {
		return err
	}
	index, err := readCursor(ctx, s.index)
	switch {
	case err != nil:
		return err
	case !maps.Equal(data, index):
		return errTorn
	case !maps.Equal(data, have):
		return errMoved
	}
	return nil
}
