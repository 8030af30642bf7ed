package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Add makes parts findable, in ledger order, whose turns stand in their table. A part may continue a session that is
// already there.
//
// After an error the transaction must be rolled back.
func Add(ctx context.Context, tx *db.Tx, parts []session.Session) error {
	_, err := AddWhile(ctx, tx, parts, func() error { return nil })
	return err
}

// AddWhile is Add that reads the texts while store puts the turns into their table. When store fails, its error is
// returned as soon as the reading has ended. It returns the number of the first unit of each part, and behind them that
// which comes next.
func AddWhile(ctx context.Context, tx *db.Tx, parts []session.Session, store func() error) (units []int, err error) {
	if len(parts) == 0 {
		return nil, store()
	}
	a, err := newAdder(ctx, tx)
	if err != nil {
		return nil, err
	}
	units = []int{a.index.Units()}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	var rest []session.Session
	var read sync.WaitGroup
	read.Go(func() { rest = a.addParts(reading, parts, &units) })
	if err = store(); err != nil {
		stop()
	}
	read.Wait()
	if err == nil {
		err = a.finish(ctx)
	}
	for err == nil && len(rest) > 0 {
		if a, err = newAdder(ctx, tx); err == nil { // the one before is let go
			rest = a.addParts(ctx, rest, &units)
			err = a.finish(ctx)
		}
	}
	return units, err
}

// finish stores what was read of parts, as many as fit into memory.
func (a *adder) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // then not all was read
		return fmt.Errorf("search: add: %w", err)
	}
	if a.build.Units() == 0 {
		return nil
	}
	if err := a.store(ctx); err != nil {
		return fmt.Errorf("search: add: %w", asCorrupt(err))
	}
	return writeState(ctx, a.tx, a.state)
}

// adder is the work of one Add.
type adder struct {
	tx       *db.Tx
	state    state
	heads    *headers       // as they were
	index    *lexical.Index // as it was
	build    *lexical.Builder
	analyzer *analysis.Analyzer
	numbers  map[string]int // of the sessions that are there, by ID
}

func newAdder(ctx context.Context, tx *db.Tx) (*adder, error) {
	a := &adder{tx: tx, analyzer: analysis.New(), numbers: make(map[string]int)}
	var err error
	if a.state, err = readState(ctx, tx); err != nil {
		return nil, err
	}
	if a.heads, err = readHeaders(ctx, tx, a.state); err != nil {
		return nil, err
	}
	if a.index, err = lexical.NewIndex(a.heads.runs, nil); err != nil {
		return nil, fmt.Errorf("search: add: %w", asCorrupt(err))
	}
	for n, id := range a.index.Sessions {
		a.numbers[id] = n
	}
	a.build = lexical.NewBuilder(a.index.Units(), len(a.index.Sessions))
	return a, nil
}

// What is collected in memory before it is stored: so many terms, at 2 KB each and more, with a turn or the calls that
// come last. 8 MB of sessions have fewer; of words that nobody said before a turn alone may bring twice as many.
const (
	maxTerms = 1 << 17
	maxCalls = 1 << 20 // bytes
)

// addParts adds units until there are enough, or ctx ends. Where that is within a part, the rest of it is left over. To
// units it adds where each part ends.
func (a *adder) addParts(ctx context.Context, parts []session.Session, units *[]int) (rest []session.Session) {
	for i, p := range parts {
		if left := a.addPart(ctx, p); left != nil {
			return append([]session.Session{*left}, parts[i+1:]...)
		}
		*units = append(*units, a.index.Units()+a.build.Units())
	}
	return nil
}

// addPart adds the units of one part: its turns, then what its tool calls wrote, read and ran, then its title. It tells
// what is left.
func (a *adder) addPart(ctx context.Context, p session.Session) (left *session.Session) {
	number, ok := a.numbers[p.ID]
	if !ok {
		number = len(a.index.Sessions) + len(a.build.Sessions)
		a.numbers[p.ID] = number
		a.build.Sessions = append(a.build.Sessions, p.ID)
	}
	rest := p
	rest.Turns = p.Turns[a.addTurns(ctx, number, p):]
	if len(rest.Turns) == 0 {
		rest.ToolCalls = p.ToolCalls[a.addCalls(number, p.ToolCalls):]
	}
	if len(rest.Turns)+len(rest.ToolCalls) > 0 {
		return &rest
	}
	a.addUnit(number, lexical.Title, p.Title)
	return nil
}

