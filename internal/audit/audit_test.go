package audit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/audit"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
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

func TestFindings(t *testing.T) {
	e := entry()
	clean, _, err := redact.New().Apply(context.Background(), e)
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
