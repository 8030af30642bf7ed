package ask

import (
	"cmp"
	"context"
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

// recallWithRecords answers a request, with the records (what commands printed) that fit it. If records can't be read,
// it warns and answers without them, unless the request asks for records alone.
func (m *Moment) recallWithRecords(ctx context.Context, req recall.Request) (answer result.Recall, err error) {
	answer, err = recall.Recall(ctx, m.DB, m.w.Repo, req)
	if err != nil || !mayHaveRecords(req) {
		return answer, err
	}
	if m.records == nil {
		return answer, nil
	}
	known, recordsErr := m.records()
	if recordsErr == nil && known != nil && len(known.All) > 0 {
		recordsErr = m.addRecords(ctx, req, known, &answer)
	}
	if recordsErr == nil || req.Kind == recall.KindRecord || ctx.Err() != nil {
		return answer, recordsErr
	}
	m.w.Warn(recordsErr)
	return answer, nil
}

// mayHaveRecords reports whether records can be in the answer to a request. A past moment has no records, and a
// question about commits, people or agents never finds one.
func mayHaveRecords(req recall.Request) bool {
	onlyRecords := req.Kind == recall.KindRecord
	switch {
	case req.Kind != "" && !onlyRecords, req.Checkpoint != "", req.Commit != "", req.Author != "", req.Actor != "",
		req.Agent != "", req.Title != "", req.Verified, req.IDs != nil, len(req.Path) > 0,
		!onlyRecords && req.Query == "" && req.Purged != db.Only:
		return false
	}
	return true
}

// addRecords puts records into an answer.
func (m *Moment) addRecords(ctx context.Context, req recall.Request, known *records.View,
	answer *result.Recall,
) (err error) {
	q := recordQuestion(req, answer)
	if q.Without, err = db.PurgedIDs(ctx, m.DB); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	found, err := known.Ask(ctx, m.w.Repo, q)
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if sessionsTouchFiles := len(answer.Filters.Files) > 0; len(req.Files) > 0 && found.TouchFiles != sessionsTouchFiles {
		if found.TouchFiles { // only records touch the files that the question names, so the sessions found don't answer it
			answer.Results, answer.More, answer.Total, answer.Filters.Files = nil, nil, 0, req.Files
		} else {
			found = records.Answer{}
		}
	}
	records.Merge(answer, found, req.Limit)
	if q.Brief {
		records.KeepBrief(answer)
	}
	return nil
}

// recordQuestion makes a question for records of a request, with the time span that recall has read in its words.
func recordQuestion(req recall.Request, answer *result.Recall) records.Question {
	q := records.Question{
		Words: req.Query, Files: req.Files, Hidden: req.Purged == db.Only, Limit: req.Limit,
		Brief: req.Brief && req.Limit == 0, Snippet: req.Snippet, Embed: req.Embed,
	}
	if when := answer.When; when != nil {
		q.Since, q.Until, q.Timed = parseTimestamp(when.Since), parseTimestamp(when.Until), true
		q.Words = strings.TrimSpace(strings.Replace(q.Words, when.Read, " ", 1))
	}
	q.Latest = question.Read(req.Query, question.Clock{Now: req.Now}).Latest
	if req.File != "" {
		q.File, _ = regexp.Compile(req.File) // if it is no regular expression, it is a path
		if q.File == nil {
			q.File = regexp.MustCompile(regexp.QuoteMeta(req.File))
		}
	}
	return q
}

func parseTimestamp(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text) // "": the span has no such end
	return t
}

// Record finds a record by its number. It returns a recall.PurgedError if the record or its session is purged.
func Record(ctx context.Context, w *workspace.Workspace, id int) (r records.Record, err error) {
	err = w.WithRecords(ctx, func(v *records.View) (err error) {
		r, err = v.Find(ctx, id)
		return err
	})
	if err != nil || r.From == nil || w.CheckReady() != nil { // without an index no session is purged
		return r, cmp.Or(err, purgedError(r, nil))
	}
	m, err := w.ReadMaterializer()
	if err != nil {
		return r, err
	}
	purged, err := m.Purged(ctx)
	return r, cmp.Or(err, purgedError(r, purged))
}

// purgedError says which purge hides a record, its own or its session's; nil if none does.
func purgedError(r records.Record, purged []string) error {
	switch {
	case r.Hidden:
		return &recall.PurgedError{ID: strconv.Itoa(r.ID)}
	case r.From != nil && slices.Contains(purged, r.From.Session):
		return fmt.Errorf("record %d: the session %w", r.ID, &recall.PurgedError{ID: r.From.Session})
	}
	return nil
}

// Records are the records that a recall may show, the oldest first, without those that are purged or of a purged
// session. A past moment has none.
func (m *Moment) Records(ctx context.Context) ([]records.Record, error) {
	if m.Text != "" {
		return nil, nil
	}
	purged, err := db.PurgedIDs(ctx, m.DB)
	if err != nil {
		return nil, err
	}
	view, err := m.w.Records().Open(ctx)
	if err != nil {
		return nil, err
	}
	defer view.Close() // nothing was written
	all := slices.DeleteFunc(view.All, func(r records.Record) bool { return purgedError(r, purged) != nil })
	for i := range all {
		if err := view.Load(ctx, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
