package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/session"
)

// EntryRow is an entry of a ledger, which brought rows of other tables.
type EntryRow struct {
	N      int    // numbers count on, in the order in which entries came here
	ID     string // that of its checkpoint, if it has one
	Commit string // that holds it
	Email  string // whose ledger
	Key    string // its place in the order of all
}

func (e *EntryRow) columns() []any { return asList(&e.N, &e.ID, &e.Commit, &e.Email, &e.Key) }

// AppendEntries adds entries.
func (t *Tx) AppendEntries(ctx context.Context, rows []EntryRow) error {
	return writeRows(ctx, t, "INSERT INTO entries", rows, (*EntryRow).columns)
}

// Entries reads all entries.
func Entries(ctx context.Context, q Querier) ([]EntryRow, error) {
	return readRows(query(ctx, q, "SELECT * FROM entries"), (*EntryRow).columns)
}

// LastEntry is the highest number of an entry; 0 for none.
func (t *Tx) LastEntry(ctx context.Context) (n int, err error) {
	err = query(ctx, t, "SELECT coalesce(max(n), 0) FROM entries").one(&n)
	return n, err
}

// PartRow says what an entry added to a session, or that it holds a memory: its turns, calls and units of the search,
// each from one number to the one behind the last, and what the session was called from then on.
type PartRow struct {
	Item           string
	Entry, K       int // K tells the parts of one session in one entry apart
	Turn, NextTurn int
	Tool, NextTool int
	Unit, NextUnit int
	Title, Branch  string
	session.Facts
}

func (p *PartRow) columns() []any {
	return withFacts(&p.Facts, &p.Item, &p.Entry, &p.K, &p.Turn, &p.NextTurn, &p.Tool, &p.NextTool, &p.Unit, &p.NextUnit,
		textColumn{&p.Title}, textColumn{&p.Branch})
}

// AppendParts adds parts.
func (t *Tx) AppendParts(ctx context.Context, rows []PartRow) error {
	return writeRows(ctx, t, "INSERT INTO parts", rows, (*PartRow).columns)
}
