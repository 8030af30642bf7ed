package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// TestTurns adds sessions in many calls, so that runs are merged, and reads every turn back.
func TestTurns(t *testing.T)     { checkTurns(t, 20, 8) }
func TestLongTurns(t *testing.T) { checkTurns(t, 60, 30) }

// checkTurns makes so many sessions of at most so many turns.
func checkTurns(t *testing.T, many, turns int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var sessions []session.Session
	most := 0
	for i := range many {
		s := session.Session{ID: fmt.Sprintf("S%02d", i), Title: "a title"}
		for n := range 1 + r.IntN(turns) {
			text := strings.Repeat(fmt.Sprintf("turn %d of %d — ", n, i), r.IntN(200)) // some are empty
			s.Turns = append(s.Turns, session.Turn{Index: 2 + n, Role: []string{"human", "assistant"}[n%2], Content: text})
		}
		s.Turns[0].Content = fmt.Sprintf("it begins with %d", i)
		most = max(most, len(s.Turns))
		sessions = append(sessions, s)
	}
	d := newIndex(t)
	for parts := split(r, sessions, turns); len(parts) > 0; {
		n := min(1+r.IntN(5), len(parts))
		add(t, d, parts[:n]...)
		parts = parts[n:]
	}
	hide(t, d, "S07")
	s, err := search.Open(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, index func(session.Session) int) {
		wanted, want := map[string]int{"nobody": 1}, map[string]session.Turn{}
		for _, x := range sessions {
			n := index(x)
			if wanted[x.ID] = n; n == search.First {
				n = x.Turns[0].Index
			}
			for _, turn := range x.Turns {
				if turn.Index == n && x.ID != "S07" {
					want[x.ID] = turn
				}
			}
		}
		got, err := s.Turns(context.Background(), wanted)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
		}
	}
	check("first turns", func(session.Session) int { return search.First })
	for n := range most + 4 { // also before the first and behind the last
		check(fmt.Sprint("turns ", n), func(session.Session) int { return n })
	}
}

// TestTurnsOfAnEmptyIndex has none.
func TestTurnsOfAnEmptyIndex(t *testing.T) {
	d := newIndex(t)
	s, err := search.Open(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Turns(context.Background(), map[string]int{"nobody": search.First})
	if err != nil || len(got) > 0 {
		t.Errorf("got %v, %v", got, err)
	}
}
