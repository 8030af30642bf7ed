package story

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

func TestSentences(t *testing.T) {
	text := "# Plan\n\nWe chose UTC, e.g. Go's clock. It is v1.2 now!\nThe rest\nfollows. **Bold:** see [docs](http://x.y)\n\n- one item\n  1. another\n\n```\ncode here\n```\n| a | b |\n---\n## Next\nlast"
	var got []string
	for _, part := range sections(text) {
		got = append(got, "<"+part.heading+">")
		got = append(got, sentences(part.lines)...)
	}
	want := []string{"<>", "<Plan>", "We chose UTC, e.g. Go's clock.", "It is v1.2 now!", "The rest follows.", "Bold: see docs", "one item", "another", "<Next>", "last"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestReviewIsShort: however much was said, five sessions fit on two pages, and fifty on a few more.
func TestReviewIsShort(t *testing.T) {
	asked := func(n int) string {
		return fmt.Sprintf("no, the column %d should stand in another table, one that nobody writes to at night", n)
	}
	answered := func(n int) string {
		return fmt.Sprintf("Decided on plan %[1]d, because indexes of kind %[1]d are small.\n\nThe trigger %[1]d did not work with views of sort %[1]d, and was reverted.\n\nAdded table %[1]d with its %[1]d columns.", n)
	}
	for sessions, most := range map[int]int{1: 1000, 5: 1000, 10: 1000, 50: 1600} {
		s := result.Story{Kind: "range", Show: "a..b"}
		for i := range sessions {
			id := string(rune('A' + i))
			one := result.StorySession{ID: id, Short: id, Title: strings.Repeat("title ", 20), Author: "a@b.c", Source: "codex", Turns: 40}
			for n := range 20 {
				one.Said = append(one.Said, result.Turn{Turn: 2 * n, Role: "human", Content: strings.Repeat(asked(n)+".\n\n", 5)}, result.Turn{Turn: 2*n + 1, Role: "assistant", Content: answered(n)})
				one.Tools = append(one.Tools, result.Tool{Turn: 2 * n, Tool: "Edit", Path: "a.go"}, result.Tool{Turn: 2 * n, Tool: "Bash", Cmd: "make " + id, Failed: true})
			}
			s.Sessions = append(s.Sessions, one)
			s.Commits = append(s.Commits, result.StoryCommit{Commit: "0123456", Subject: "subject", Sessions: []string{id}})
		}
		page := Review(s)
		if n := count(page); n > most || n < 40 {
			t.Errorf("%d sessions: %d words, at most %d are wanted", sessions, n, most)
		}
		if strings.Count(page, "**Decided, and why:**") == 0 || strings.Count(page, "**Tried and dropped:**") == 0 {
			t.Errorf("%d sessions: nothing decided or dropped:\n%s", sessions, page)
		}
	}
}

// TestDropped: what was tried and dropped is said in few words, by either side; what fell, or is on its way, was not.
func TestDropped(t *testing.T) {
	for said, want := range map[string]bool{
		"I dropped exponential backoff.":          true,
		"We abandoned the second queue.":          true,
		"I gave up on `sqlx` here.":               true,
		"Dropped the retry loop entirely.":        true,
		"We then removed the cache again.":        true,
		"Latency dropped by half.":                false,
		"Latency dropped by half on the server.":  false,
		"I gave up.":                              false,
		"The file was removed by the build tool.": false,
		"The backoff is exponential.":             false,
	} {
		for _, role := range []string{session.RoleHuman, session.RoleAssistant} {
			s := result.Story{Kind: "session", Sessions: []result.StorySession{{ID: "A", Short: "A", Title: "Retry", Said: []result.Turn{
				{Turn: 0, Role: session.RoleHuman, Content: "Please make the client retry when the server is busy"},
				{Turn: 1, Role: session.RoleAssistant, Content: "It waits for a second."},
				{Turn: 2, Role: role, Content: said},
			}}}}
			_, page, _ := strings.Cut(Review(s), "**Tried and dropped:**")
			if got := strings.Contains(page, "\n- "+inert(said)); got != want {
				t.Errorf("%s, %q: %v\n%s", role, said, got, Review(s))
			}
		}
	}
}
