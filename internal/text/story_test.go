package text_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/text"
)

// story is the text of a story.
func story(look text.Look, s result.Story, v text.View) string {
	shown, _ := text.Story(look, s, v)
	return shown
}

func told() result.Story {
	return result.Story{
		Kind: "commit",
		Commits: []result.StoryCommit{{
			Commit: "70ee311aa", Subject: "Read \x1b[31mUTC", Author: "Alice", Email: "a@b.c", TS: "2026-03-04T10:08:40Z",
			Sessions: []string{"S1"}, Ties: map[string]string{"S1": "wrote"},
			Files: []result.Diffstat{
				{Path: "jwt.go", Added: 3, Deleted: 1},
				{Path: "new.go", OldPath: "old.go"},
				{Path: "x.png", Binary: true},
			},
		}},
		Sessions: []result.StorySession{{
			ID: "S1", Short: "S1", Title: "Fix expiry", Author: "a@b.c", Source: "claude-code",
			StartedAt: "2026-03-04T10:00:00Z", Turns: 2, ToolCalls: 8,
			Said: []result.Turn{
				{Turn: 0, Role: "human", Content: "why?\n\tindented"},
				{Turn: 1, Role: "assistant", Content: strings.Repeat("because clocks differ ", 12)},
			},
			Tools: []result.Tool{
				{Turn: 0, Tool: "Edit", Path: "jwt.go"},
				{Turn: 0, Tool: "Edit", Path: "jwt.go"},
				{Turn: 0, Tool: "Bash", Cmd: "go test ./...", Failed: true},
			},
			Left: []string{"tried.go"},
		}},
	}
}

func TestStory(t *testing.T) {
	want := `commit 70ee311aa
Author: Alice <a@b.c>
Date:   Wed Mar 4 10:08:40 2026 +0000
Behind: S1  Fix expiry (wrote lines)

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

  0 > why?
    >     indented

    · Edit ×2 jwt.go; Bash go test ./... (failed)
`
	if diff := cmp.Diff(want, strings.Split(story(text.Look{}, told(), text.Full),
		"  1 because")[0][:len(want)]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for line := range strings.SplitSeq(story(text.Look{Width: 40}, told(), text.Full), "\n") {
		if n := utf8.RuneCountInString(line); n > 40 {
			t.Errorf("%d characters wide: %q", n, line)
		}
	}
	for view, hidden := range map[text.View]string{text.Stat: "why?", text.Prompts: "because"} {
		if strings.Contains(story(text.Look{}, told(), view), hidden) {
			t.Errorf("view %d shows %q", view, hidden)
		}
	}
}

// TestCallsKeepFileNames: what is too long in a path is its folders, and no path is cut where a line is.
func TestCallsKeepFileNames(t *testing.T) {
	deep := strings.Repeat("folder/", 12)
	s := result.Story{Kind: "session", Sessions: []result.StorySession{{
		ID:   "S1",
		Said: []result.Turn{{Role: "human", Content: "go"}}, Tools: []result.Tool{
			{Tool: "Read", Path: deep + "wanted.go"},
			{Tool: "Edit", Path: strings.Repeat("x", 90) + ".go"},
			{Tool: "Bash", Cmd: "go test " + deep},
		},
	}}}
	got := story(text.Look{}, s, text.Full)
	for _, want := range []string{
		"· Read …/folder/folder/", "/folder/wanted.go; ", "Edit …xxx",
		"xxx.go; Bash go test folder/",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for i := range 40 {
		s.Sessions[0].Tools = append(s.Sessions[0].Tools,
			result.Tool{Tool: fmt.Sprint("Tool", i%4), Path: fmt.Sprintf("a/longer/path/to/file%d.go", i)})
	}
	if got := story(text.Look{}, s, text.Full); !strings.HasSuffix(got, ".go, …\n") {
		t.Errorf("a path is cut:\n%s", got)
	}
}

// TestOneTime: a session has one time on all screens, when it began, where the reader is.
func TestOneTime(t *testing.T) {
	const start, end, want = "2026-03-04T23:43:00Z", "2026-03-06T09:00:00Z", "2026-03-05 00:43 ("
	look := text.Look{Width: 80, Now: now.In(time.FixedZone("", 3600))}
	for name, got := range map[string]string{
		"search": text.Recall(look, result.Recall{Results: []result.Hit{{
			ID: "S1", StartedAt: start, LastTurnAt: end,
			CapturedAt: end,
		}}}, nil),
		"query": text.Session(look, result.Session{ID: "S1", StartedAt: start, CapturedAt: end}),
		"show": story(look, result.Story{
			Kind:     "session",
			Sessions: []result.StorySession{{ID: "S1", StartedAt: start, LastTurnAt: end}},
		}, text.Full),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestConversation: a session is told with its commits where they were made, a long one as an outline, and a turn with
// those around it, of which the line is told.
func TestConversation(t *testing.T) {
	at := func(minute int) string { return fmt.Sprintf("2026-03-04T10:%02d:00Z", minute) }
	s := result.Story{Kind: "session", Sessions: []result.StorySession{{
		ID: "S1", Short: "S1", Turns: 3,
		Said: []result.Turn{
			{Turn: 0, Role: "human", Content: "why?", TS: at(0)},
			{Turn: 1, Role: "assistant", Content: "Clocks differ.", TS: at(1)},
			{Turn: 2, Role: "human", Content: "fix it", TS: at(3)},
		},
	}}, Commits: []result.StoryCommit{
		{Commit: "0000000aaa", Missing: true},
		{
			Commit: "70ee311aaa", Subject: "Read UTC", TS: at(2),
			Files: []result.Diffstat{{Path: "jwt.go", Added: 3, Deleted: 1}},
		},
	}}
	got := story(text.Look{}, s, text.Brief)
	const want = "Commit: 0000000 (not in this clone)\n\n  0 > why?\n\n  1 Clocks differ.\n\n    * 70ee311 Read UTC (1 file, +3 −1)\n\n  2 > fix it\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
	turn := 1
	s.Turn, s.Sessions[0].Part, s.Sessions[0].Turns = &turn, true, 9
	got, start := text.Story(text.Look{}, s, text.Brief)
	if line := strings.Split(got, "\n")[start:]; line[0] != "  1 Clocks differ." {
		t.Errorf("the turn is not at line %d of\n%s", start, got)
	}
	if !strings.HasSuffix(got, "\non: git rekal show S1:3\n") {
		t.Errorf("it does not say how to read on:\n%s", got)
	}
	s.Turn = nil
	for i := 3; i < 40; i++ {
		s.Sessions[0].Said = append(s.Sessions[0].Said,
			result.Turn{Turn: i, Role: "assistant", Content: fmt.Sprintf("Step %d.", i), TS: at(4)})
	}
	got = story(text.Look{}, s, text.Brief)
	const outline = "\n\n  0 > why?\n    * 70ee311 Read UTC (1 file, +3 −1)\n  2 > fix it\n\n 39 Step 39.\n\nA turn: git rekal show S1:0; all 9: git rekal show --full S1\n"
	if !strings.HasSuffix(got, outline) {
		t.Errorf("%q does not end in %q", got, outline)
	}
	if got := story(text.Look{}, s, text.Full); !strings.Contains(got, "Step 12.") {
		t.Errorf("--full leaves out a turn:\n%s", got)
	}
}
