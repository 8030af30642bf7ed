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

// Forget removes the index: it may hold what has to leave.
func Forget(dir string) error {
	var err error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if e := os.Remove(filepath.Join(dir, file+suffix)); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// catchUp adds what the index does not have. One that is damaged, of another version, or mostly about records that are gone is made anew.
func (x *Index) catchUp(ctx context.Context, path string, now func() time.Time) error {
	last := x.All[len(x.All)-1].ID
	if at, n, err := cursor(ctx, path); err == nil && at == last && n <= 2*len(x.All)+100 {
		return nil
	}
	hold, err := lock.Acquire(ctx, filepath.Join(filepath.Dir(path), "lock.records"), lock.ToWrite, patience)
	if err != nil {
		return err
	}
	at, n, err := cursor(ctx, path)
	if err != nil || n > 2*len(x.All)+100 || at > last {
		at, n = 0, 0
		err = Forget(filepath.Dir(path))
	}
	if err == nil && at < last {
		due := false
		if due, err = x.write(ctx, path, at, n, now()); err == nil && due && at > 0 {
			if err = Forget(filepath.Dir(path)); err == nil { // a model is due: it is trained on all
				_, err = x.write(ctx, path, 0, 0, now())
			}
		}
	}
	return errors.Join(err, hold.Release())
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

// write adds the records behind one, and tells whether a model is due.
func (x *Index) write(ctx context.Context, path string, behind, n int, now time.Time) (due bool, err error) {
	d, err := db.Open(ctx, path, db.ReadWrite)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	tx, err := d.Begin(ctx)
	if err != nil {
		return false, err
	}
	var parts []session.Session
	for _, r := range x.All {
		if r.ID > behind {
			if x.store.Load(&r) == nil { // else it was scrubbed just now
				parts = append(parts, sessionOf(r))
			}
		}
	}
	if err = tx.AppendTurns(ctx, parts); err == nil {
		err = search.Add(ctx, tx, parts, now)
	}
	if err == nil && behind == 0 {
		err = search.Train(ctx, tx, now)
	}
	model, err2 := search.ReadModel(ctx, tx)
	if err = errors.Join(err, err2); err == nil {
		err = tx.SetCursor(ctx, map[string]string{"records": fmt.Sprint(version, x.All[len(x.All)-1].ID, n+len(parts))})
	}
	if err != nil {
		return false, errors.Join(err, tx.Rollback())
	}
	return model.Due, tx.Commit(ctx)
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
