// Package curate changes what a repository remembers, when somebody says so: save, purge, restore, forget, scrub,
// pause, import, and the records of what commands printed.
//
// In: a workspace, its author, and what is to change. Out: what became of it. The ledger's own rules stand in ledger,
// those of capture in capture; here is the order in which ledger, caches and records change, so that a crash in between
// loses nothing.
package curate

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Save stores a memory in the author's ledger, after redaction, and brings the tables up, so that it is
// found at once. It also returns how many secrets were taken out.
func Save(ctx context.Context, w *workspace.Workspace, a workspace.Author,
	n capture.Note,
) (out result.Memory, secrets int, err error) {
	c, err := w.Capturer(ctx, a)
	if err == nil && n.Supersedes+n.Rejects != "" {
		n, err = completeStates(ctx, w, n)
	}
	if err != nil {
		return out, 0, err
	}
	saved, err := c.Save(ctx, n)
	if err != nil {
		return out, 0, err
	}
	row := db.MemoryRow{Memory: saved.Memory, Email: a.Email}
	var states result.States
	err = w.CatchUpBriefly(ctx, nil)
	if err == nil {
		states, err = readMemory(ctx, w, &row)
	}
	if err != nil { // what is stored is stored
		w.Warn(fmt.Errorf("saved, but the index is behind the ledger: %w", w.AsNotInitialised(err)))
	}
	for _, places := range saved.Redacted {
		secrets += places
	}
	out = recall.MemoryOf(row)
	out.Existing, out.States = saved.Existing, states
	return out, secrets, nil
}

// completeStates completes the IDs that a note names. What it rejects may be a text.
func completeStates(ctx context.Context, w *workspace.Workspace, n capture.Note) (capture.Note, error) {
	if err := w.CatchUpBriefly(ctx, nil); err != nil {
		return n, err
	}
	err := w.WithIndex(ctx, func(data *materialize.Reader) error {
		names, err := data.Names(ctx, n.Supersedes, n.Rejects)
		if err != nil {
			return err
		}
		if id, err := names.CompleteID(n.Rejects); n.Rejects != "" && err == nil {
			n.Rejects = id
		}
		if n.Supersedes == "" {
			return nil
		}
		id, err := names.CompleteID(n.Supersedes)
		if err != nil {
			return fmt.Errorf("save: --supersedes: memory %w", err)
		}
		if _, ok, err := data.Memory(ctx, id); err != nil || !ok {
			return cmp.Or(err, error(&name.UsageError{Err: fmt.Errorf("save: %q is no memory", n.Supersedes)}))
		}
		n.Supersedes = id
		return nil
	})
	return n, w.AsNotInitialised(err)
}

// readMemory completes a memory that is known by its ID, where the tables have it, and reads its states.
func readMemory(ctx context.Context, w *workspace.Workspace, row *db.MemoryRow) (states result.States, err error) {
	err = w.WithIndex(ctx, func(data *materialize.Reader) error {
		found, ok, err := data.Memory(ctx, row.ID)
		if !ok || err != nil {
			return err
		}
		*row = found
		all, err := recall.StatesOf(ctx, data.DB, []string{row.ID})
		states = all[row.ID]
		return err
	})
	return states, err
}

// Marked is what became of a purge or restore.
type Marked struct {
	Done   []string // IDs
	Failed []error  // one for each ID that could not be marked, which it names
	Others []string // of Done: what is somebody else's, and is marked in this clone alone
}

// Total is how many were asked for.
func (m Marked) Total() int { return len(m.Done) + len(m.Failed) }

// Mark hides sessions, memories and records, by their IDs or unique beginnings of these, or shows them again. The marks
// go into the user's own ledger: for the user's own sessions they count everywhere, for other people's only in this
// clone.
func Mark(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string, purge bool) (Marked, error) {
	numbers, ids := records.ParseIDs(ids)
	out, err := markRecords(ctx, w, numbers, purge)
	if err != nil || len(ids) == 0 {
		return out, err
	}
	more, err := markItems(ctx, w, a, ids, purge)
	return Marked{append(out.Done, more.Done...), append(out.Failed, more.Failed...), more.Others}, err
}

// markRecords marks records, in this clone alone: nobody else has them.
func markRecords(ctx context.Context, w *workspace.Workspace, numbers []int, purge bool) (out Marked, err error) {
	if len(numbers) == 0 {
		return out, nil
	}
	var marked []int
	err = w.WithRecords(ctx, func(v *records.View) error {
		for _, n := range numbers {
			switch r, err := v.Find(ctx, n); {
			case err != nil:
				out.Failed = append(out.Failed, err)
			case r.Hidden == purge:
				out.Failed = append(out.Failed, fmt.Errorf("%d: %s", n, whyNotMarked(purge)))
			default:
				marked = append(marked, n)
				out.Done = append(out.Done, strconv.Itoa(n))
			}
		}
		return nil
	})
	if err != nil || len(marked) == 0 {
		return out, err
	}
	return out, w.Records().SetHidden(ctx, marked, purge)
}

// whyNotMarked says why there is nothing to do.
func whyNotMarked(purge bool) string {
	if purge {
		return "is purged already"
	}
	return "is not purged"
}

func markItems(ctx context.Context, w *workspace.Workspace, a workspace.Author, ids []string,
	purge bool,
) (Marked, error) {
	c, err := w.Capturer(ctx, a)
	if err != nil {
		return Marked{}, err
	}
	if err := w.CatchUpBriefly(ctx, nil); err != nil {
		return Marked{}, err
	}
	var out Marked
	var marks []session.Mark
	err = w.WithIndex(ctx, func(data *materialize.Reader) (err error) {
		out, marks, err = itemsToMark(ctx, data, a, ids, purge)
		return err
	})
	if err != nil || len(marks) == 0 {
		return out, w.AsNotInitialised(err)
	}
	write, done := c.Restore, "restored"
	if purge {
		write, done = c.Purge, "purged"
	}
	if err := write(ctx, marks); err != nil {
		return Marked{}, err
	}
	if tip, err := a.Ledger.Tip(); err == nil { // else the index tells
		if err := a.Ledger.CheckKey(ctx, tip); err != nil {
			w.Warn(fmt.Errorf("%s, but not for long: %w", done, err))
		}
	}
	if err := w.CatchUpBriefly(ctx, nil); err != nil {
		w.Warn(fmt.Errorf("%s, but the index is behind the ledger: %w", done, err))
	}
	return out, nil
}

// itemsToMark finds what the words mean, and numbers the marks.
func itemsToMark(ctx context.Context, data *materialize.Reader, a workspace.Author, words []string,
	purge bool,
) (out Marked, marks []session.Mark, err error) {
	names, err := data.Names(ctx, words...)
	if err != nil {
		return out, nil, err
	}
	ids, failed := name.CompleteIDs(names, words)
	out.Failed = failed
	authors, err := db.AuthorsOf(ctx, data.DB, ids)
	if err != nil {
		return out, nil, err
	}
	all, err := data.Marks(ctx)
	if err != nil {
		return out, nil, err
	}
	for _, id := range ids {
		said := all[id]
		if said.Purged() == purge {
			out.Failed = append(out.Failed, fmt.Errorf("%q: %s", id, whyNotMarked(purge)))
			continue
		}
		for _, n := range said.NextNumbers(purge) {
			marks = append(marks, session.Mark{ID: id, N: n})
		}
		if out.Done = append(out.Done, id); !strings.EqualFold(authors[id], a.Email) {
			out.Others = append(out.Others, id)
		}
	}
	return out, marks, nil
}
