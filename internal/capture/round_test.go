package capture_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
)

// However little is in memory at once, and however long a line is, what is stored is the same,
// and all of it.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name  string
		round capture.Round
	}{
		{"at once", capture.Round{}},
		{"a file at a time", capture.Round{Kept: 1}},
		{"pieces of a file", capture.Round{Piece: 700}},
		{"pieces that are smaller than a record", capture.Round{Piece: 10, Kept: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			want := map[string][]string{}
			for i, id := range []string{sidA, sidB} {
				for n := range 20 {
					text := fmt.Sprintf("prompt %d of %s", n, id)
					if n == 7 {
						text += strings.Repeat(" long", 2000)
					}
					w.add(id, ask(id, 100*i+2*n, text), use(id, 100*i+2*n+1, "Edit", fmt.Sprintf("f%d.go", n)))
					want[id] = append(want[id], text)
				}
			}
			w.add(sidA, say(sidA, 3000, "the end"))
			want[sidA] = append(want[sidA], "the end")
			rounds := 0
			out := w.try(func(cp *capture.Capturer) (capture.Outcome, error) {
				cp.Round = c.round
				cp.Progress = func(step string, _, _ int) {
					if step == capture.Reading {
						rounds++
					}
				}
				return cp.Run(t.Context(), w.via, nil)
			})
			if out.Sessions != 2 || out.Turns != 41 || out.ToolCalls != 40 || len(out.Warnings) > 0 ||
				(rounds > 2) != (c.round.Piece > 0) {
				t.Errorf("%+v in %d readings", out, rounds)
			}
			got := map[string][]string{}
			calls := 0
			for _, s := range w.held().sessions {
				for _, u := range s.Turns {
					if u.Index != len(got[s.NativeID]) {
						t.Errorf("turn %d of %s is number %d", len(got[s.NativeID]), s.NativeID, u.Index)
					}
					got[s.NativeID] = append(got[s.NativeID], u.Content)
				}
				calls += len(s.ToolCalls)
			}
			for id, texts := range want {
				if strings.Join(got[id], "\n") != strings.Join(texts, "\n") {
					t.Errorf("%s: %d turns, want %d: %.200q", id, len(got[id]), len(texts), got[id])
				}
			}
			if calls != 40 {
				t.Errorf("%d tool calls", calls)
			}
			if again := w.capture(); again.Tip != "" {
				t.Errorf("another capture finds %+v", again)
			}
		})
	}
}
