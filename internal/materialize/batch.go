package materialize

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// batch is a run of commits on its way into both databases.
type batch struct {
	*store
	data, index *db.Tx

	rows    map[string]*db.SessionRow  // sessions that the batch touches or links
	changed map[string]bool            // sessions whose row or facets change
	edited  map[string]map[string]bool // session → files that it has edited so far
	turnAt  map[db.TurnKey]time.Time   // times of turns that tool calls stand behind
	parts   []session.Session          // what to append, in ledger order, numbered as it will stand
	sources []db.PartRow
	redo    map[string]bool // sessions that two machines captured: to be put together anew
	cps     []session.Checkpoint
	files   []db.FileRow
	notes   []entry
}

func newBatch(s *store, data, index *db.Tx) *batch {
	return &batch{
		store: s, data: data, index: index,
		rows: map[string]*db.SessionRow{}, changed: map[string]bool{},
		edited: map[string]map[string]bool{}, redo: map[string]bool{}, turnAt: map[db.TurnKey]time.Time{},
	}
}

func (b *batch) write(ctx context.Context, entries []entry) error {
	if err := b.load(ctx, entries); err != nil {
		return err
	}
	for _, e := range entries {
		b.take(e)
	}
	if err := b.reassemble(ctx); err != nil {
		return err
	}
	together, err := b.together(ctx)
	if err != nil {
		return err
	}
	return beside(
		func() error { return b.writeData(ctx) },
		func() error { return b.writeIndex(ctx, together) },
	)
}

// load reads what the databases know of the sessions that the entries name. It returns
// errRestart for an entry that belongs before what they hold of one of its sessions.
func (b *batch) load(ctx context.Context, entries []entry) error {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.sessions()...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if err := b.checkOrder(ctx, ids, entries); err != nil {
		return err
	}
	rows, err := b.data.Sessions(ctx, ids)
	if err != nil {
		return err
	}
	for id, r := range rows {
		b.rows[id] = &r
	}
	edited, err := b.data.Edited(ctx, ids)
	if err != nil {
		return err
	}
	for id, paths := range edited {
		for _, p := range paths {
			b.edit(id, p)
		}
	}
	return b.loadTimes(ctx, entries)
}

// checkOrder returns errRestart when an entry is earlier than what the tables hold of one
// of its sessions: another machine's ledger came late. Which turn is whose number, and
// which file is whose edit, would then depend on who was fetched first.
func (b *batch) checkOrder(ctx context.Context, ids []string, entries []entry) error {
	if b.fresh {
		return nil
	}
	latest, err := b.data.Latest(ctx, ids)
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, id := range e.sessions() {
			if e.time().Before(latest[id]) {
				return errRestart
			}
		}
	}
	return nil
}

// loadTimes reads the times of earlier turns that new tool calls stand behind.
func (b *batch) loadTimes(ctx context.Context, entries []entry) error {
	var earlier []db.TurnKey
	for _, e := range entries {
		for _, p := range e.parts {
			for _, c := range p.ToolCalls {
				if c.Turn < p.FirstTurn {
					earlier = append(earlier, db.TurnKey{Session: p.ID, Index: c.Turn})
				}
			}
			for _, t := range p.Turns {
				b.turnAt[db.TurnKey{Session: p.ID, Index: t.Index}] = t.TS
			}
		}
	}
	times, err := b.data.TurnTimes(ctx, earlier)
	maps.Copy(b.turnAt, times)
	return err
}

func (b *batch) edit(id, path string) {
	if b.edited[id] == nil {
		b.edited[id] = map[string]bool{}
	}
	b.edited[id][path] = true
}

// take adds what one commit says.
func (b *batch) take(e entry) {
	when, email := e.time(), e.email
	if e.Checkpoint != nil {
		when, email = e.Checkpoint.TS, e.Checkpoint.UserEmail
	}
	for _, p := range e.parts {
		b.part(p, email, when)
	}
	if e.Checkpoint != nil {
		b.checkpoint(e)
	}
	if len(e.Memories)+len(e.Purges)+len(e.Restores)+len(e.Rewrites) > 0 {
		b.notes = append(b.notes, e)
	}
}

func (b *batch) part(p part, email string, when time.Time) {
	row := b.rows[p.ID]
	if row == nil {
		row = &db.SessionRow{Email: email, CapturedAt: when, NextTurn: p.FirstTurn, NextTool: p.FirstTool}
		row.FirstTurn, row.FirstTool = p.FirstTurn, p.FirstTool
		b.rows[p.ID] = row
	}
	b.changed[p.ID] = true
	b.sources = append(b.sources, db.PartRow{Session: p.ID, Segment: p.segment.Path, Blob: string(p.segment.Blob), TS: p.segment.Time()})
	for _, c := range p.ToolCalls {
		if session.Edits(c.Tool) && c.Path != "" {
			b.edit(p.ID, c.Path)
		}
	}
	if p.FirstTurn != row.NextTurn || p.FirstTool != row.NextTool {
		b.redo[p.ID] = true
		return
	}
	row.Adopt(p.Session)
	row.NextTurn += len(p.Turns)
	row.NextTool += len(p.ToolCalls)
	if last := p.LastTS(); len(p.Turns) > 0 && last.After(row.LastTurnAt) {
		row.LastTurnAt = last
	}
	b.parts = append(b.parts, p.Session)
}

