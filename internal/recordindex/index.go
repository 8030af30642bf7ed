// Package recordindex finds records. It has an index of its own, so records and sessions do not change each other's statistics.
//
// In: the store of records, and a folder for the index (.rekal/records.db, a cache of the store). Out: hits of package result, and how they
// are placed among sessions. It updates the index before it answers; if it cannot write, it answers from what is there. It never changes a
// record.
package recordindex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Index is all records, and where they are searched. Close it.
type Index struct {
	All   []records.Record // in their order, without texts
	store records.Store
	db    *db.DB // nil where it can't be opened
	err   error  // why db is nil
}

// New is an Index that is never searched.
func New(store records.Store) (*Index, error) {
	all, err := store.All()
	return &Index{All: all, store: store}, err
}

// file is the index within its folder, version that of what sessionOf makes, and patience how long somebody else may bring it up.
const (
	file     = "records.db"
	version  = 2
	patience = 2 * time.Second
)

// Open reads the records and brings the index in dir up to them. What went wrong with the latter is told through warn. Where it can't be
// opened, questions with words fail.
func Open(ctx context.Context, store records.Store, dir string, warn func(error)) (*Index, error) {
	x, err := New(store)
	if err != nil || len(x.All) == 0 {
		return x, err
	}
	path := filepath.Join(dir, file)
	if err := x.catchUp(ctx, path, store.Now); err != nil {
		warn(fmt.Errorf("records: the index is behind: %w", err))
	}
	x.db, x.err = db.Open(ctx, path, db.ReadOnly)
	return x, nil
}

// Close gives the index back.
func (x *Index) Close() error {
	if x.db == nil {
		return nil
	}
	return x.db.Close()
}

