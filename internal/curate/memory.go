// Package curate changes what a repository remembers, when somebody says so: save, purge, restore, forget, scrub, pause, import, and
// the records of what commands printed.
//
// In: a workspace, its author, and what is to change. Out: what became of it. The ledger's own rules stand in ledger, those of
// capture in capture; here is the order in which ledger, caches and records change, so that a crash in between loses nothing.
package curate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Save stores a memory in the author's ledger, after redaction, and brings the tables up, so that it is
// found at once. It also returns how many secrets were taken out, by rule.
func Save(ctx context.Context, w *workspace.Workspace, a workspace.Author, n capture.Note) (result.Memory, map[string]int, error) {
	c, err := w.Capturer(ctx, a)
	if err != nil {
		return result.Memory{}, nil, err
	}
	saved, err := c.Save(ctx, n)
	if err != nil {
		return result.Memory{}, nil, err
	}
	m, err := w.Reader()
	if err == nil {
		err = m.KeepUp(ctx)
	}
	row := db.MemoryRow{Memory: saved.Memory, Email: a.Email}
	if err == nil && saved.Existing {
		err = readMemory(ctx, m, &row)
	}
	if err != nil { // what is stored is stored
		w.Warn(fmt.Errorf("saved, but the index is behind the ledger: %w", w.Gone(err)))
	}
	out := recall.MemoryOf(row)
	out.Existing = saved.Existing
	return out, saved.Redacted, nil
}

// readMemory completes a memory that is known by its ID, where the tables have it.
func readMemory(ctx context.Context, m *materialize.Materializer, row *db.MemoryRow) error {
	data, err := m.Open(ctx)
	if err != nil {
		return err
	}
	found, ok, err := data.Memory(ctx, row.ID)
	if ok && err == nil {
		*row = found
	}
	return errors.Join(err, data.Close())
}

// Marked is what became of a purge or restore.
type Marked struct {
	Done   []string // IDs
	Failed []error  // one for each ID that could not be marked, which it names
	Others []string // of Done: what is somebody else's, and is marked in this clone alone
}

// Total is how many were asked for.
func (m Marked) Total() int { return len(m.Done) + len(m.Failed) }

// Purge hides sessions and memories, by their IDs or unique beginnings of these. It is one's
// own ledger that says so: of what is one's own it counts everywhere, of the rest here.
func Purge(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string) (Marked, error) {
	return mark(ctx, w, a, ids, marking{what: "purged", purged: true, write: (*capture.Capturer).Purge})
}

// Restore shows again what was purged.
func Restore(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string) (Marked, error) {
	return mark(ctx, w, a, ids, marking{what: "restored", write: (*capture.Capturer).Restore})
}

// marking is what tells a purge from a restore.
type marking struct {
	what   string
	purged bool // whether things are purged afterwards
	write  func(*capture.Capturer, context.Context, []session.Mark) error
}

func mark(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string, how marking) (Marked, error) {
	numbers, ids := records.ParseIDs(ids)
	out, err := markRecords(ctx, w, numbers, how)
	if err != nil || len(ids) == 0 {
		return out, err
	}
	more, err := markItems(ctx, w, a, ids, how)
	return Marked{append(out.Done, more.Done...), append(out.Failed, more.Failed...), more.Others}, err
}

// markRecords marks records, in this clone alone: nobody else has them.
func markRecords(ctx context.Context, w *workspace.Workspace, numbers []int, how marking) (out Marked, err error) {
	if len(numbers) == 0 {
		return out, nil
	}
	store, err := w.Records()
	if err != nil {
		return out, err
	}
	var marked []int
	for _, n := range numbers {
		switch r, err := store.Find(n); {
		case err != nil:
			out.Failed = append(out.Failed, err)
		case r.Hidden == how.purged:
			not := map[bool]string{true: "is purged already", false: "is not purged"}[how.purged]
			out.Failed = append(out.Failed, fmt.Errorf("%d: %s", n, not))
		default:
			marked = append(marked, n)
			out.Done = append(out.Done, strconv.Itoa(n))
		}
	}
	if len(marked) == 0 {
		return out, nil
	}
	return out, store.Hide(ctx, marked, how.purged)
}

func markItems(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string, how marking) (Marked, error) {
	c, err := w.Capturer(ctx, a)
	if err != nil {
		return Marked{}, err
	}
	m, err := w.Reader()
	if err != nil {
		return Marked{}, err
	}
	if err := w.Gone(m.KeepUp(ctx)); err != nil {
		return Marked{}, err
	}
	out, marks, err := how.resolve(ctx, m, a, ids)
	if err != nil || len(marks) == 0 {
		return out, w.Gone(err)
	}
	if err := how.write(c, ctx, marks); err != nil {
		return Marked{}, err
	}
	if err := w.Gone(m.KeepUp(ctx)); err != nil {
		w.Warn(fmt.Errorf("%s, but the index is behind the ledger: %w", how.what, err))
	}
	return out, nil
}

// resolve finds what the IDs mean, and numbers the marks.
func (how marking) resolve(ctx context.Context, m *materialize.Materializer, a workspace.Author, ids []string) (out Marked, marks []session.Mark, err error) {
	data, err := m.Open(ctx)
	if err != nil {
		return out, nil, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	seen := map[string]bool{}
	for _, prefix := range ids {
		id, said, err := how.find(ctx, data, prefix)
		switch {
		case errors.As(err, new(*IDError)):
			out.Failed = append(out.Failed, err)
			continue
		case err != nil:
			return out, nil, err
		case seen[id]:
			continue
		}
		seen[id] = true
		for _, n := range said.Next(how.purged) {
			marks = append(marks, session.Mark{ID: id, N: n})
		}
		out.Done = append(out.Done, id)
		authors, err := db.Authors(ctx, data.DB, []string{id})
		if err != nil {
			return out, nil, err
		}
		if !strings.EqualFold(authors[id], a.Email) {
			out.Others = append(out.Others, id)
		}
	}
	return out, marks, nil
}

// IDError is an ID that nothing can be done with.
type IDError struct {
	ID  string
	Err error
}

func (e *IDError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *IDError) Unwrap() error { return e.Err }

// find completes an ID, and checks that there is something to mark.
func (how marking) find(ctx context.Context, data *materialize.Reader, prefix string) (string, session.Marks, error) {
	var marks session.Marks
	names, err := data.Names(ctx, prefix)
	if err != nil {
		return "", marks, err
	}
	id, err := names.Find(prefix)
	if err != nil {
		return "", marks, &IDError{prefix, err}
	}
	if marks, err = data.Marks(ctx, id); err != nil {
		return "", marks, err
	}
	switch purged := marks.Purged(); {
	case purged && how.purged:
		err = &IDError{prefix, fmt.Errorf("%q: is purged already", prefix)}
	case !purged && !how.purged:
		err = &IDError{prefix, fmt.Errorf("%q: is not purged", prefix)}
	}
	return id, marks, err
}
