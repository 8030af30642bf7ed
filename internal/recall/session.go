package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Page says which part of a session is asked for.
type Page struct {
	ID     string // a prefix of at least session.MinPrefix characters
	Offset int    // index of the first turn
	Limit  int    // how many turns; 0: pageTurns
	Role   string // session.RoleHuman or RoleAssistant; "" for both
	Full   bool   // with tool calls, files, commits and related files
	Purged bool   // also what is purged
	Whole  bool   // all that is asked for, however long: who shows it cuts it

	Checkpoint string  // as in Request
	Tip        git.OID // as in Request
}

// A page has so many turns, or fewer where these would have more than so many bytes; of one turn that has more
// it holds the beginning. An agent's shell cuts what is longer than 30,000 characters, and what is cut is no JSON.
const (
	pageTurns = 20
	pageBytes = 20_000
)

// What --full shows of a session beside its page, at most.
const (
	shownRelated = 10
	shownFiles   = 100
	shownFamily  = 50
)

// PurgedError is a session or memory that is not shown because it is purged.
type PurgedError struct{ ID string }

func (e *PurgedError) Error() string { return fmt.Sprintf("%q is purged", e.ID) }

// Hint says what to do.
func (e *PurgedError) Hint() string {
	return fmt.Sprintf(`"git rekal restore %s" shows it again`, e.ID)
}

// Item reads what has an ID: a session, and with Full what surrounds it; or a
// memory, of which the rest of the page says nothing. The other one is nil.
func Item(ctx context.Context, index *db.DB, repo *git.Repo, p Page) (*result.Session, *result.Memory, error) {
	names, err := index.Names(ctx, p.ID)
	if err != nil {
		return nil, nil, err
	}
	id, err := names.CompleteID(p.ID)
	switch {
	case errors.Is(err, session.ErrShortID):
		return nil, nil, &name.UsageError{Err: fmt.Errorf("session %w", err)}
	case errors.Is(err, session.ErrNoID):
		return nil, nil, fmt.Errorf("session %w", err)
	case err != nil:
		return nil, nil, err
	}
	purged, err := db.PurgedIDs(ctx, index)
	if err != nil {
		return nil, nil, err
	}
	if !p.Purged && inOrderedList(purged, id) || inOrderedList(index.Barred(), id) {
		return nil, nil, &PurgedError{id}
	}
	m, ok, err := index.Memory(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if ok {
		shown := MemoryOf(m)
		shown.Content = m.Content
		signed, err := index.Trust(ctx, []string{id})
		if err != nil {
			return nil, nil, err
		}
		shown.Signature = signed[id].String()
		said, err := StatesOf(ctx, index, []string{id})
		shown.States = said[id]
		return nil, &shown, errors.Join(err, AddNoteTo(ctx, index, repo, m, &shown))
	}
	s, err := readPage(ctx, index, repo, id, p)
	for _, other := range []*string{&s.Parent, &s.ForkedFrom} {
		if inOrderedList(purged, *other) {
			*other = ""
		}
	}
	return &s, nil, err
}

// MemoryOf describes a memory, without its content.
func MemoryOf(m db.MemoryRow) result.Memory {
	return result.Memory{
		Schema: result.Schema, ID: m.ID, Kind: db.KindMemory, Title: m.Title, Author: m.Email, Actor: m.ActorType,
		Source: m.Source, CapturedAt: result.Time(m.TS), States: result.States{Rejects: m.Rejects},
	}
}

func readPage(ctx context.Context, index *db.DB, repo *git.Repo, id string, p Page) (result.Session, error) {
	row, err := index.Session(ctx, id)
	if err != nil {
		return result.Session{}, err
	}
	out := sessionShape(row)
	private, err := db.PrivateIDs(ctx, index)
	if err != nil {
		return out, err
	}
	out.Private = inOrderedList(private, id)
	signed, err := index.Trust(ctx, []string{id})
	if err != nil {
		return out, err
	}
	out.Signature = signed[id].String()
	if out.Children, err = index.Children(ctx, id); err != nil {
		return out, err
	}
	// One more than asked for tells whether something follows.
	turns, err := index.Turns(ctx, id, p.Offset, min(cmp.Or(p.Limit, pageTurns), math.MaxInt32)+1, p.Role)
	if err != nil {
		return out, err
	}
	last := row.NextTurn
	if n := turnsOnPage(turns, p); n < len(turns) {
		out.Next, last = &turns[n].Index, turns[n].Index-1
		turns = turns[:n]
	}
	undone, err := index.Undone(ctx)
	if err != nil {
		return out, err
	}
	out.Page = make([]result.Turn, len(turns))
	for i, t := range turns {
		out.Page[i] = result.Turn{
			Turn: t.Index, Role: t.Role, TS: result.Time(t.TS), Content: t.Content,
			Undone: session.InSpans(undone[id], t.Index),
		}
		if !p.Whole {
			out.Page[i].Truncate(pageBytes)
		}
	}
	if !p.Full {
		return out, nil
	}
	if err := readTurns(ctx, index, repo, p, &out, last); err != nil {
		return out, err
	}
	family, err := index.Relatives(ctx, row, shownFamily)
	for _, r := range family {
		out.Family = append(out.Family, result.Relative(r))
	}
	return out, err
}

// turnsOnPage is how many of the turns are a page.
func turnsOnPage(turns []session.Turn, p Page) int {
	size := 0
	for i, t := range turns {
		size += len(t.Content)
		if i == cmp.Or(p.Limit, pageTurns) || i > 0 && size > pageBytes && !p.Whole {
			return i
		}
	}
	return len(turns)
}

func sessionShape(row db.SessionRow) result.Session {
	return result.Session{
		Schema: result.Schema, ID: row.ID, Kind: db.KindSession, Title: row.Title, Author: row.Email, Actor: row.ActorType,
		AgentID: row.AgentID, Source: row.Source, Facts: row.Facts, NativeID: row.NativeID, Branch: row.Branch,
		StartedAt: result.Time(row.StartedAt), CapturedAt: result.Time(row.CapturedAt), Parent: row.Parent,
		ForkedFrom: row.ForkedFrom, Turns: row.NextTurn - row.FirstTurn, ToolCalls: row.NextTool - row.FirstTool,
	}
}

func readTurns(ctx context.Context, index *db.DB, repo *git.Repo, p Page, out *result.Session, to int) error {
	from := p.Offset
	if from == 0 {
		from = -1 // calls made before the first turn
	}
	tools, err := index.Tools(ctx, out.ID, from, to)
	if err != nil {
		return err
	}
	for _, c := range tools {
		out.Tools = append(out.Tools, result.Tool{
			Turn: c.Turn, Tool: c.Tool, Path: c.Path, Cmd: c.Cmd, Failed: c.Failed,
			Exit: c.Exit,
		})
	}
	ties, err := index.TiesOfSessions(ctx, []string{out.ID})
	if err != nil {
		return err
	}
	if out.Commits, err = commits.OfSession(ctx, index, repo, ties[out.ID]); err != nil {
		return err
	}
	files, err := index.SessionFiles(ctx, out.ID)
	if err != nil {
		return err
	}
	if err := addFreshness(ctx, index, repo, Request{Checkpoint: p.Checkpoint, Tip: p.Tip}, out, files); err != nil {
		return err
	}
	related, err := index.FilesTouchedWith(ctx, out.ID, shownRelated)
	for _, r := range related {
		out.Related = append(out.Related, result.Related(r))
	}
	return err
}
