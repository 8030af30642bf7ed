package provenance_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/provenance"
	"github.com/git-rekal/git-rekal/internal/result"
)

const commit = "70ee311a0b1c2d3e4f5061728394a5b6c7d8e9f0"

// lines are those of one commit: two sessions, lines that nobody is known to have written, and a path with a blank.
func lines() result.Attribution {
	return result.Attribution{
		Commit: commit, At: "2026-03-04T10:10:00Z",
		Files: []result.AttributedFile{
			{
				Path: "auth/jwt.go", Wrote: map[string][]result.Range{"01A": {{1, 4}, {9, 9}}, "01B": {{12, 13}}},
				Unknown: []result.Range{{5, 8}},
			},
			{Path: "my notes.md", Wrote: map[string][]result.Range{"01A": {{1, 2}}}},
			{Path: "by/hand.go", Unknown: []result.Range{{1, 30}}},
		},
		Sessions: map[string]result.Writer{
			"01A": {Source: "claude-code", NativeID: "c220daf2", Model: "claude-opus-4-6", Author: "alice@example.com"},
			"01B": {Source: "codex", NativeID: "019ed836", Author: "bob@example.com"},
		},
	}
}

func TestAgentTrace(t *testing.T) {
	got, err := json.Marshal(provenance.AgentTrace(lines(), "0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":"0.1.0","id":"UUID","timestamp":"2026-03-04T10:10:00Z","vcs":{"type":"git","revision":"` +
		commit + `"},"tool":{"name":"git-rekal","version":"0.1.0"},` +
		`"files":[{"path":"auth/jwt.go","conversations":[` +
		`{"url":"rekal:01A","contributor":{"type":"ai","model_id":"anthropic/claude-opus-4-6"},"ranges":[{"start_line":1,"end_line":4},{"start_line":9,"end_line":9}]},` +
		`{"url":"rekal:01B","contributor":{"type":"ai"},"ranges":[{"start_line":12,"end_line":13}]},` +
		`{"contributor":{"type":"unknown"},"ranges":[{"start_line":5,"end_line":8}]}]},` +
		`{"path":"my notes.md","conversations":[{"url":"rekal:01A","contributor":{"type":"ai","model_id":"anthropic/claude-opus-4-6"},"ranges":[{"start_line":1,"end_line":2}]}]},` +
		`{"path":"by/hand.go","conversations":[{"contributor":{"type":"unknown"},"ranges":[{"start_line":1,"end_line":30}]}]}]}`
	id := provenance.AgentTrace(lines(), "").ID
	if diff := cmp.Diff(want, strings.Replace(string(got), id, "UUID", 1)); diff != "" {
		t.Errorf("record (-want +got)\n%s", diff)
	}
	if len(id) != 36 || id[14] != '8' {
		t.Errorf("%q is no UUID of version 8", id)
	}
}

// ours are the entries of these lines: printf claude:c220daf2 | sha256sum.
const ours = `auth/jwt.go
  s_0d12053db31fd6::t_a0fded4786dbbb 1-4,9
  s_5a67f2cd976585::t_4c6c852b3cfe0d 12-13
"my notes.md"
  s_0d12053db31fd6::t_a0fded4786dbbb 1-2
`

func TestGitAINote(t *testing.T) {
	note, err := provenance.GitAINote(lines(), "")
	if err != nil {
		t.Fatal(err)
	}
	entries, meta, _ := strings.Cut(note, "---\n")
	if diff := cmp.Diff(ours, entries); diff != "" {
		t.Errorf("entries (-want +got)\n%s", diff)
	}
	var got struct {
		SchemaVersion string `json:"schema_version"`
		Base          string `json:"base_commit_sha"`
		Prompts       map[string]any
		Sessions      map[string]struct {
			AgentID     struct{ Tool, ID, Model string } `json:"agent_id"`
			HumanAuthor string                           `json:"human_author"`
		}
	}
	if err := json.Unmarshal([]byte(meta), &got); err != nil || got.SchemaVersion != "authorship/3.0.0" ||
		got.Base != commit || got.Prompts == nil || len(got.Sessions) != 2 {
		t.Fatalf("metadata %+v, %v", got, err)
	}
	for _, s := range got.Sessions {
		if s.AgentID.Tool == "claude" && (s.AgentID.ID != "c220daf2" || s.AgentID.Model != "claude-opus-4-6" ||
			s.HumanAuthor != "alice@example.com") {
			t.Errorf("session %+v", s)
		}
	}
	again, err := provenance.GitAINote(lines(), note)
	if err != nil || again != note {
		t.Errorf("written again it is another note: %v\n%s", err, cmp.Diff(note, again))
	}
}

// TestGitAINoteMerges: what others wrote of a line stays, and so does what they said besides.
func TestGitAINoteMerges(t *testing.T) {
	const former = "auth/jwt.go\n  h_31dce776f88375 2-3\n  d9978a8723e02b52 12,40\n---\n" +
		`{"schema_version": "authorship/3.0.0", "base_commit_sha": "older", "git_ai_version": "1.4.5", "prompts": {"d9978a8723e02b52": {"x": 1}}, "humans": {"h_31dce776f88375": {"author": "A <a@example.com>"}}}`
	note, err := provenance.GitAINote(lines(), former)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"auth/jwt.go\n  h_31dce776f88375 2-3\n  d9978a8723e02b52 12,40\n  s_", " 1,4,9\n", " 13\n", "\"my notes.md\"\n",
		`"git_ai_version": "1.4.5"`, `"older"`, `"x": 1`, `"A <a@example.com>"`,
	} {
		if !strings.Contains(note, want) {
			t.Errorf("without %q:\n%s", want, note)
		}
	}
	for _, foreign := range []string{
		"a note of somebody's\n", "---\n{}", "x\n---\n[]",
		"  s_1 1\n---\n{\"schema_version\":\"authorship/3.0.0\"}",
	} {
		if got, err := provenance.GitAINote(lines(), foreign); !errors.Is(err, provenance.ErrNote) {
			t.Errorf("%q is taken for a log: %v\n%s", foreign, err, got)
		}
	}
}

// FuzzGitAINote: whatever a note holds, the new one has its entries, and written again is the same.
func FuzzGitAINote(f *testing.F) {
	f.Fuzz(func(t *testing.T, former string) {
		note, err := provenance.GitAINote(lines(), former)
		if err != nil {
			if note != "" {
				t.Errorf("an error with the note %q", note)
			}
			return
		}
		again, err := provenance.GitAINote(lines(), note)
		if err != nil || again != note {
			t.Errorf("written again: %v\n%s", err, cmp.Diff(note, again))
		}
	})
}
