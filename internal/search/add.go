package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Add makes parts findable, in ledger order. A part may continue a session that is already
// there. It fills turns_ft and, where there is a model, session_embeddings, with now as
// generated_at. It never trains a model: that is Train's.
//
// After an error the transaction must be rolled back.
func Add(ctx context.Context, tx *db.Tx, parts []session.Session, now time.Time) error {
	a, err := newAdder(ctx, tx)
	if err != nil {
		return err
	}
	if err := a.appendTurns(parts); err != nil {
		return err
	}
	for _, p := range parts {
		a.part(p)
	}
	if len(a.build.Units) == 0 {
		return nil
	}
	if err := a.store(ctx); err != nil {
		return err
	}
	for _, u := range a.build.Units {
		if u.Kind == lexical.Content {
			a.state.Turns++
		}
	}
	if a.state.Model.Dim > 0 {
		if err := a.foldIn(ctx, now); err != nil {
			return fmt.Errorf("search: model: %w", damaged(err))
		}
	}
	return writeState(ctx, tx, a.state)
}

// adder is the work of one Add.
type adder struct {
	tx       *db.Tx
	state    state
	runs     []*lexical.Header // as they were
	index    *lexical.Index    // as it was
	build    *lexical.Builder
	analyzer *analysis.Analyzer
	numbers  map[string]int // of the sessions that are there, by ID
	stems    [][]string     // of build's units; nil where a unit is no turn
}

func newAdder(ctx context.Context, tx *db.Tx) (*adder, error) {
	a := &adder{tx: tx, analyzer: analysis.New(), numbers: make(map[string]int)}
	var err error
	if a.state, err = readState(ctx, tx); err != nil {
		return nil, err
	}
	if a.runs, _, err = readHeaders(ctx, tx, a.state); err != nil {
		return nil, err
	}
	if a.index, err = lexical.NewIndex(a.runs, a.state.Removed); err != nil {
		return nil, fmt.Errorf("search: add: %w", damaged(err))
	}
	for n, id := range a.index.Sessions {
		if !a.index.Dead(n) {
			a.numbers[id] = n
		}
	}
	a.build = lexical.NewBuilder(len(a.index.Units()), len(a.index.Sessions))
	return a, nil
}

