package story

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/result"
)

func sample() result.Story {
	return result.Story{
		Kind: "commit",
		Commits: []result.StoryCommit{{
			Commit: "70ee311aa", Subject: "Read \x1b[31mUTC", Author: "Alice", Email: "a@b.c", TS: "2026-03-04T10:08:40Z", Sessions: []string{"S1"},
			Files: []result.Diffstat{{Path: "jwt.go", Added: 3, Deleted: 1}, {Path: "new.go", OldPath: "old.go"}, {Path: "x.png", Binary: true}},
		}},
		Sessions: []result.StorySession{{
			ID: "S1", Short: "S1", Title: "Fix expiry", Author: "a@b.c", Source: "claude-code", StartedAt: "2026-03-04T10:00:00Z", Turns: 2, ToolCalls: 8,
			Said:  []result.Turn{{Turn: 0, Role: "human", Content: "why?\n\tindented"}, {Turn: 1, Role: "assistant", Content: strings.Repeat("because clocks differ ", 12)}},
			Tools: []result.Tool{{Turn: 0, Tool: "Edit", Path: "jwt.go"}, {Turn: 0, Tool: "Edit", Path: "jwt.go"}, {Turn: 0, Tool: "Bash", Cmd: "go test ./...", Failed: true}},
			Left:  []string{"tried.go"},
		}},
	}
}

func TestText(t *testing.T) {
	want := `commit 70ee311aa
Author: Alice <a@b.c>
Date:   Wed Mar 4 10:08:40 2026 +0000
Behind: S1  Fix expiry

    Read �[31mUTC

 jwt.go           | +3 −1
 old.go => new.go | +0 −0
 x.png            | binary
 3 files, +3 −1

session S1
Title:  Fix expiry
Author: a@b.c
Agent:  claude-code, 2 turns, 8 tool calls
Date:   Wed Mar 4 10:00:00 2026 +0000

    > why?
    >     indented

    · Edit ×2 jwt.go; Bash go test ./... (failed)
`
	var got strings.Builder
	for _, l := range Text(sample(), Full, 0) {
		got.WriteString(l.Text + "\n")
	}
	if diff := cmp.Diff(want, got.String()[:min(len(want), got.Len())]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	roles := map[Role]bool{}
	for _, l := range Text(sample(), Full, 40) {
		roles[l.Role] = true
		if n := utf8.RuneCountInString(l.Text); n > 40 && strings.HasPrefix(l.Text, "    ") {
			t.Errorf("%d characters wide: %q", n, l.Text)
		}
	}
	if len(roles) != 5 {
		t.Errorf("roles: %v", roles)
	}
	for view, hidden := range map[View]string{Stat: "why?", Prompts: "because"} {
		for _, l := range Text(sample(), view, 0) {
			if strings.Contains(l.Text, hidden) {
				t.Errorf("view %d shows %q", view, l.Text)
			}
		}
	}
}

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
