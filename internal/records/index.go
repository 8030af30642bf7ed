package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// The index of the records' texts stands in tables of the same file, which package search fills. It is brought up when
// somebody asks, because a command should not wait for it.

// indexVersion is the version of the index: of what documentOf makes and what package search keeps. An index of another
// version is rebuilt.
const indexVersion = db.Version<<8 | 2

// OpenIndexed is Open with an index of all records. What keeps it behind is told through warn; questions are answered
// from what is there.
func (s Store) OpenIndexed(ctx context.Context, warn func(error)) (*View, error) {
	v, err := s.Open(ctx)
	if err != nil || len(v.All) == 0 {
		return v, err
	}
	if at, err := readProgress(ctx, v.db); err != nil || at.version == indexVersion && at.last == v.lastID() {
		return v, err
	}
	err = s.index(ctx, v.db)
	if errors.Is(err, db.ErrCorrupt) {
		err = s.index(ctx, nil)
	}
	if err != nil {
		warn(fmt.Errorf("records: the index is behind: %w", err))
		return v, nil
	}
	if err := v.Close(); err != nil {
		return nil, err
	}
	return s.Open(ctx)
}

func (v *View) lastID() int { return v.All[len(v.All)-1].ID }

// indexed is how far the index goes: up to the record last, with n of them. Some of these may be gone.
type indexed struct{ version, last, n int }

func readProgress(ctx context.Context, q db.Querier) (at indexed, err error) {
	err = db.Each(ctx, q, func(rows *db.Rows) error { return rows.Scan(&at.version, &at.last, &at.n) },
		"SELECT version, last, n FROM indexed")
	return at, err
}

// index adds the records that the index lacks. One that is missing, of another version, or mostly about records that
// are gone, is made anew, with the vectors of the former one.
func (s Store) index(ctx context.Context, former *db.DB) error {
	return s.inTransaction(ctx, func(ctx context.Context, tx *db.Tx) error {
		n := 0
		err := db.Each(ctx, tx, func(rows *db.Rows) error { return rows.Scan(&n) }, "SELECT count(*) FROM records")
		if err != nil {
			return err
		}
		at, err := readProgress(ctx, tx)
		if err != nil {
			return err
		}
		if former != nil && at.version == indexVersion && at.n <= 2*n+100 {
			return addTo(ctx, tx, at)
		}
		if err = emptyIndex(ctx, tx); err == nil {
			err = addTo(ctx, tx, indexed{})
		}
		if err == nil && former != nil {
			err = search.Carry(ctx, former, tx, s.Now())
		}
		return err
	})
}

// addTo adds the records behind those that the index has.
func addTo(ctx context.Context, tx *db.Tx, at indexed) error {
	all, err := readWhere(ctx, tx, withTexts, "id > ? ORDER BY id", at.last)
	if err != nil {
		return err
	}
	var documents []session.Session
	for _, r := range all {
		documents = append(documents, documentOf(r))
		at.last = r.ID
	}
	if err := tx.Exec(ctx, "UPDATE indexed SET version = ?, last = ?, n = ?", indexVersion, at.last,
		at.n+len(documents)); err != nil {
		return err
	}
	return search.Add(ctx, tx, documents)
}

func emptyIndex(ctx context.Context, tx *db.Tx) error {
	return tx.Exec(ctx, db.DropSearchTables+";"+db.SearchTables+"; UPDATE indexed SET version = 0, last = 0, n = 0")
}

// Embed fills in the vectors of an embedding model that the index lacks. While another process holds a lock file, it
// does nothing.
func (s Store) Embed(ctx context.Context, lockFile string, e search.Embedder) error {
	held, err := lock.Acquire(ctx, lockFile, lock.ToWrite, 0)
	if errors.Is(err, lock.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(e.Fill(ctx, embeddable{s}, s.Now), held.Release())
}

// embeddable is the index as search.Embedder works on it.
type embeddable struct{ store Store }

func (x embeddable) Read(ctx context.Context, do func(db.Querier) error) error {
	var behind error
	v, err := x.store.OpenIndexed(ctx, func(err error) { behind = err })
	if err != nil || v.db == nil {
		return err
	}
	if err = behind; err == nil {
		err = do(v.db)
	}
	return errors.Join(err, v.Close())
}

func (x embeddable) Write(ctx context.Context, do func(context.Context, *db.Tx) error) error {
	return x.store.inTransaction(ctx, do)
}

// indexKey is what the index calls a record: in the order of the numbers.
func indexKey(id int) string { return fmt.Sprintf("%010d", id) }

// KeysOf are the keys in the index of the records of some sessions.
func (v *View) KeysOf(sessions []string) (keys []string) {
	for _, r := range v.All {
		if r.From != nil && slices.Contains(sessions, r.From.Session) {
			keys = append(keys, indexKey(r.ID))
		}
	}
	return keys
}

func idOfKey(key string) int {
	n, _ := strconv.Atoi(key)
	return n
}

// documentOf is a record as search knows things. A path that its text holds is not added again: a listing of files
// would be about each of them.
func documentOf(r Record) session.Session {
	s := session.Session{
		ID: indexKey(r.ID), Memory: true, Title: strings.Join(append([]string{r.Instruction}, r.Terms...), "\n"),
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
