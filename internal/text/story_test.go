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

func told() result.Story {
	return result.Story{
		Kind: "commit",
		Commits: []result.StoryCommit{{
			Commit: "70ee311aa", Subject: "Read \x1b[31mUTC", Author: "Alice", Email: "a@b.c", TS: "2026-03-04T10:08:40Z", Sessions: []string{"S1"}, Ties: map[string]string{"S1": "wrote"},
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

    > why?
    >     indented

    · Edit ×2 jwt.go; Bash go test ./... (failed)
`
	if diff := cmp.Diff(want, strings.Split(text.Story(text.Look{}, told(), text.Full), "    because")[0][:len(want)]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for line := range strings.SplitSeq(text.Story(text.Look{Width: 40}, told(), text.Full), "\n") {
		if n := utf8.RuneCountInString(line); n > 40 {
			t.Errorf("%d characters wide: %q", n, line)
		}
	}
	for view, hidden := range map[text.View]string{text.Stat: "why?", text.Prompts: "because"} {
		if strings.Contains(text.Story(text.Look{}, told(), view), hidden) {
			t.Errorf("view %d shows %q", view, hidden)
		}
	}
}

// TestCallsKeepFileNames: what is too long in a path is its folders, and no path is cut where a line is.
func TestCallsKeepFileNames(t *testing.T) {
	deep := strings.Repeat("folder/", 12)
	s := result.Story{Kind: "session", Sessions: []result.StorySession{{ID: "S1", Said: []result.Turn{{Role: "human", Content: "go"}}, Tools: []result.Tool{
		{Tool: "Read", Path: deep + "wanted.go"}, {Tool: "Edit", Path: strings.Repeat("x", 90) + ".go"}, {Tool: "Bash", Cmd: "go test " + deep},
	}}}}
	got := text.Story(text.Look{}, s, text.Full)
	for _, want := range []string{"· Read …/folder/folder/", "/folder/wanted.go; ", "Edit …xxx", "xxx.go; Bash go test folder/"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for i := range 40 {
		s.Sessions[0].Tools = append(s.Sessions[0].Tools, result.Tool{Tool: fmt.Sprint("Tool", i%4), Path: fmt.Sprintf("a/longer/path/to/file%d.go", i)})
	}
	if got := text.Story(text.Look{}, s, text.Full); !strings.HasSuffix(got, ".go, …\n") {
		t.Errorf("a path is cut:\n%s", got)
	}
}

// TestOneTime: a session has one time on all screens, when it began, where the reader is.
func TestOneTime(t *testing.T) {
	const start, end, want = "2026-03-04T23:43:00Z", "2026-03-06T09:00:00Z", "2026-03-05 00:43 ("
	look := text.Look{Width: 80, Now: now.In(time.FixedZone("", 3600))}
	for name, got := range map[string]string{
		"search": text.Recall(look, result.Recall{Results: []result.Hit{{ID: "S1", StartedAt: start, LastTurnAt: end, CapturedAt: end}}}, nil),
		"query":  text.Session(look, result.Session{ID: "S1", StartedAt: start, CapturedAt: end}),
		"show":   text.Story(look, result.Story{Kind: "session", Sessions: []result.StorySession{{ID: "S1", StartedAt: start, LastTurnAt: end}}}, text.Full),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
