package audit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/audit"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// secret is what redaction takes out; it is put together so that no scanner takes this file
// for a leak.
var secret = "ghp_" + "R7kQ2mZx9LtV4cWn8YbH3sDf6GjP1aEu5oXi"

const found = "[REDACTED:github-pat]"

func entry() session.Entry {
	return session.Entry{
		Subject: "use " + secret,
		Checkpoint: &session.Checkpoint{
			GitBranch: "main", Files: []session.File{{Path: "a.go"}, {Path: secret + ".txt", OldPath: "b.go"}},
		},
		Sessions: []session.Session{{
			ID: "S", Title: "about " + secret, Branch: "main",
			Turns: []session.Turn{
				{Index: 3, Content: "nothing"},
				{Index: 4, Content: "an old " + found + ", then\n\n" + strings.Repeat("word ", 20) + secret + "\n" + strings.Repeat(" word", 20) + " <private>x</private>"},
			},
			ToolCalls: []session.ToolCall{{Index: 0, Turn: 3, Tool: "Bash", Cmd: "echo " + secret}, {Index: 1, Turn: -1, Tool: "Read", Path: secret}},
		}},
		Memories: []session.Memory{{Title: "t", Content: secret}},
	}
}

// TestExcluded: what names a path that is left out is found where it was, also where nothing is left of
// it, and files that are gone don't shift what comes behind them.
func TestExcluded(t *testing.T) {
	e := entry()
	e.Subject, e.Memories = "", nil
	e.Checkpoint.Files = []session.File{{Path: "hidden/a"}, {Path: "b.go"}, {Path: "hidden/c"}, {Path: "d.go"}}
	e.Sessions[0] = session.Session{
		ID: "S", Title: "look at hidden/x",
		Turns:     []session.Turn{{Index: 0, Content: "look at hidden/x"}, {Index: 1, Content: "use " + secret}},
		ToolCalls: []session.ToolCall{{Turn: 0, Tool: "Read", Path: "hidden/x"}, {Turn: 1, Tool: "Bash", Cmd: "cat hidden/x"}},
	}
	clean, _, err := redact.With(redact.Settings{Exclude: []string{"hidden/"}}).Apply(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	const gone = "[excluded]"
	want := []audit.Finding{
		{Rule: audit.Excluded, Session: "S", In: audit.InTitle, Turn: -1, Around: gone},
		{Rule: audit.Excluded, Session: "S", In: audit.InTurn, Turn: 0, Around: gone},
		{Rule: "github-pat", Session: "S", In: audit.InTurn, Turn: 1, Around: "use " + found},
		{Rule: audit.Excluded, Session: "S", In: audit.InPath, Turn: 0, Around: gone},
		{Rule: audit.Excluded, Session: "S", In: audit.InCommand, Turn: 1, Around: gone},
		{Rule: audit.Excluded, In: audit.InFile, Turn: -1, Around: gone},
		{Rule: audit.Excluded, In: audit.InFile, Turn: -1, Around: gone},
	}
	if diff := cmp.Diff(want, audit.Findings(e, clean.Entry())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFindings(t *testing.T) {
	e := entry()
	clean, _, err := harness.Redactor().Apply(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	got := audit.Findings(e, clean.Entry())
	words := strings.Repeat(" word", 6)[:25]
	want := []audit.Finding{
		{Rule: "github-pat", In: audit.InSubject, Turn: -1, Around: "use " + found},
		{Rule: "github-pat", In: audit.InFile, Turn: -1, Around: found + ".txt"},
		{Rule: "github-pat", Session: "S", In: audit.InTitle, Turn: -1, Around: "about " + found},
		{Rule: "github-pat", Session: "S", In: audit.InTurn, Turn: 4, Around: "…" + "word word word word word word " + found + words + " word…"},
		{Rule: "private", Session: "S", In: audit.InTurn, Turn: 4, Around: "…" + "word word word word word word [private]"},
		{Rule: "github-pat", Session: "S", In: audit.InCommand, Turn: 3, Around: "echo " + found},
		{Rule: "github-pat", Session: "S", In: audit.InPath, Turn: -1, Around: found},
		{Rule: "github-pat", In: audit.InMemory, Turn: -1, Around: found},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := audit.Findings(clean.Entry(), clean.Entry()); again != nil {
		t.Errorf("in what is redacted: %v", again)
	}
	var ids []string
	for _, f := range got {
		if f.Session != "" || f.In == audit.InSubject {
			ids = append(ids, f.ID("C"))
		}
	}
	if diff := cmp.Diff([]string{"C", "S:title", "S:4", "S:4", "S:3", "S:-1"}, ids); diff != "" {
		t.Errorf("IDs (-want +got):\n%s", diff)
	}
}
