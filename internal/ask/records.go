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
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/question"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// withRecords answers a request, with the records that fit it. Where they can't be read, and not they alone were asked for, that is told, and
// the answer is the one without them.
func (m *Moment) withRecords(ctx context.Context, req recall.Request) (answer result.Recall, err error) {
	answer, err = recall.Recall(ctx, m.DB, m.w.Repo, req)
	if err != nil || !mayHaveRecords(req) {
		return answer, err
	}
	failed := m.failed
	if failed == nil && m.records != nil && len(m.records.All) > 0 {
		failed = m.addRecords(ctx, req, &answer)
	}
	if failed == nil || req.Kind == recall.KindRecord || ctx.Err() != nil {
		return answer, failed
	}
	m.w.Warn(failed)
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

// addRecords puts records into an answer.
func (m *Moment) addRecords(ctx context.Context, req recall.Request, answer *result.Recall) (err error) {
	q := recordQuestion(req, answer)
	if q.Without, err = db.PurgedIDs(ctx, m.DB); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	found, err := m.records.Ask(ctx, m.w.Repo, q)
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if sessionsTouch := len(answer.Filters.Files) > 0; len(req.Files) > 0 && found.Touched != sessionsTouch {
		if found.Touched { // only what touches them
			answer.Results, answer.More, answer.Total, answer.Filters.Files = nil, nil, 0, req.Files
		} else {
			found = records.Answer{}
		}
	}
	records.Merge(answer, found, req.Limit)
	if q.Brief {
		records.Brief(answer)
	}
	return nil
}

// recordQuestion is what a request asks of records, with the time that was read of it.
func recordQuestion(req recall.Request, answer *result.Recall) records.Question {
	q := records.Question{
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
	v, err := store.Open(ctx)
	if err != nil {
		return records.Record{}, err
	}
	r, err := v.Find(ctx, id)
	if err = errors.Join(err, v.Close()); err != nil || r.From == nil || w.Ready() != nil { // nobody has purged a session
		return r, cmp.Or(err, hiddenRecord(r, nil))
	}
	m, err := w.Reader()
	if err != nil {
		return r, err
	}
	purged, err := m.Purged(ctx)
	return r, cmp.Or(err, hiddenRecord(r, purged))
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

// Records are the records that a recall may show, the oldest first: neither those that are hidden, nor those of commands in a session that is
// purged. A past moment has none.
func (m *Moment) Records(ctx context.Context) ([]records.Record, error) {
	if m.Text != "" {
		return nil, nil
	}
	store, err := m.w.Records()
	if err != nil {
		return nil, err
	}
	purged, err := db.PurgedIDs(ctx, m.DB)
	if err != nil {
		return nil, err
	}
	v, err := store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer v.Close() // nothing was written
	all := slices.DeleteFunc(v.All, func(r records.Record) bool { return hiddenRecord(r, purged) != nil })
	for i := range all {
		if err := v.Load(ctx, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
