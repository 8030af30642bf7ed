package materialize

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// batch is a run of commits on its way into the index.
type batch struct {
	*store
	tx     *db.Tx
	readOn func() // see eachBatch

	rows    map[string]*db.SessionRow   // sessions that the batch touches or links
	whole   map[string]*session.Session // those that two machines captured, as they stand
	undone  map[string][]session.Span   // by session: turns that were taken back, of those of which a part says so
	changed map[string]bool             // sessions whose row or facets change
	// session → files that it edited, which no commit took to which it is tied; see db.Tx.UncommittedPaths
	pending  map[string]map[string]bool
	memories map[string]db.MemoryRow // those that the batch names
	parts    []session.Session       // what to append, in ledger order, numbered as it will stand
	usage    []db.UsageRow           // what their requests took
	entries  []db.EntryRow
	added    []db.PartRow      // what they added; those that search takes come in the order of indexed
	saved    []db.MemoryRow    // memories to append
	indexed  []session.Session // parts, and memories as search takes them, in ledger order
	cps      []session.Checkpoint
	ties     []attribution.Tie
	files    []db.FileRow
	dangling []db.DanglingLink
	notes    []entry
}

func newBatch(s *store, tx *db.Tx, readOn func()) *batch {
	return &batch{
		store: s, tx: tx, readOn: readOn,
		rows: map[string]*db.SessionRow{}, whole: map[string]*session.Session{}, changed: map[string]bool{},
		pending: map[string]map[string]bool{}, undone: map[string][]session.Span{},
	}
}

func (b *batch) write(ctx context.Context, entries []entry) error {
	if err := b.load(ctx, entries); err != nil {
		return err
	}
	var private []string
	for _, e := range entries {
		if err := b.addEntry(ctx, e); err != nil {
			return err
		}
		if e.private {
			private = append(private, e.idsBesideMarks()...)
		}
	}
	if err := b.tx.AddPrivate(ctx, private); err != nil {
		return err
	}
	return b.flush(ctx)
}

