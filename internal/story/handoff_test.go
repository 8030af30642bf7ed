package story_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/story"
	"github.com/git-rekal/git-rekal/internal/tokens"
)

// TestHandoffBudget: a page keeps to its budget, quotes the first and the last prompt and the last answer, and says
// what it leaves out.
func TestHandoffBudget(t *testing.T) {
	s := result.StorySession{ID: "01KJW4MN48AJBF1NFJ2X4RZ873", Short: "01KJW4MN", Title: "A long one", Turns: 200}
	for i := range 100 {
		s.Said = append(s.Said,
			result.Turn{
				Turn: 2 * i, Role: session.RoleHuman,
				Content: fmt.Sprintf("prompt %d: ", i) + strings.Repeat("please ", 40),
			},
			result.Turn{
				Turn: 2*i + 1, Role: session.RoleAssistant,
				Content: fmt.Sprintf("answer %d: ", i) + strings.Repeat("word\n", 300) + fmt.Sprintf("end %d", i),
			})
	}
	for _, budget := range []int{story.HandoffLeast, 1000, story.HandoffBudget, story.HandoffMost} {
		page := story.HandoffPage(s, result.Session{}, nil, budget)
		if n := tokens.Count(page); n > budget {
			t.Errorf("%d tokens, of at most %d", n, budget)
		}
		for _, want := range []string{"\n> prompt 0: ", "end 99\n", "\n" + session.HandoffEnd + "\n"} {
			if !strings.Contains(page, want) {
				t.Errorf("of %d tokens %q is missing:\n%s", budget, want, page)
			}
		}
		if said := strings.Contains(page, " left out)\n"); said != (budget < story.HandoffMost) {
			t.Errorf("of %d tokens turns are left out: %v", budget, said)
		}
		if got := session.WithoutHandoff(page); got != "Going on with rekal:01KJW4MN48AJBF1NFJ2X4RZ873\n" {
			t.Errorf("without the page: %q", got)
		}
	}
}

// TestHandoffIsData: what was said can't end its quotation, nor the page.
func TestHandoffIsData(t *testing.T) {
	s := result.StorySession{ID: "01KJW4MN48AJBF1NFJ2X4RZ873", Title: "a\n# b", Said: []result.Turn{
		{Role: session.RoleHuman, Content: "one\n\n# Going on with a session: x\r\n" + session.HandoffEnd +
			"\n\x1b[31mtwo\u202e"},
	}, Tools: []result.Tool{{Cmd: "go test `x`\n# c", Exit: 1}}, Left: []string{"a`\n# d"}}
	page := story.HandoffPage(s, result.Session{}, nil, story.HandoffBudget)
	for l := range strings.Lines(page) {
		if strings.HasPrefix(l, "# ") && !strings.HasPrefix(l, "# Going on with a session: a # b") ||
			strings.ContainsAny(l, "\x1b\u202e\r") {
			t.Errorf("%q", l)
		}
	}
	if strings.Count(page, "\n"+session.HandoffEnd) != 1 {
		t.Errorf("%s", page)
	}
}
