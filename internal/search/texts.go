package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/session"
)

// texts says where the texts of the turns in a run of postings are: in runs of their own, in the order
// of their units: what a recall shows of a turn lies beside what it found it by.
type texts []textRun

// textRun is texts in blocks, by the numbers of their units.
type textRun struct {
	run   int
	fence block.Fence
}

// textBlock is how much text is read at a time, in bytes.
const textBlock = 16 << 10

// A new run of texts takes in those before it while it has no more than a part of all texts, or is
// small: what is merged stands in the file twice until the next commit, and nothing is gained by
// fewer than some dozen runs.
const (
	textShare  = 16
	smallTexts = 256 << 10
)

// at is the place of the run that holds a unit, if one does.
func (t texts) at(unit int) int {
	key := textKey(unit)
	return sort.Search(len(t), func(i int) bool { return t[i].fence.Keys[0] > key }) - 1
}

// span is where the text of a unit is.
func (t texts) span(unit int) db.Span {
	i := t.at(unit)
	if i < 0 {
		return db.Span{}
	}
	from, to := t[i].fence.Find(textKey(unit))
	return db.Span{Run: t[i].run, From: from, To: to}
}

// size is how many bytes there are.
func (t texts) size() (n int64) {
	for _, r := range t {
		n += r.fence.End()
	}
	return n
}

func (t texts) append(dst []byte) []byte {
	dst = block.AppendInt(dst, len(t))
	for _, r := range t {
		dst = block.AppendFence(block.AppendInt(dst, r.run), r.fence)
	}
	return dst
}

func readTexts(r *block.Reader) texts {
	out := make(texts, r.Count())
	for i := range out {
		out[i] = textRun{r.Int(), r.Fence()}
		if len(out[i].fence.Keys) == 0 {
			r.Bad = true
			return nil
		}
	}
	return out
}

// textKey sorts as the numbers do.
func textKey(unit int) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(unit)))
}

// unitOf is the number that textKey made a key of.
func unitOf(key []byte) (unit int, ok bool) {
	if len(key) != 4 {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(key)), true
}

func appendText(dst []byte, t session.Turn) []byte {
	return append(block.AppendBytes(dst, []byte(t.Role)), t.Content...)
}

// storeTexts writes the texts that are new, and tells where they and those of the runs from keep on
// are.
func (a *adder) storeTexts(ctx context.Context, keep int) (texts, error) {
	a.texts.Flush()
	fence := a.texts.Fence
	before := slices.Concat(a.heads.texts[keep:]...)
	if len(fence.Keys) == 0 {
		return before, nil
	}
	size, n := fence.End(), len(before)
	most := max(smallTexts, (slices.Concat(a.heads.texts...).size()+size)/textShare)
	for ; n > 0 && size+before[n-1].fence.End() <= most; n-- {
		size += before[n-1].fence.End()
	}
	id := a.state.newRun()
	out := a.tx.NewRun(ctx, id)
	joined := textRun{run: id}
	for _, old := range before[n:] {
		if err := a.copyTexts(ctx, out, old); err != nil {
			return nil, err
		}
		joined.add(old.fence)
	}
	joined.add(fence)
	out.Write(a.texts.Take())
	return append(before[:n:n], joined), out.Close()
}

// copyTexts copies a run to another, and drops it.
func (a *adder) copyTexts(ctx context.Context, out *db.RunWriter, old textRun) error {
	all := db.Span{Run: old.run, To: old.fence.End()}
	for next := source(ctx, a.tx, all); ; {
		data, err := next()
		if err != nil {
			return err
		}
		if len(data) == 0 {
			return a.tx.DropRun(ctx, old.run)
		}
		out.Write(data)
	}
}

// add puts blocks behind those that are there.
func (t *textRun) add(f block.Fence) {
	end := t.fence.End()
	t.fence.Keys = append(t.fence.Keys, f.Keys...)
	for _, e := range f.Ends {
		t.fence.Ends = append(t.fence.Ends, end+e)
	}
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
			if p.Kind.Turn() && asked[p.Session] {
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
			return decodeText(entries.Value, at.turn)
		}
	}
	return session.Turn{}, block.ErrFormat
}

// decodeText reads what appendText wrote of the turn with an index.
func decodeText(data []byte, index int) (session.Turn, error) {
	r := block.Reader{Data: data}
	role := string(r.Bytes())
	return session.Turn{Index: index, Role: role, Content: string(r.Data)}, r.Err()
}