// addTurns adds a unit for each turn, and tells for how many.
func (a *adder) addTurns(ctx context.Context, n int, p session.Session) int {
	for i, t := range p.Turns {
		if a.build.Terms() > maxTerms || ctx.Err() != nil {
			return i
		}
		kind, said := lexical.Content, t.Content
		if p.Memory {
			kind, said = lexical.Memory, memoryText(p.Title, t.Content)
		}
		a.build.Add(n, t.Index, kind, a.analyzer.Tokens(said))
	}
	return len(p.Turns)
}

// addCalls adds what tool calls wrote, read and ran, and tells of how many.
func (a *adder) addCalls(n int, calls []session.ToolCall) int {
	var edited, paths, commands []string
	edits, bytes, took := map[string]bool{}, 0, 0
	for _, c := range calls {
		if bytes > maxCalls {
			break
		}
		took++
		bytes += len(c.Path) + len(c.Cmd)
		if path := c.EditedPath(); path != "" {
			edited, edits[path] = append(edited, path), true
		}
		commands = append(commands, c.Cmd)
	}
	for _, c := range calls[:took] {
		if path := c.TouchedPath(); !edits[path] {
			paths = append(paths, path)
		}
	}
	a.addUnit(n, lexical.Edited, distinct(edited))
	a.addUnit(n, lexical.Paths, distinct(paths))
	a.addUnit(n, lexical.Commands, distinct(commands))
	return took
}

// memoryText is what a memory says: its title, too, where that is not the text's own beginning.
func memoryText(title, content string) string {
	if strings.HasPrefix(content, title) {
		return content
	}
	return title + "\n" + content
}

func (a *adder) addUnit(session int, kind lexical.Kind, text string) {
	if text != "" {
		a.build.Add(session, -1, kind, a.analyzer.Tokens(text))
	}
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

// store writes the new postings as one run, merged with the runs before it that are not much
// larger, and drops those.
func (a *adder) store(ctx context.Context) error {
	keep := countKeptRuns(a.state.Runs, a.build.Units())
	id := a.state.newRun()
	out := a.tx.NewRun(ctx, id)
	w := &lexical.Writer{Header: &a.build.Header}
	a.build.Write(w.Put)
	if keep < len(a.state.Runs) {
		var err error
		if w, err = a.merge(ctx, keep, w, out); err != nil {
			return err
		}
	}
	rest, header := w.Finish()
	out.Write(rest)
	run, err := finishRun(out, id, w.Header.Units(), header)
	if err != nil {
		return err
	}
	a.state.Runs, err = replaceRuns(ctx, a.tx, a.state.Runs, keep, run)
	return err
}

// merge joins the runs from keep on with the new one; what is done goes to out.
func (a *adder) merge(ctx context.Context, keep int, fresh *lexical.Writer,
	out *db.RunWriter,
) (*lexical.Writer, error) {
	var headers []*lexical.Header
	var entries []*block.Entries
	for i, run := range a.state.Runs[keep:] {
		h := a.heads.runs[keep+i]
		headers = append(headers, h)
		entries = append(entries, block.NextEntries(readPiecewise(ctx, a.tx, db.Span{Run: run.ID, To: h.Fence.End()})))
	}
	data, _ := fresh.Finish()
	headers = append(headers, &a.build.Header)
	entries = append(entries, block.NewEntries(data[:a.build.Fence.End()]))
	merged := &lexical.Writer{}
	var err error
	merged.Header, err = lexical.Merge(headers, entries, func(term string, postings []byte) {
		merged.Put(term, postings)
		out.Write(merged.Take())
	})
	return merged, err
}

// Hide hides the given sessions and shows all others. A hidden session is no hit, and does not count for the weights of
// words. Its postings stay on disk, so that it can be shown again as it was. To remove a session from disk, rebuild the
// index from a ledger without it. IDs that were not added yet are ignored.
func Hide(ctx context.Context, tx *db.Tx, sessionIDs []string) error {
	a, err := newAdder(ctx, tx)
	if err != nil {
		return err
	}
	a.state.Hidden = nil
	for _, id := range sessionIDs {
		if n, ok := a.numbers[id]; ok {
			a.state.Hidden = append(a.state.Hidden, n)
		}
	}
	slices.Sort(a.state.Hidden)
	return writeState(ctx, tx, a.state)
}
