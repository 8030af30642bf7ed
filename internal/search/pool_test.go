package search_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// together asks several indexes at once.
func together(t *testing.T, all []*db.DB, text string, opt search.Options) (hits []search.Hit) {
	t.Helper()
	exchange := search.NewExchange(len(all))
	opt.Pool = exchange.Give
	found, failed := make([]search.Answer, len(all)), make([]error, len(all))
	var beside sync.WaitGroup
	for i, d := range all {
		beside.Go(func() {
			defer exchange.Leave()
			s, err := search.Open(context.Background(), d)
			if err == nil {
				found[i], err = s.Search(context.Background(), text, opt)
			}
			failed[i] = err
		})
	}
	beside.Wait()
	for i, err := range failed {
		if err != nil {
			t.Fatal(err)
		}
		hits = append(hits, found[i].Hits...)
	}
	slices.SortFunc(hits, func(a, b search.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Session, b.Session))
	})
	return hits
}

func indexOf(t *testing.T, parts ...session.Session) *db.DB {
	t.Helper()
	d := newIndex(t)
	add(t, d, parts...)
	return d
}

// unlike is an index whose sessions all speak of what is rare in the other one.
func unlike(t *testing.T) (common, rare *db.DB, all []session.Session) {
	t.Helper()
	var a, b []session.Session
	for i, s := range filler(40) {
		if i%2 == 0 {
			s.Turns[0].Content += " retry jitter"
			a = append(a, s)
		} else {
			b = append(b, s)
		}
	}
	b = append(b, talk("RETRY", "the upload has a retry with jitter now", "retry works"))
	return indexOf(t, a...), indexOf(t, b...), slices.Concat(a, b)
}

// TestPoolScoresAsOne checks that indexes in which a word is rare here and common there score as one that has all of
// their sessions. Alone, the one where it is rare calls it much rarer.
func TestPoolScoresAsOne(t *testing.T) {
	common, rare, all := unlike(t)
	opt := search.Options{K: 10}
	want, got := find(t, indexOf(t, all...), "retry jitter", opt), together(t, []*db.DB{common, rare}, "retry jitter", opt)
	if len(want) == 0 || len(got) < len(want) || want[0].Session != got[0].Session {
		t.Fatalf("one index found %+v, two found %+v", want, got)
	}
	if off := math.Abs(got[0].Score/want[0].Score - 1); off > 0.1 {
		t.Errorf("two indexes give %.3f, one gives %.3f", got[0].Score, want[0].Score)
	}
	if alone := find(t, rare, "retry jitter", opt); math.Abs(alone[0].Score/want[0].Score-1) < 0.15 {
		t.Errorf("alone it scores %.3f, which is what one index gives: nothing is tested", alone[0].Score)
	}
}

// TestPoolHidesWeak checks that what is weak in one index goes where another one answers, and stays where none does.
func TestPoolHidesWeak(t *testing.T) {
	near := indexOf(t, append(filler(20), talk("NEAR", "the jitter of the clock is measured"))...)
	right := indexOf(t, append(filler(20), talk("RIGHT", "retry with jitter for uploads",
		"the retry with jitter works"))...)
	if hits := find(t, near, "retry with jitter", search.Options{}); len(hits) == 0 || !hits[0].Weak {
		t.Fatalf("the near one is not weak: %+v", hits)
	}
	for _, h := range together(t, []*db.DB{near, right}, "retry with jitter", search.Options{}) {
		if h.Session != "RIGHT" || h.Weak {
			t.Errorf("%+v stands beside a strong answer", h)
		}
	}
	if hits := together(t, []*db.DB{near, indexOf(t, filler(20)...)}, "retry with jitter",
		search.Options{}); len(hits) == 0 || !hits[0].Weak {
		t.Errorf("nothing is strong, and %+v comes", hits)
	}
}

// TestPoolGuessesTogether checks that a word which another index holds is not read as another one.
func TestPoolGuessesTogether(t *testing.T) {
	near := indexOf(t, append(filler(20), talk("NEAR", "the skipper paid for the moorings"))...)
	right := indexOf(t, append(filler(20), talk("RIGHT", "mooirngs is the name of the new module"))...)
	if hits := find(t, near, "mooirngs", search.Options{}); len(hits) == 0 || hits[0].Session != "NEAR" {
		t.Fatalf("alone: %+v", hits)
	}
	if hits := together(t, []*db.DB{near, right}, "mooirngs", search.Options{}); len(hits) != 1 ||
		hits[0].Session != "RIGHT" {
		t.Errorf("together: %+v", hits)
	}
}

// TestPoolMeansAsOne checks that what is near only among the few sessions of one index counts as in one index of all.
func TestPoolMeansAsOne(t *testing.T) {
	few := []session.Session{
		talk("A0001", "my automobile broke down"), talk("A0002", "bread is baked at noon"),
		talk("A0003", "a letter was sent"),
	}
	var many []session.Session
	for i := range 40 {
		many = append(many, talk(fmt.Sprintf("B%04d", i), fmt.Sprint("the car is number ", i)))
	}
	indexes := []*db.DB{indexOf(t, few...), indexOf(t, many...), indexOf(t, slices.Concat(few, many)...)}
	for _, d := range indexes {
		embedAll(t, d, "m", dim, 100)
	}
	opt := asking("m", dim)
	opt.Weak = true
	of := func(hits []search.Hit) (score float64) {
		for _, h := range hits {
			if h.Session == "A0001" {
				score = h.Score
			}
		}
		return score
	}
	alone, pooled, one := of(find(t, indexes[0], "vehicle", opt)), of(together(t, indexes[:2], "vehicle", opt)),
		of(find(t, indexes[2], "vehicle", opt))
	if math.Abs(pooled-one) > 0.05 || alone < one+0.2 {
		t.Errorf("alone it scores %.3f, beside another index %.3f, in one index %.3f", alone, pooled, one)
	}
}

// TestExchangeWithoutAll checks that nobody waits for an index that can't be asked, or that is empty.
func TestExchangeWithoutAll(t *testing.T) {
	exchange := search.NewExchange(3)
	got := make(chan search.Pool)
	go func() { got <- exchange.Give(search.Pool{Strong: 1}) }()
	exchange.Leave()
	if all := exchange.Give(search.Pool{Strong: 2}); all.Strong != 2 {
		t.Errorf("%+v", all)
	}
	if all := <-got; all.Strong != 2 {
		t.Errorf("%+v", all)
	}
	full := indexOf(t, filler(20)...)
	if hits := together(t, []*db.DB{newIndex(t), full}, "login token", search.Options{}); len(hits) == 0 {
		t.Error("beside an empty index nothing is found")
	}
}
