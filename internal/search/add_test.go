package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// A part with more new words than are collected at once is stored in several steps, and is found as one that came
// turn by turn.
func TestAddInSteps(t *testing.T) {
	words := func(turn int) string {
		var b strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&b, "w%dx%d ", turn, i)
		}
		return b.String()
	}
	long := talk("S1", words(0), words(1), words(2), words(3), "kangaroo")
	long.Title = "Marsupials"
	for i := range 30_000 {
		long.ToolCalls = append(long.ToolCalls, session.ToolCall{
			Index: i, Tool: "Bash", Path: fmt.Sprintf("src/file%d.go", i),
			Cmd: fmt.Sprintf("run command%d --with=a --long list --of arguments", i),
		})
	}
	short := talk("S2", "a wombat and a kangaroo")
	once, bit := newIndex(t), newIndex(t)
	add(t, once, long, short)
	for i := range long.Turns {
		part := long
		part.Turns, part.FirstTurn = long.Turns[i:i+1], i
		part.ToolCalls = nil
		if i == len(long.Turns)-1 {
			part.ToolCalls = long.ToolCalls
		}
		add(t, bit, part)
	}
	add(t, bit, short)
	for query, want := range map[string][]string{
		"w0x17": {"S1"}, "w2x49999": {"S1"}, "w3x0": {"S1"}, "marsupials": {"S1"}, "wombat": {"S2"}, "kangaroo": {"S2", "S1"},
		"command7": {"S1"}, "command29999": {"S1"}, "file29999.go": {"S1"},
	} {
		got := find(t, once, query, search.Options{})
		if diff := cmp.Diff(want, ids(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
		if diff := cmp.Diff(lexicals(find(t, bit, query, search.Options{})), lexicals(got)); diff != "" {
			t.Errorf("%s, turn by turn (-want +got):\n%s", query, diff)
		}
	}
}