// Embed fills in the vectors of an embedding model that the index in dir lacks. While another process does the same, it does nothing.
func Embed(ctx context.Context, store records.Store, dir string, e search.Embedder) error {
	x, err := New(store)
	if err != nil || len(x.All) == 0 {
		return err
	}
	held, err := lock.Acquire(ctx, filepath.Join(dir, "lock.embed"), lock.ToWrite, 0)
	if errors.Is(err, lock.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(e.Fill(ctx, embeddable{x, filepath.Join(dir, file)}, store.Now), held.Release())
}

// embeddable is the index as search.Embedder works on it.
type embeddable struct {
	*Index
	path string
}

func (x embeddable) Read(ctx context.Context, do func(db.Querier) error) error {
	if err := x.catchUp(ctx, x.path, x.store.Now); err != nil {
		return err
	}
	d, err := db.Open(ctx, x.path, db.ReadOnly)
	if err != nil {
		return err
	}
	return errors.Join(do(d), d.Close())
}

func (x embeddable) Write(ctx context.Context, do func(context.Context, *db.Tx) error) error {
	hold, err := hold(ctx, x.path)
	if err != nil {
		return err
	}
	if _, err = os.Stat(x.path); err == nil { // opening one that is gone would make an empty one
		err = db.Change(ctx, x.path, db.ReadWrite, do)
	}
	return errors.Join(err, hold.Release())
}

// hold waits until nobody else writes the index.
func hold(ctx context.Context, path string) (*lock.Lock, error) {
	return lock.Acquire(ctx, filepath.Join(filepath.Dir(path), "lock.records"), lock.ToWrite, patience)
}

// fresh ends the name of an index that is being made.
const fresh = ".new"

// Forget removes the index: it may hold what has to leave.
func Forget(dir string) error {
	path := filepath.Join(dir, file)
	return errors.Join(remove(path), remove(path+fresh))
}

func remove(path string) error {
	var err error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if e := os.Remove(path + suffix); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// catchUp adds what the index does not have. One that is damaged, of another version, or mostly about records that are gone is made anew; so is
// one whose model is due, which is trained on all.
func (x *Index) catchUp(ctx context.Context, path string, now func() time.Time) error {
	if at, anew, _ := x.stands(ctx, path); !anew && at == x.last() {
		return nil
	}
	hold, err := hold(ctx, path)
	if err != nil {
		return err
	}
	at, anew, n := x.stands(ctx, path)
	if !anew && at < x.last() {
		anew, err = x.write(ctx, path, db.ReadWrite, at, n, now(), nil)
	}
	if anew && err == nil {
		err = x.rebuild(ctx, path, now())
	}
	return errors.Join(err, hold.Release())
}

func (x *Index) last() int { return x.All[len(x.All)-1].ID }

// stands tells up to which record the index goes and how many it has, or that it has to be made anew.
func (x *Index) stands(ctx context.Context, path string) (at int, anew bool, n int) {
	at, n, err := cursor(ctx, path)
	return at, err != nil || n > 2*len(x.All)+100 || at > x.last(), n
}

// rebuild makes the index anew beside the one that is there, whose vectors of an embedding model it takes over.
func (x *Index) rebuild(ctx context.Context, path string, now time.Time) error {
	old, _ := db.Open(ctx, path, db.ReadOnly) // nil where it can't be read
	err := remove(path + fresh)
	if err == nil {
		_, err = x.write(ctx, path+fresh, db.Fresh, 0, 0, now, old)
	}
	if errors.Is(err, db.ErrCorrupt) { // the old one: its vectors are made anew
		if err = remove(path + fresh); err == nil {
			_, err = x.write(ctx, path+fresh, db.Fresh, 0, 0, now, nil)
		}
	}
	if old != nil {
		err = errors.Join(err, old.Close())
	}
	if err == nil {
		err = remove(path) // with its log, which would be taken for that of the new one
	}
	if err == nil {
		err = os.Rename(path+fresh, path)
	}
	return err
}

// cursor is the last record in the index, and how many it has. An index of another version is an error.
func cursor(ctx context.Context, path string) (last, n int, err error) {
	d, err := db.Open(ctx, path, db.ReadOnly)
	if err != nil {
		return 0, 0, err
	}
	at, err := db.Cursor(ctx, d)
	if err == nil {
		of := 0
		if _, err = fmt.Sscanf(at["records"], "%d %d %d", &of, &last, &n); err == nil && of != version {
			err = db.ErrSchema
		}
	}
	return last, n, errors.Join(err, d.Close())
}

// write adds the records behind one, and what is known of them in an old index, unless that is nil. It tells whether a model is due.
func (x *Index) write(ctx context.Context, path string, mode db.Mode, behind, n int, now time.Time, old *db.DB) (due bool, err error) {
	var parts []session.Session
	for _, r := range x.All {
		if r.ID > behind && x.store.Load(&r) == nil { // else it was scrubbed just now
			parts = append(parts, sessionOf(r))
		}
	}
	err = db.Change(ctx, path, mode, func(ctx context.Context, tx *db.Tx) error {
		err := tx.AppendTurns(ctx, parts)
		if err == nil {
			err = search.Add(ctx, tx, parts, now)
		}
		if err == nil && behind == 0 {
			err = search.Train(ctx, tx, now)
		}
		if err == nil && old != nil {
			err = search.Carry(ctx, old, tx, now)
		}
		if err != nil {
			return err
		}
		model, err := search.ReadModel(ctx, tx, 0)
		due = model.Due
		return errors.Join(err, tx.SetCursor(ctx, map[string]string{"records": fmt.Sprint(version, x.last(), n+len(parts))}))
	})
	return due, err
}

// key is what the index calls a record: in the order of the numbers.
func key(id int) string { return fmt.Sprintf("%010d", id) }

func number(key string) int {
	n, _ := strconv.Atoi(key)
	return n
}

// sessionOf is a record as search knows things. A path that its text holds is not added again: a listing of files would be about each of
// them.
func sessionOf(r records.Record) session.Session {
	s := session.Session{
		ID: key(r.ID), Memory: true, Title: strings.Join(append([]string{r.Instruction}, r.Terms...), "\n"),
		Turns: []session.Turn{{Content: r.Text}},
	}
	if r.Command != "" {
		s.ToolCalls = append(s.ToolCalls, session.ToolCall{Tool: "shell", Act: session.ActRun, Cmd: r.Command})
	}
	for _, p := range r.Paths {
		if !strings.Contains(r.Text, p) {
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{Tool: "shell", Act: session.ActRead, Path: p})
		}
	}
	return s
}
