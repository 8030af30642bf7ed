package recall_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// A brief answer is the whole one, in the same order and with the same scores, of which only the best is shown.
func TestBrief(t *testing.T) {
	p := newPlace(t)
	var all session.Entry
	for i := range 14 { // the later, the less it says of tokens
		lines := []string{"human the token topic"}
		if i > 11 {
			lines = []string{"human the token", "assistant a topic of its own"}
		}
		all.Sessions = append(all.Sessions, chat(fmt.Sprintf("s%02d", i), i, lines...))
	}
	id := session.NewMemoryID(at(20), alice, "token topic", "the token topic: tokens")
	all.Memories = []session.Memory{{
		ID: id, Title: "token topic", Content: "the token topic: tokens", Source: "manual",
		TS: at(20), ActorType: session.ActorHuman,
	}}
	p.append(alice, 30, all)
	p.open()
	for _, c := range []struct {
		name       string
		req        recall.Request
		want, more int
	}{
		{"no query", recall.Request{}, 10, 5},
		{"a query", recall.Request{Query: "token topic"}, 10, 5},
		{"few that say much", recall.Request{Query: "token topic", IDs: idsOf(all.Sessions[9:])}, 3, 2},
		{"a memory hides no session", recall.Request{Query: "token topic", IDs: append(idsOf(all.Sessions[9:12]), id)}, 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := p.recall(c.req)
			c.req.Brief = true
			brief := p.recall(c.req)
			want, got := mentions(whole.Results), mentions(brief.Results)
			harness.Equal(t, "shown", c.want, len(got))
			harness.Equal(t, "more", c.more, len(brief.More))
			harness.Equal(t, "all", want, append(got, brief.More...))
			harness.Equal(t, "total", whole.Total, brief.Total)
			if !slices.IsSortedFunc(want, func(a, b result.Mention) int { return int(1e4 * (b.Score - a.Score)) }) {
				t.Errorf("the order is not that of the scores: %v", want)
			}
			c.req.Limit = 2
			limited := p.recall(c.req)
			harness.Equal(t, "-n 2", want[:2], mentions(limited.Results))
			harness.Equal(t, "more of -n 2", 0, len(limited.More))
		})
	}
}

func mentions(hits []result.Hit) (out []result.Mention) {
	for _, h := range hits {
		out = append(out, result.Mention{ID: h.ID, Score: h.Score, Title: h.Title})
	}
	return out
}

func idsOf(all []session.Session) (ids []string) {
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

// Who wrote much has three of ten results where others answer, too, and all of them where nobody does.
func TestAmongAuthors(t *testing.T) {
	p := newPlace(t)
	var flood session.Entry
	for i := range 40 {
		m := session.Memory{
			Title: fmt.Sprint("kangaroo ", i), Content: fmt.Sprint("kangaroo kangaroo note ", i),
			Source: "manual", TS: at(20), ActorType: session.ActorHuman,
		}
		m.ID = session.NewMemoryID(at(20), bob, m.Title, m.Content)
		flood.Memories, p.names[m.ID] = append(flood.Memories, m), "flood"
	}
	p.append(bob, 30, flood)
	talks := session.Entry{}
	for _, name := range []string{"hop", "gate"} {
		talks.Sessions = append(talks.Sessions, chat(name, 0,
			"human why does the kangaroo need a "+name+" so early in the day", "assistant it is rested"))
	}
	p.append(alice, 31, talks)
	p.open()
	for _, c := range []struct {
		name      string
		req       recall.Request
		hers, his int
		more      bool
	}{
		{"brief", recall.Request{Query: "kangaroo", Brief: true}, 2, 3, true},
		{"brief, and nobody else", recall.Request{Query: "kangaroo", Brief: true, Author: bob}, 0, 10, true},
		{"ten", recall.Request{Query: "kangaroo", Limit: 10}, 2, 8, false},
		{"five", recall.Request{Query: "kangaroo", Limit: 5}, 2, 3, false},
		{"three", recall.Request{Query: "kangaroo", Limit: 3}, 0, 3, false},
		{"his", recall.Request{Query: "kangaroo", Limit: 10, Author: bob}, 0, 10, false},
		{"all", recall.Request{Query: "kangaroo"}, 2, 40, false},
	} {
		out := p.recall(c.req)
		hers := 0
		for _, h := range out.Results {
			if h.Author == alice {
				hers++
			}
		}
		harness.Equal(t, c.name, [2]int{c.hers, c.his}, [2]int{hers, len(out.Results) - hers})
		harness.Equal(t, c.name+": more", c.more, len(out.More) > 0)
		harness.Equal(t, c.name+": in the order of scores", true,
			slices.IsSortedFunc(out.Results, func(a, b result.Hit) int { return cmp.Compare(b.Score, a.Score) }))
		seen := map[string]bool{}
		for _, h := range out.Results {
			seen[h.ID] = true
		}
		for _, m := range out.More {
			seen[m.ID] = true
		}
		if c.name == "brief" && len(seen) != len(out.Results)+20 { // of 42
			t.Errorf("%d are named, %d of them as results", len(seen), len(out.Results))
		}
	}
}