// load reads what the index knows of the sessions that the entries name. It returns
// errRestart for an entry that belongs before what they hold of one of its sessions.
func (b *batch) load(ctx context.Context, entries []entry) error {
	b.rename(entries)
	var ids []string
	for i, e := range entries {
		b.lastEntry++
		entries[i].n = b.lastEntry
		ids = append(ids, e.idsMentioned()...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for unread, n := ids, 0; len(unread) > 0 && n <= maxSpawned; n++ {
		rows, err := b.tx.Sessions(ctx, unread)
		if err != nil {
			return err
		}
		unread = nil
		for id, r := range rows {
			b.rows[id] = &r
			if r.Parent != "" && b.rows[r.Parent] == nil {
				unread = append(unread, r.Parent)
			}
		}
	}
	var err error
	if b.memories, err = b.tx.Memories(ctx, ids); err != nil {
		return err
	}
	if err := b.checkOrder(entries); err != nil {
		return err
	}
	b.pending, err = b.tx.UncommittedPaths(ctx, ids)
	return err
}

// checkOrder returns errRestart when an entry came late: it is earlier than what the tables hold of one of its sessions
// or memories. Which turn is whose number, which file is whose edit, and which of two things that share an ID is there
// would then depend on who was fetched first.
func (b *batch) checkOrder(entries []entry) error {
	if b.fresh {
		return nil
	}
	for _, e := range entries {
		for _, id := range e.idsBesideMarks() {
			if r := b.rows[id]; e.key < b.memories[id].Entry || r != nil && e.key < r.LastEntry {
				return errRestart
			}
		}
	}
	return nil
}

func (b *batch) notePending(id, path string, waits bool) {
	if b.pending[id] == nil {
		b.pending[id] = map[string]bool{}
	}
	b.pending[id][path] = waits || b.pending[id][path]
}

// addEntry adds what one commit says.
func (b *batch) addEntry(ctx context.Context, e entry) error {
	b.entries = append(b.entries, e.row())
	parts, ties := len(b.parts), len(b.ties)
	for _, p := range e.Sessions {
		if err := b.addPart(ctx, e, p); err != nil {
			return err
		}
	}
	for _, m := range e.Memories {
		b.addMemory(e, m)
	}
	if e.Checkpoint != nil {
		b.addCheckpoint(e, b.parts[parts:])
	}
	if len(e.Rewrites) > 0 {
		b.rewrote[address(e.email)] = true
	}
	if len(e.Purges)+len(e.Restores)+len(e.Rewrites)+len(e.Wrote) > 0 {
		b.addWrote(e)
	}
	b.tieSpawners(e, ties)
	return nil
}

// addPart adds a session's part. It mostly goes on where the session stands, and is appended as
// it is. Where two machines captured a session, each counted on from what it knew: then
// what is not there yet is numbered behind what is.
func (b *batch) addPart(ctx context.Context, e entry, p session.Session) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	if b.memories[p.ID].ID != "" {
		return nil // an ID is what its author first says that it is
	}
	p.Title = session.InformativePart(p.Title)
	row := b.rows[p.ID]
	if row == nil {
		row = b.newRow(e, p)
	}
	goesOn := p.FirstTurn == row.NextTurn && p.FirstTool == row.NextTool
	undoes := slices.ContainsFunc(p.Turns, func(t session.Turn) bool { return session.PromptsUndone(t.Content) > 0 })
	if (!goesOn || undoes) && b.whole[p.ID] == nil {
		if err := b.loadWhole(ctx, row); err != nil {
			return err
		}
	}
	if whole := b.whole[p.ID]; whole != nil {
		p = whole.Absorb(p, session.Piece)
		row.FirstTurn, row.FirstTool = whole.FirstTurn, whole.FirstTool
		if undoes {
			b.undone[p.ID] = session.UndoneSpans(whole.Turns)
		}
	}
	row.TakeHead(p)
	row.NextTurn, row.NextTool = p.FirstTurn+len(p.Turns), p.FirstTool+len(p.ToolCalls)
	row.LastEntry = e.key
	if last := p.LastTS(); len(p.Turns) > 0 && last.After(row.LastTurnAt) {
		row.LastTurnAt = last
	}
	b.changed[p.ID], b.grew = true, b.grew || b.purged[p.ID]
	b.parts, b.indexed = append(b.parts, p), append(b.indexed, p)
	b.added = append(b.added, db.PartRow{
		Item: p.ID, Entry: e.n, K: len(b.added), Turn: p.FirstTurn, NextTurn: row.NextTurn, Tool: p.FirstTool,
		NextTool: row.NextTool,
		Title:    row.Title, Branch: row.Branch, Facts: row.Facts,
	})
	for _, u := range p.Usage {
		u.Model = cmp.Or(u.Model, row.Model) // a part that goes on may not name it again
		b.usage = append(b.usage, db.UsageRow{Usage: u, Session: p.ID, Checkpoint: string(e.OID), Started: p.StartedAt})
	}
	for _, c := range p.ToolCalls {
		if path := c.EditedPath(); path != "" {
			b.notePending(p.ID, path, e.Checkpoint != nil) // an import is behind the commits that took its edits
		}
	}
	return nil
}

// addMemory adds a memory. One that repeats an ID of the same author is dropped.
func (b *batch) addMemory(e entry, m session.Memory) {
	if b.rows[m.ID] != nil || b.memories[m.ID].ID != "" {
		return
	}
	if m.TS.IsZero() {
		m.TS = e.at
	}
	if m.ActorType != session.ActorAgent {
		m.ActorType = session.ActorHuman
	}
	row := db.MemoryRow{Memory: m, Email: e.email, Entry: e.key}
	b.memories[m.ID], b.saved = row, append(b.saved, row)
	b.added = append(b.added, db.PartRow{Item: m.ID, Entry: e.n, K: len(b.added), NextTurn: 1, Title: m.Title})
	if !isScrubbed(row) {
		b.indexed = append(b.indexed, m.AsSession())
	}
}

// isScrubbed reports whether nothing is left of a memory: no recall shows it.
func isScrubbed(m db.MemoryRow) bool { return m.Content == session.Scrubbed }

// newRow begins the row of a session, whose first part p is.
func (b *batch) newRow(e entry, p session.Session) *db.SessionRow {
	row := &db.SessionRow{Email: e.email, CapturedAt: e.at, NextTurn: p.FirstTurn, NextTool: p.FirstTool}
	if e.Checkpoint != nil {
		row.Email, row.CapturedAt = e.Checkpoint.UserEmail, e.Checkpoint.TS
	}
	row.FirstTurn, row.FirstTool = p.FirstTurn, p.FirstTool
	b.rows[p.ID] = row
	return row
}

// loadWhole puts together what is there of a session: in the tables, and before in the batch.
func (b *batch) loadWhole(ctx context.Context, row *db.SessionRow) error {
	whole := &session.Session{ID: row.ID, FirstTurn: row.FirstTurn, FirstTool: row.FirstTool, StartedAt: row.StartedAt}
	if err := b.tx.LoadTurns(ctx, whole); err != nil {
		return err
	}
	for _, p := range b.parts {
		if p.ID == row.ID {
			whole.Turns, whole.ToolCalls = append(whole.Turns, p.Turns...), append(whole.ToolCalls, p.ToolCalls...)
		}
	}
	b.whole[row.ID] = whole
	return nil
}

// addCheckpoint ties a checkpoint to the sessions that it adds parts to and to those that it links,
// and gives its files to those whose they are.
func (b *batch) addCheckpoint(e entry, parts []session.Session) {
	cp := *e.Checkpoint
	cp.ID = string(e.OID)
	cp.Links = b.resolveLinks(e)
	b.code = append(b.code, cp.GitSHA)
	guessed := len(cp.Links) > 0
	b.assignFiles(&cp, parts, e.Wrote)
	if guessed && len(cp.Links) == 0 {
		return
	}
	b.cps = append(b.cps, cp)
	for _, l := range cp.Links {
		if l.Tie == 0 {
			continue
		}
		turn := -1
		if i := slices.IndexFunc(parts, func(p session.Session) bool { return p.ID == l.Session }); i >= 0 {
			turn = firstPrompt(parts[i])
		}
		b.ties = append(b.ties, attribution.Tie{
			Session: l.Session, Checkpoint: cp.ID, SHA: cp.GitSHA, Email: address(e.email), Kind: l.Tie, TS: cp.TS, Turn: turn,
			Evidence: l.Evidence,
		})
		for _, f := range cp.Files {
			delete(b.pending[l.Session], f.Path)
			delete(b.pending[l.Session], f.OldPath)
		}
	}
}

// firstPrompt is the first turn of a part in which somebody asks for something, or else its first; -1 for none.
func firstPrompt(part session.Session) int {
	if len(part.Turns) == 0 {
		return -1
	}
	i := slices.IndexFunc(part.Turns, func(t session.Turn) bool { return t.Role == session.RoleHuman })
	return part.Turns[max(i, 0)].Index
}

// resolveLinks are an entry's ties to sessions that are there.
func (b *batch) resolveLinks(e entry) []session.Link {
	for i, l := range e.Checkpoint.Links {
		if b.rows[l.Session] == nil {
			b.dangling = append(b.dangling, db.DanglingLink{Session: e.linked[i], Entry: e.key})
		}
	}
	var all []session.Link
	for _, p := range e.Sessions {
		all = append(all, session.Link{Session: p.ID})
	}
	all = append(all, e.Checkpoint.Links...)
	return slices.DeleteFunc(all, func(l session.Link) bool {
		row := b.rows[l.Session]
		if row != nil {
			b.changed[l.Session], row.LastEntry = true, e.key
		}
		return row == nil
	})
}

// flush writes what was taken.
func (b *batch) flush(ctx context.Context) error {
	units, err := search.AddWhile(ctx, b.tx, b.indexed, func() error {
		defer b.readOn() // what follows is for one core
		return b.appendRows(ctx)
	})
	if err != nil {
		return err
	}
	for i, n := 0, 0; i < len(b.added) && n < len(b.indexed); i++ {
		if b.added[i].Item == b.indexed[n].ID { // else it is a memory of which nothing is left
			b.added[i].Unit, b.added[i].NextUnit = units[n], units[n+1]
			n++
		}
	}
	return b.tx.AppendParts(ctx, b.added)
}

// appendRows writes the rows of all tables but those of search.
func (b *batch) appendRows(ctx context.Context) error {
	rows := b.changedRows()
	found := slices.DeleteFunc(slices.Clone(b.saved), isScrubbed)
	var noted error
	for _, e := range b.notes {
		noted = cmp.Or(noted, b.tx.AppendNotes(ctx, e.Entry, e.row()))
	}
	return cmp.Or( // behind the first that fails none does anything
		noted,
		b.tx.AppendEntries(ctx, b.entries),
		b.tx.ReplaceSessions(ctx, rows),
		b.tx.AppendTurns(ctx, b.indexed),
		b.tx.ReplaceUndone(ctx, b.undone),
		b.tx.AppendTools(ctx, b.parts),
		b.tx.AppendFailures(ctx, b.parts),
		b.tx.AppendUsage(ctx, b.usage),
		b.tx.ReplaceUncommittedPaths(ctx, b.pending),
		b.tx.AppendMemories(ctx, b.saved),
		b.tx.AppendDangling(ctx, b.dangling),
		b.tx.AppendCheckpoints(ctx, b.cps),
		b.tx.AppendShares(ctx, b.files),
		b.tx.AddTouches(ctx, b.touches()),
		b.tx.AddRenames(ctx, b.cps),
		b.tx.AppendTies(ctx, b.ties),
		b.tx.AppendCode(ctx, b.cps),
		b.tx.AppendMemoryFacets(ctx, found),
		b.tx.ReplaceFacets(ctx, rows))
}

// touches are the paths that sessions' tools named and that their commits changed, each once.
func (b *batch) touches() []db.Touch {
	set := map[db.Touch]bool{}
	for _, p := range b.parts {
		for _, c := range p.ToolCalls {
			if path := c.TouchedPath(); path != "" {
				set[db.Touch{Path: path, Session: p.ID}] = true
			}
		}
	}
	for _, f := range b.files {
		set[db.Touch{Path: f.Path, Session: f.Session}] = true
	}
	return slices.Collect(maps.Keys(set))
}

func (b *batch) changedRows() []db.SessionRow {
	out := make([]db.SessionRow, 0, len(b.changed))
	for _, id := range slices.Sorted(maps.Keys(b.changed)) {
		out = append(out, *b.rows[id])
	}
	return out
}
