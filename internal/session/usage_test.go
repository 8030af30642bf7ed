package session_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
)

// counting is a session of turns a second apart, with counts behind them.
func counting(turns int, usage ...session.Usage) session.Session {
	s := session.Session{ID: "s", Usage: usage}
	for i := range turns {
		s.Turns = append(s.Turns, session.Turn{
			Index: i, Role: session.RoleAssistant, TS: time.Unix(int64(i), 0),
			Content: string(rune('a' + i)),
		})
	}
	return s
}

func TestAbsorbUsage(t *testing.T) {
	one, two := session.Usage{Request: "1", Turn: 0, Output: 5}, session.Usage{Request: "2", Turn: 1, Output: 7}
	more := session.Usage{Request: "1", Turn: 0, Output: 9}
	later := counting(3, session.Usage{Request: "3", Turn: 0, Output: 1})
	later.Turns = later.Turns[2:]
	later.Turns[0].Index = 0
	for _, c := range []struct {
		name        string
		known, read session.Session
		view        session.View
		want        []session.Usage
	}{
		{"all is known", counting(2, one, two), counting(2, one, two), session.Whole, nil},
		{
			"the same under another model's name", counting(2, one),
			counting(2, session.Usage{Request: "1", Model: "m", Output: 5}), session.Whole, nil,
		},
		{"an answer went on", counting(1, one), counting(2, more, two), session.Whole, []session.Usage{more, two}},
		{"a smaller count of what is known", counting(2, more), counting(2, one), session.Whole, nil},
		{
			"a piece's turns are numbered anew", counting(2, one), later, session.Piece,
			[]session.Usage{{Request: "3", Turn: 2, Output: 1}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.known.Absorb(c.read, c.view).Usage
			if diff := cmp.Diff(c.want, got, cmp.Transformer("none",
				func(u []session.Usage) []session.Usage { return append([]session.Usage{}, u...) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSplitUsage(t *testing.T) {
	s := counting(4, session.Usage{Request: "0", Turn: -1}, session.Usage{Request: "1", Turn: 1},
		session.Usage{Request: "2", Turn: 2}, session.Usage{Request: "3", Turn: 3})
	before, rest := s.Split(time.Unix(2, 0))
	if diff := cmp.Diff([][]session.Usage{s.Usage[:2], s.Usage[2:]},
		[][]session.Usage{before.Usage, rest.Usage}); diff != "" {
		t.Error(diff)
	}
	if all, none := s.Split(time.Unix(9, 0)); len(all.Usage) != 4 || len(none.Usage) != 0 {
		t.Error(all.Usage, none.Usage)
	}
	if tail := s.WithoutFirstTurns(2).Usage; len(tail) != 2 || tail[0].Turn != 2 {
		t.Error(tail)
	}
}
