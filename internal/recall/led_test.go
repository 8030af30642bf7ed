package recall_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/session"
)

// TestLedTo ties what was said to the commit that was made next, and what is said behind the last commit to that. A
// list asks for none.
func TestLedTo(t *testing.T) {
	p := newPlace(t)
	first := p.code("cut the queue")
	talk := chat("queue", -2, "human the queue grows", "assistant shorten it", "human now alpaca",
		"assistant bison is done")
	p.append(alice, 10, session.Entry{Checkpoint: checkpoint(first, "queue.go"), Sessions: []session.Session{talk}})
	p.open()
	for query, want := range map[string]string{"grows": "cut the queue", "bison": "cut the queue"} {
		got := p.recall(recall.Request{Query: query}).Results
		if len(got) != 1 || got[0].LedTo == nil || got[0].LedTo.Subject != want || got[0].TurnAt == "" {
			t.Errorf("%q: %+v", query, got)
		}
	}
	if got := p.recall(recall.Request{}).Results; len(got) != 1 || got[0].LedTo != nil {
		t.Errorf("a list: %+v", got)
	}
}
