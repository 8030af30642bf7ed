package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/question"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/recordindex"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// withRecords answers a request, with the records that fit it: what there is of them is looked at beside the rest. Where they can't be
// read, and not they alone were asked for, it is told, and the answer is the one without them.
func withRecords(ctx context.Context, w *workspace.Workspace, index *db.DB, req recall.Request) (answer result.Recall, err error) {
	if !mayHaveRecords(req) {
		return recall.Recall(ctx, index, w.Repo, req)
	}
	_, _ = w.Settings() // they are read from the repository, which belongs to one goroutine
	var beside sync.WaitGroup
	var x *recordindex.Index
	var told []error
	var failed error
	beside.Go(func() { x, failed = openRecords(ctx, w, func(err error) { told = append(told, err) }) })
	answer, err = recall.Recall(ctx, index, w.Repo, req)
	beside.Wait()
	for _, err := range told {
		w.Warn(err)
	}
	if failed == nil {
		if err == nil && len(x.All) > 0 {
			failed = addRecords(ctx, w, index, req, x, &answer)
		}
		failed = errors.Join(failed, x.Close())
	}
	if failed == nil || err != nil || req.Kind == recall.KindRecord || ctx.Err() != nil {
		return answer, errors.Join(err, failed)
	}
	w.Warn(failed)
	return answer, nil
}

// mayHaveRecords reports whether records can be in an answer. A past moment has none, and neither has what is asked of commits, people
// or agents.
func mayHaveRecords(req recall.Request) bool {
	only := req.Kind == recall.KindRecord
	switch {
	case req.Kind != "" && !only, req.Checkpoint != "", req.Commit != "", req.Author != "", req.Actor != "", req.Agent != "", req.Title != "", req.IDs != nil, len(req.Path) > 0,
		!only && req.Query == "" && req.Purged != db.Only:
		return false
	}
	return true
}

// openRecords reads what agents' shells printed since the last time, and opens the index of records. What panics is an error, as
// nobody else could catch it.
func openRecords(ctx context.Context, w *workspace.Workspace, warn func(error)) (x *recordindex.Index, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("records: internal error: %v", v)
		}
	}()
	store, err := w.Records()
	if err != nil {
		return nil, err
	}
	if _, err := curate.Overhear(ctx, w, curate.AtRecall); err != nil {
		warn(err)
	}
	return recordindex.Open(ctx, store, w.RekalDir(), warn)
}

// addRecords puts records into an answer.
func addRecords(ctx context.Context, w *workspace.Workspace, index *db.DB, req recall.Request, x *recordindex.Index, answer *result.Recall) (err error) {
	q := recordQuestion(req, answer)
	if q.Without, err = db.PurgedIDs(ctx, index); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	found, err := x.Ask(ctx, w.Repo, q)
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if sessionsTouch := len(answer.Filters.Files) > 0; len(req.Files) > 0 && found.Touched != sessionsTouch {
		if found.Touched { // only what touches them
			answer.Results, answer.More, answer.Total, answer.Filters.Files = nil, nil, 0, req.Files
		} else {
			found = recordindex.Answer{}
		}
	}
	recordindex.Merge(answer, found, req.Limit)
	if q.Brief {
		recordindex.Brief(answer)
	}
	return nil
}

// recordQuestion is what a request asks of records, with the time that was read of it.
func recordQuestion(req recall.Request, answer *result.Recall) recordindex.Question {
	q := recordindex.Question{
		Words: req.Query, Files: req.Files, Hidden: req.Purged == db.Only, Limit: req.Limit, Brief: req.Brief && req.Limit == 0, Snippet: req.Snippet, Embed: req.Embed,
	}
	if when := answer.When; when != nil {
		q.Since, q.Until, q.Timed = timeOf(when.Since), timeOf(when.Until), true
		q.Words = strings.TrimSpace(strings.Replace(q.Words, when.Read, " ", 1))
	}
	q.Latest = question.Read(req.Query, question.Clock{Now: req.Now}).Latest
	if req.File != "" {
		q.File, _ = regexp.Compile(req.File) // what is none was refused, or names a path as it stands
		if q.File == nil {
			q.File = regexp.MustCompile(regexp.QuoteMeta(req.File))
		}
	}
	return q
}

func timeOf(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text) // "" is an open side
	return t
}

// Record finds a record by its number. It returns a PurgedError for one that is hidden, and for one of a purged session.
func Record(ctx context.Context, w *workspace.Workspace, store records.Store, id int) (records.Record, error) {
	r, err := store.Find(id)
	if err != nil || r.From == nil || w.Ready() != nil { // nobody has purged a session
		return r, cmp.Or(err, hiddenRecord(r, nil))
	}
	index, err := Open(ctx, w)
	if err != nil {
		return r, err
	}
	purged, err := db.PurgedIDs(ctx, index.DB)
	return r, cmp.Or(err, index.Close(), hiddenRecord(r, purged))
}

// hiddenRecord says which purge hides a record; nil where none does.
func hiddenRecord(r records.Record, purged []string) error {
	switch {
	case r.Hidden:
		return &recall.PurgedError{ID: strconv.Itoa(r.ID)}
	case r.From != nil && slices.Contains(purged, r.From.Session):
		return fmt.Errorf("record %d: the session %w", r.ID, &recall.PurgedError{ID: r.From.Session})
	}
	return nil
}

// shownRecords are the records that a recall may show, the oldest first: neither those that are hidden, nor those of commands in a session that is purged.
func shownRecords(ctx context.Context, w *workspace.Workspace, index *db.DB) ([]records.Record, error) {
	store, err := w.Records()
	if err != nil {
		return nil, err
	}
	if err := curate.OverhearAll(ctx, w); err != nil {
		return nil, err
	}
	purged, err := db.PurgedIDs(ctx, index)
	if err != nil {
		return nil, err
	}
	all, err := store.All()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r records.Record) bool { return hiddenRecord(r, purged) != nil })
	for i := range all {
		if err := store.Load(&all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