// checkpoint ties a checkpoint to the sessions that it adds to and to those that it links,
// and gives its files to those that edited them; files that none of them is known to have
// edited (a shell command did) are everybody's.
func (b *batch) checkpoint(e entry) {
	cp := *e.Checkpoint
	cp.ID = string(e.OID)
	links := map[string]bool{}
	var all []session.Link
	add := func(l session.Link) {
		if b.rows[l.Session] != nil && !links[l.Session] {
			links[l.Session] = true
			all = append(all, l)
			b.changed[l.Session] = true
		}
	}
	for _, p := range e.parts {
		add(session.Link{Session: p.ID})
	}
	for _, l := range cp.Links {
		add(l)
	}
	cp.Links = all
	b.cps = append(b.cps, cp)
	for _, f := range cp.Files {
		claimed := false
		for _, l := range all {
			if b.edited[l.Session][f.Path] || b.edited[l.Session][f.OldPath] {
				claimed = true
				b.files = append(b.files, db.FileRow{Checkpoint: cp.ID, Session: l.Session, Path: f.Path, Change: f.Change})
			}
		}
		if claimed {
			continue
		}
		for _, l := range all {
			b.files = append(b.files, db.FileRow{Checkpoint: cp.ID, Session: l.Session, Path: f.Path, Change: f.Change})
		}
	}
}

// reassemble puts sessions together anew whose parts overlap: two machines captured them,
// and each counted on from what it knew. The parts are read in the order of their
// segments; the first to hold a turn wins, and later ones are numbered behind.
func (b *batch) reassemble(ctx context.Context) error {
	if len(b.redo) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(b.redo))
	sources, err := b.data.Parts(ctx, ids)
	if err != nil {
		return err
	}
	for _, p := range b.sources {
		if b.redo[p.Session] {
			sources = append(sources, p)
		}
	}
	b.parts = slices.DeleteFunc(b.parts, func(p session.Session) bool { return b.redo[p.ID] })
	for _, id := range ids {
		whole, err := b.whole(id, sources)
		if err != nil {
			return err
		}
		row := b.rows[id]
		row.Session = session.Session{FirstTurn: whole.FirstTurn, FirstTool: whole.FirstTool}
		row.Adopt(whole)
		row.NextTurn, row.NextTool = whole.FirstTurn+len(whole.Turns), whole.FirstTool+len(whole.ToolCalls)
		row.LastTurnAt = whole.LastTS()
		b.parts = append(b.parts, whole)
	}
	return nil
}

func (b *batch) whole(id string, sources []db.PartRow) (session.Session, error) {
	var own []ledger.Segment
	for _, p := range sources {
		if p.Session == id {
			own = append(own, ledger.Segment{Path: p.Segment, Blob: git.OID(p.Blob)})
		}
	}
	slices.SortFunc(own, ledger.Segment.Compare)
	var whole session.Session
	for _, seg := range slices.Compact(own) {
		e, err := ledger.ReadSegment(b.repo, seg.Blob)
		if err != nil {
			return whole, err
		}
		for _, p := range e.Sessions {
			if p.ID == id {
				whole.Absorb(p, session.Piece)
			}
		}
	}
	return whole, nil
}

func (b *batch) writeData(ctx context.Context) error {
	if len(b.redo) > 0 {
		if err := b.data.DropTurns(ctx, slices.Sorted(maps.Keys(b.redo))); err != nil {
			return err
		}
	}
	if err := b.data.ReplaceSessions(ctx, b.changedRows()); err != nil {
		return err
	}
	if err := b.data.AppendTurns(b.parts); err != nil {
		return err
	}
	if err := b.data.AppendTools(b.parts, b.timeOf); err != nil {
		return err
	}
	if err := b.data.AppendParts(b.sources); err != nil {
		return err
	}
	if err := b.data.AppendCheckpoints(b.cps); err != nil {
		return err
	}
	for _, e := range b.notes {
		if err := b.data.AppendNotes(e.Entry, e.email); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) writeIndex(ctx context.Context, together map[db.Together]int) error {
	if len(b.redo) > 0 {
		ids := slices.Sorted(maps.Keys(b.redo))
		if err := b.index.DropToolsIndex(ctx, ids); err != nil {
			return err
		}
		if err := search.Remove(ctx, b.index, ids); err != nil {
			return err
		}
	}
	if err := search.Add(ctx, b.index, b.parts, b.now()); err != nil {
		return err
	}
	if err := b.index.AppendToolsIndex(b.parts, b.timeOf); err != nil {
		return err
	}
	if err := b.index.AppendFilesIndex(b.files); err != nil {
		return err
	}
	if err := b.index.AppendCommits(b.cps); err != nil {
		return err
	}
	if err := b.index.AppendCode(b.cps); err != nil {
		return err
	}
	for _, e := range b.notes {
		if err := b.index.AppendRewrites(e.Rewrites); err != nil {
			return err
		}
	}
	if err := b.index.AddTogether(ctx, together); err != nil {
		return err
	}
	return b.index.ReplaceFacets(ctx, b.changedRows())
}

func (b *batch) changedRows() []db.SessionRow {
	out := make([]db.SessionRow, 0, len(b.changed))
	for _, id := range slices.Sorted(maps.Keys(b.changed)) {
		out = append(out, *b.rows[id])
	}
	return out
}

// timeOf gives a tool call the time of the turn before it; the session's start where there
// is none.
func (b *batch) timeOf(s session.Session, c session.ToolCall) time.Time {
	if i := c.Turn - s.FirstTurn; i >= 0 && i < len(s.Turns) {
		return s.Turns[i].TS
	}
	if ts, ok := b.turnAt[db.TurnKey{Session: s.ID, Index: c.Turn}]; ok {
		return ts
	}
	return s.StartedAt
}
