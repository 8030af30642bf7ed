package provenance_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/provenance"
	"github.com/git-rekal/git-rekal/internal/result"
)

// The first example of Git AI's own page, with an entry of an older tool and a person's.
const foreignNote = `src/main.rs
  s_abcd1234abcd12::t_1111aaaa1111aa 1-10,15
  d9978a8723e02b52 16-20
"my notes.md"
  h_31dce776f88375 2-3
  s_0000000000nope::t_1 9
---
{"schema_version": "authorship/3.0.0", "base_commit_sha": "x",
 "prompts": {"d9978a8723e02b52": {"agent_id": {"tool": "cursor", "id": "6ef2299e", "model": "unknown"}, "human_author": "Bob <bob@example.com>"}},
 "sessions": {"s_abcd1234abcd12": {"agent_id": {"tool": "claude", "id": "c220daf2", "model": "claude-opus-4-6"}, "human_author": "Alice <alice@example.com>"}},
 "humans": {"h_31dce776f88375": {"author": "Carol <carol@example.com>"}}}`

func TestReadGitAINote(t *testing.T) {
	for path, want := range map[string][]result.Note{
		"src/main.rs": {
			{
				Ranges: []result.Range{{1, 10}, {15, 15}}, By: "ai", Tool: "claude", Model: "claude-opus-4-6",
				Person: "Alice <alice@example.com>", Conversation: "c220daf2",
			},
			{
				Ranges: []result.Range{{16, 20}}, By: "ai", Tool: "cursor", Person: "Bob <bob@example.com>",
				Conversation: "6ef2299e",
			},
		},
		"my notes.md": {
			{Ranges: []result.Range{{2, 3}}, By: "human", Person: "Carol <carol@example.com>"},
			{Ranges: []result.Range{{9, 9}}, By: "ai"},
		},
		"other": nil,
	} {
		if diff := cmp.Diff(want, provenance.ReadGitAINote(foreignNote, path)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", path, diff)
		}
	}
	for _, foreign := range []string{"", "a note", "a\n  s_1 0,x,5-2,-1\n---\n{\"schema_version\":\"authorship/3.0.0\"}"} {
		if got := provenance.ReadGitAINote(foreign, "a"); got != nil {
			t.Errorf("%q says %v", foreign, got)
		}
	}
}

// TestReadsItsOwn: what is written is read again as it was.
func TestReadsItsOwn(t *testing.T) {
	note, err := provenance.GitAINote(lines(), "")
	if err != nil {
		t.Fatal(err)
	}
	got := provenance.ReadGitAINote(note, "auth/jwt.go")
	if len(got) != 2 || got[0].Conversation != "c220daf2" || got[1].Tool != "codex" ||
		!cmp.Equal(got[0].Ranges, []result.Range{{1, 4}, {9, 9}}) {
		t.Errorf("a note: %+v", got)
	}
	record, err := json.Marshal(provenance.AgentTrace(lines(), "0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	want := []result.Note{
		{
			Ranges: []result.Range{{1, 4}, {9, 9}}, By: "ai", Tool: "git-rekal", Model: "anthropic/claude-opus-4-6",
			Conversation: "rekal:01A",
		},
		{Ranges: []result.Range{{12, 13}}, By: "ai", Tool: "git-rekal", Conversation: "rekal:01B"},
	}
	for name, records := range map[string]string{
		"a record":         string(record),
		"lines of records": `{"vcs": {"revision": "other"}}` + "\nno JSON\n" + string(record) + "\n",
	} {
		if diff := cmp.Diff(want, provenance.ReadAgentTrace(records, commit, "auth/jwt.go")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	if got := provenance.ReadAgentTrace(string(record), "another", "auth/jwt.go"); got != nil {
		t.Errorf("of another revision: %v", got)
	}
}

// FuzzRead: whatever anybody wrote, what is read has lines from 1 on, and short names.
func FuzzRead(f *testing.F) {
	f.Add(foreignNote)
	f.Add(`{"vcs":{"revision":"r"},"files":[{"path":"src/main.rs","conversations":[{"contributor":{"type":"human"},"ranges":[{"start_line":1,"end_line":2,"contributor":{"type":"mixed"}}]}]}]}`)
	f.Add("src/main.rs\n  s_1 1-" + strings.Repeat("9", 40) +
		",1-9223372036854775807\n---\n{\"schema_version\":\"authorship/\"}")
	f.Fuzz(func(t *testing.T, text string) {
		all := provenance.ReadGitAINote(text, "src/main.rs")
		for _, n := range append(all, provenance.ReadAgentTrace(text, "r", "src/main.rs")...) {
			if len(n.Ranges) == 0 || len(n.Tool)+len(n.Model)+len(n.Person)+len(n.Conversation) > 800 || n.By == "" {
				t.Errorf("%+v", n)
			}
			for _, r := range n.Ranges {
				if r[0] < 1 || r[1] < r[0] {
					t.Errorf("%+v", n)
				}
			}
		}
	})
}
