package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/session"
)

// texts is what the turns of a run of postings say: blocks behind the postings, by the numbers of
// their units. They stand in turns_ft, too, where ten of them cost a recall as much as all else that
// it reads: the engine reads what stands beside each.
type texts struct {
	run   int
	from  int64 // where the blocks begin
	fence block.Fence
}

// textBlock is how much text is read at a time, in bytes.
const textBlock = 16 << 10

// span is where the text of a unit is.
func (t texts) span(unit int) db.Span {
	from, to := t.fence.Find(textKey(unit))
	return db.Span{Run: t.run, From: t.from + from, To: t.from + to}
}

// all is where all of them are.
func (t texts) all() db.Span {
	return db.Span{Run: t.run, From: t.from, To: t.from + t.fence.End()}
}

// textKey sorts as the numbers do.
func textKey(unit int) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(unit)))
}

func appendText(dst []byte, t session.Turn) []byte {
	return append(block.AppendBytes(dst, []byte(t.Role)), t.Content...)
}

// storeTexts writes the texts of the runs from keep on and those that are new, and returns their
// fence.
func (a *adder) storeTexts(ctx context.Context, keep int, out *db.RunWriter) (fence block.Fence, err error) {
	add := func(f block.Fence) {
		end := fence.End()
		fence.Keys = append(fence.Keys, f.Keys...)
		for _, e := range f.Ends {
			fence.Ends = append(fence.Ends, end+e)
		}
	}
	for _, t := range a.heads.texts[keep:] {
		add(t.fence)
		for next := source(ctx, a.tx, t.all()); ; {
			data, err := next()
			if err != nil {
				return fence, err
			}
			if len(data) == 0 {
				break
			}
			out.Write(data)
		}
	}
	a.texts.Flush()
	add(a.texts.Fence)
	out.Write(a.texts.Take())
	return fence, nil
}

// First asks Turns for the first turn of a session.
const First = math.MinInt

// Turns reads a turn of each session, by its index or First. A session that has no such turn is
// missing.
func (s *Searcher) Turns(ctx context.Context, wanted map[string]int) (map[string]session.Turn, error) {
	places := s.places(wanted)
	ids := slices.Sorted(maps.Keys(places))
	spans := make([]db.Span, len(ids))
	for i, id := range ids {
		spans[i] = s.heads.texts[places[id].run].span(places[id].unit)
	}
	data, err := db.ReadSpans(ctx, s.db, spans)
	if err != nil {
		return nil, fmt.Errorf("search: read turns: %w", err)
	}
	out := make(map[string]session.Turn, len(ids))
	for i, id := range ids {
		if out[id], err = readText(data[i], places[id]); err != nil {
			return nil, fmt.Errorf("search: read turns: %w", damaged(err))
		}
	}
	return out, nil
}

// place is where a turn is.
type place struct{ run, unit, turn int }

// places finds turns, by session.
func (s *Searcher) places(wanted map[string]int) map[string]place {
	numbers := make(map[int32]string, len(wanted))
	asked := make([]bool, len(s.index.Sessions))
	for n, id := range s.index.Sessions {
		if _, ok := wanted[id]; ok && !s.index.Dead(n) {
			numbers[int32(n)], asked[n] = id, true
		}
	}
	out := make(map[string]place, len(wanted))
	for r, h := range s.heads.runs {
		unit := h.Base
		for _, p := range h.Parts {
			if p.Kind == lexical.Content && asked[p.Session] {
				id := numbers[p.Session]
				had, found := out[id]
				at, from := wanted[id], int(p.Turn)
				switch {
				case at == First && (!found || from < had.turn):
					out[id] = place{r, unit, from}
				case at >= from && at < from+int(p.Units) && !found:
					out[id] = place{r, unit + at - from, at}
				}
			}
			unit += int(p.Units)
		}
	}
	return out
}

func readText(data []byte, at place) (session.Turn, error) {
	key := textKey(at.unit)
	entries := block.NewEntries(data)
	for entries.Next() {
		if string(entries.Key) == key {
			r := block.Reader{Data: entries.Value}
			role := string(r.Bytes())
			return session.Turn{Index: at.turn, Role: role, Content: string(r.Data)}, r.Err()
		}
	}
	return session.Turn{}, block.ErrFormat
}