// appendTurns fills turns_ft.
func (a *adder) appendTurns(parts []session.Session) error {
	err := a.tx.Append("turns_ft", func(row func(...any) error) error {
		for _, p := range parts {
			for _, t := range p.Turns {
				id := session.RowID(t.TS, p.ID, "turn", t.Index)
				if err := row(id, p.ID, t.Index, t.Role, t.Content, timeText(t.TS)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("search: add: %w", err)
	}
	return nil
}

// timeText is turns_ft's ts: RFC 3339 in UTC to the millisecond, NULL when it is not known.
func timeText(ts time.Time) any {
	if ts.IsZero() {
		return nil
	}
	return ts.UTC().Format("2006-01-02T15:04:05.000Z")
}

// part adds the units of one part: its turns, then what its tool calls touched and ran, then its
// title.
func (a *adder) part(p session.Session) {
	n, ok := a.numbers[p.ID]
	if !ok {
		n = len(a.index.Sessions) + len(a.build.Sessions)
		a.numbers[p.ID] = n
		a.build.Sessions = append(a.build.Sessions, p.ID)
	}
	for _, t := range p.Turns {
		a.unit(n, t.Index, lexical.Content, t.Content)
	}
	var paths, commands []string
	for _, c := range p.ToolCalls {
		paths = append(paths, c.Path)
		commands = append(commands, c.Cmd)
	}
	a.unit(n, -1, lexical.Paths, distinct(paths))
	a.unit(n, -1, lexical.Commands, distinct(commands))
	a.unit(n, -1, lexical.Title, p.Title)
}

func (a *adder) unit(session, turn int, kind lexical.Kind, text string) {
	if text == "" && kind != lexical.Content {
		return
	}
	tokens := a.analyzer.Tokens(text)
	a.build.Add(lexical.Unit{Session: int32(session), Turn: int32(turn), Kind: kind}, tokens)
	var stems []string
	if kind == lexical.Content {
		for _, t := range tokens {
			if t.Kind == analysis.Word {
				stems = append(stems, t.Term)
			}
		}
	}
	a.stems = append(a.stems, stems)
}

// distinct joins the texts, each once, a line each.
func distinct(texts []string) string {
	seen := make(map[string]bool)
	texts = slices.DeleteFunc(texts, func(s string) bool {
		had := s == "" || seen[s]
		seen[s] = true
		return had
	})
	return strings.Join(texts, "\n")
}

// mergeRatio keeps the number of runs logarithmic: a new run takes in the runs before it as
// long as they have at most so many times its own units.
const mergeRatio = 3

// store writes the new postings as one run, merged with the runs before it that are not much
// larger, and drops those.
func (a *adder) store(ctx context.Context) error {
	header, lists := &a.build.Header, a.build.Lists()
	keep, units := len(a.runs), len(header.Units)
	for keep > 0 && a.state.Runs[keep-1].Units <= mergeRatio*units {
		keep--
		units += a.state.Runs[keep].Units
	}
	if keep < len(a.runs) {
		var err error
		if header, lists, err = a.merge(ctx, keep, lists); err != nil {
			return err
		}
	}
	blocks := lexical.Pack(header, lists)
	id := a.state.newRun()
	a.state.Runs = append(a.state.Runs[:keep:keep], runInfo{ID: id, Units: units})
	err := a.tx.WriteRun(ctx, id, append([][]byte{lexical.AppendHeader(nil, header)}, blocks...))
	if err != nil {
		return fmt.Errorf("search: add: %w", err)
	}
	return nil
}

// merge joins the runs from keep on with the new one, and drops them.
func (a *adder) merge(ctx context.Context, keep int, fresh map[string]*lexical.List) (*lexical.Header, map[string]*lexical.List, error) {
	number := make(map[int]int)
	var wants []db.Want
	for i, run := range a.state.Runs[keep:] {
		number[run.ID] = i
		wants = append(wants, db.Want{Run: run.ID, All: true})
	}
	blocks := make([][][]byte, len(wants))
	err := db.ReadBlocks(ctx, a.tx, wants, func(b db.Block) error {
		if b.No > 0 { // not the header
			blocks[number[b.Run]] = append(blocks[number[b.Run]], b.Data)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("search: merge: %w", damaged(err))
	}
	header, lists, err := lexical.Merge(a.runs[keep:], blocks)
	if err != nil {
		return nil, nil, fmt.Errorf("search: merge: %w", damaged(err))
	}
	header.Units = append(header.Units, a.build.Units...)
	header.Sessions = append(header.Sessions, a.build.Sessions...)
	for term, l := range fresh {
		lexical.Join(lists, term, l)
	}
	for _, w := range wants {
		if err := a.tx.DropRun(ctx, w.Run); err != nil {
			return nil, nil, fmt.Errorf("search: merge: %w", damaged(err))
		}
	}
	return header, lists, nil
}

// Remove takes sessions out: they are no longer found, and no statistic counts them. Their
// words stay in the postings, unread, until the index is rebuilt; what must not remain on disk
// calls for a rebuild.
func Remove(ctx context.Context, tx *db.Tx, sessionIDs []string) error {
	a, err := newAdder(ctx, tx)
	if err != nil {
		return err
	}
	for _, id := range sessionIDs {
		n, ok := a.numbers[id]
		if !ok {
			continue
		}
		a.state.Removed = append(a.state.Removed, n)
		for _, table := range []string{"turns_ft", "session_embeddings"} {
			if err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE session_id = ?", id); err != nil {
				return fmt.Errorf("search: remove: %w", err)
			}
		}
		delete(a.numbers, id)
	}
	slices.Sort(a.state.Removed)
	return writeState(ctx, tx, a.state)
}
