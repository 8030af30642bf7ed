package fix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/failure"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// What is shown of a pair at most: lines of the error, files, and characters of what the agent said.
const (
	shownLines = 8
	shownFiles = 8
	shownSaid  = 400
)

// tell says what is known of a pair; ok is false where a later commit took it back.
func (f Finder) tell(ctx context.Context, req Request, c candidate) (m result.Mended, ok bool, err error) {
	m = result.Mended{
		ID: c.session, Score: float64(int(c.score*100)) / 100, Terms: c.terms,
		Command: session.OneLine(c.call.Cmd),
	}
	if with := session.OneLine(c.pass.call.Cmd); with != m.Command {
		m.PassedWith = with
	}
	if c.record != nil {
		m.Record, m.Error = c.record.ID, firstLines(c.record.Text)
		m.FailedAt, m.PassedAt = result.Time(c.record.At), result.Time(c.pass.record.At)
		return m, true, nil
	}
	m.Turn = &c.call.Turn
	failedAt, err := f.timeOf(ctx, c.session, c.call.Turn)
	if err != nil {
		return m, false, err
	}
	passedAt, err := f.timeOf(ctx, c.pass.session, c.pass.call.Turn)
	if err != nil {
		return m, false, err
	}
	m.FailedAt, m.PassedAt, m.PassedTurn = result.Time(failedAt), result.Time(passedAt), &c.pass.call.Turn
	if c.pass.session != c.session {
		m.PassedID = c.pass.session
	}
	of, _, err := recall.Item(ctx, f.Index, f.Repo, recall.Page{ID: c.pass.session, Limit: 1, Full: true})
	if purged := (*recall.PurgedError)(nil); errors.As(err, &purged) || of == nil {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	m.Title, m.Author, m.Source = of.Title, of.Author, of.Source
	if ok, err := f.tellChanges(ctx, &m, c, *of, failedAt, passedAt); !ok || err != nil {
		return m, false, err
	}
	if err := f.tellWords(ctx, &m, c); err != nil || req.Brief {
		return m, err == nil, err
	}
	return m, true, f.tellError(ctx, &m, c)
}

// timeOf is the time of a turn; zero before the first.
func (f Finder) timeOf(ctx context.Context, id string, turn int) (time.Time, error) {
	turns, err := f.Index.Turns(ctx, id, max(turn, 0), 1, "")
	if err != nil || len(turns) == 0 {
		return time.Time{}, err
	}
	return turns[0].TS, nil
}

// tellChanges says which files were edited in between, and which commits took them; ok is false if a later commit
// reverted one.
func (f Finder) tellChanges(ctx context.Context, m *result.Mended, c candidate, of result.Session, failedAt,
	passedAt time.Time,
) (ok bool, err error) {
	var paths []string
	for _, call := range c.pass.between {
		if p := call.EditedPath(); session.IsPathInTree(p) && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	commits, ok, err := f.commitsBetween(ctx, of, failedAt, passedAt)
	if !ok || err != nil {
		return false, err
	}
	var shas []string
	for _, o := range commits {
		shas = append(shas, o.Commit)
	}
	wrote, err := f.Index.LinesIn(ctx, of.ID, shas)
	if err != nil {
		return false, err
	}
	m.More = max(0, len(paths)-shownFiles)
	for _, p := range paths[:len(paths)-m.More] {
		file := result.MendedFile{Path: p}
		for _, sha := range shas {
			if lines := wrote[[2]string{sha, p}]; lines != "" {
				file.Lines, file.Commit = lines, result.ShortOID(sha)
			}
		}
		if i := slices.IndexFunc(of.Files, func(x result.File) bool { return x.Path == p }); i >= 0 {
			file.Freshness, file.Commit = of.Files[i].Freshness, cmp.Or(file.Commit, of.Files[i].Commit)
		}
		m.Files = append(m.Files, file)
	}
	for _, o := range commits {
		o.Commit = result.ShortOID(o.Commit)
		m.Commits = append(m.Commits, o)
	}
	return true, nil
}

// commitsBetween are the commits of a session from the failure up to the first behind the pass; ok is false if a later
// commit took one of them back.
func (f Finder) commitsBetween(ctx context.Context, of result.Session, failedAt,
	passedAt time.Time,
) (out []result.Origin, ok bool, err error) {
	var reverted map[git.OID]history.Revert
	for _, c := range slices.Backward(of.Commits) { // the latest come first
		at, err := time.Parse(time.RFC3339, c.TS)
		if err != nil || at.Before(failedAt.Truncate(time.Second)) {
			continue
		}
		if reverted == nil {
			if reverted, err = history.Reverted(ctx, f.Repo, f.History); err != nil {
				return nil, false, err
			}
		}
		sha := cmp.Or(c.Became, c.Commit)
		if _, is := reverted[git.OID(sha)]; is {
			return nil, false, nil
		}
		o := result.Origin{Commit: sha, TS: c.TS}
		if commit, err := f.Repo.Commit(git.OID(sha)); err == nil {
			o.Subject = commit.Subject()
		}
		if out = append(out, o); at.After(passedAt) {
			break
		}
	}
	return out, true, nil
}

// tellWords quotes what the agent said when the command had passed, and says where to read on.
func (f Finder) tellWords(ctx context.Context, m *result.Mended, c candidate) error {
	turns, err := f.Index.Turns(ctx, c.pass.session, max(c.pass.call.Turn, 0), 3, session.RoleAssistant)
	if err != nil || len(turns) == 0 {
		m.Address = fmt.Sprintf("%s:%d", c.pass.session, max(c.pass.call.Turn, 0))
		return err
	}
	said := turns[0]
	if len(turns) > 1 && said.Index <= c.pass.call.Turn { // it stands before the command
		said = turns[1]
	}
	m.Said, m.Address = search.Snippet(said.Content, "", shownSaid), fmt.Sprintf("%s:%d", c.pass.session, said.Index)
	return nil
}

// tellError gives the error as it stood, where a record has it.
func (f Finder) tellError(ctx context.Context, m *result.Mended, c candidate) error {
	if f.Records == nil {
		return nil
	}
	all, err := f.Records.OfSession(ctx, c.session)
	i := slices.IndexFunc(all, func(r records.Record) bool {
		return r.From.Turn == c.call.Turn && strings.HasPrefix(r.Command, strings.TrimRight(c.call.Cmd, "…~"))
	})
	if err == nil && i >= 0 {
		m.Record, m.Error = all[i].ID, firstLines(all[i].Text)
	}
	return err
}

func firstLines(text string) []string {
	lines := failure.Lines(text, true)
	return lines[:min(len(lines), shownLines)]
}
