package setup_test

import (
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const absent = "\x00"

// TestBriefAndPointer holds that files of agents come back byte for byte, whatever stood in them.
func TestBriefAndPointer(t *testing.T) {
	for _, tt := range []struct{ name, path, before string }{
		{"no file", ".claude/settings.local.json", absent},
		{"an empty file", ".claude/settings.local.json", ""},
		{"an empty line", ".claude/settings.local.json", "\r\n"},
		{"an empty file of Gemini's", ".gemini/settings.json", "\ufeff\n"},
		{"an empty object", ".claude/settings.local.json", "{}"},
		{"an empty object in two lines", ".claude/settings.local.json", "{\n}"},
		{"an empty object in three lines", ".claude/settings.local.json", "{\n\n}\n"},
		{"other settings", ".claude/settings.local.json", "{\n  \"permissions\": {\"allow\": [\"Bash(git rekal *)\"]}\n}"},
		{"other hooks", ".claude/settings.local.json", `{"hooks":{"Stop":[{"hooks":[]}]},"x":1e2}`},
		{
			"the same events", ".claude/settings.local.json",
			"{\r\n  \"hooks\": { \"SessionStart\": [ {\"matcher\": \"clear\", \"hooks\": []} ], \"UserPromptSubmit\": [] }\r\n}\r\n",
		},
		{"codex", ".codex/hooks.json", "{\"hooks\": {}}\n"},
		{"comments", ".gemini/settings.json", "// mine\n{\n  \"hooks\": {/* none */}, // yet\n}\n"},
		{"no file of hooks for Copilot", ".github/hooks/git-rekal.json", absent},
		{"no file of Gemini's", ".gemini/settings.json", absent},
		{"an edited one", ".github/hooks/git-rekal.json", "{\"version\": 1, \"hooks\": {}}\n"},
		{"no pointer file", "AGENTS.md", absent},
		{"a text", "CLAUDE.md", "# Rules\n\nUse tabs.\n"},
		{"a text without an end", "GEMINI.md", "Use tabs."},
		{"an empty text", "AGENTS.md", ""},
		{"other line ends", "AGENTS.md", "a\r\nb\r\n"},
	} {
		for _, mcp := range []bool{false, true} {
			if mcp && tt.path != ".gemini/settings.json" { // the one file with both
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				r := newRepo(t, "work")
				if tt.before != absent {
					r.write(r.at(tt.path), tt.before, 0o640)
				}
				l := r.layout()
				l.Brief, l.Pointer, l.Agents = setup.Brief{Start: true, Prompts: true, Edits: true}, true, briefed
				first := installed(t, l, r.at(tt.path))
				if !strings.Contains(first, "rekal") || tt.before != absent && len(first) <= len(tt.before) {
					t.Fatalf("init made %q", first)
				}
				if again := installed(t, l, r.at(tt.path)); again != first {
					t.Errorf("init again made\n%s\nof\n%s", again, first)
				}
				if l.MCP = mcp; mcp {
					installed(t, l, r.at(tt.path))
				}
				if _, err := setup.Remove(l); err != nil {
					t.Fatal(err)
				}
				if got := textOf(r.at(tt.path)); got != tt.before {
					t.Errorf("clean left\n%q\nof\n%q", got, tt.before)
				}
			})
		}
	}
}

func installed(t *testing.T, l setup.Layout, path string) string {
	t.Helper()
	install(t, l)
	return textOf(path)
}

func textOf(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return absent
	}
	return string(text)
}

// TestBriefEdited: what was written anew since loses our hook and nothing else, and an edited one stays.
func TestBriefEdited(t *testing.T) {
	const ours = `{"matcher":"startup|resume|clear|compact","hooks":[{"type":"command","command":"git-rekal brief --hook claude-code || exit 0","timeout":5}]}`
	for _, tt := range []struct{ name, edited, cleaned string }{
		{"alone", `{"a":1,"hooks":{"SessionStart":[` + ours + `]}}`, `{"a":1}`},
		{"beside another event", `{"hooks":{"SessionStart":[` + ours + `],"Stop":[]}}`, `{"hooks":{"Stop":[]}}`},
		{
			"behind another hook", `{"hooks":{"SessionStart":[{"hooks":[]}, ` + ours + ` ]}}`,
			`{"hooks":{"SessionStart":[{"hooks":[]} ]}}`,
		},
		{
			"before another hook", `{"hooks":{"SessionStart":[` + ours + `, {"hooks":[]}]}}`,
			`{"hooks":{"SessionStart":[ {"hooks":[]}]}}`,
		},
		{"another matcher", `{"hooks":{"SessionStart":[` + strings.Replace(ours, "|clear", "", 1) + `]}}`, "same"},
		{"broken", `{"hooks":{`, "same"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t, "work")
			l := r.layout()
			l.Brief = setup.Brief{Start: true}
			install(t, l)
			r.write(r.at(".claude/settings.local.json"), tt.edited, 0o644)
			if _, err := setup.Remove(l); err != nil {
				t.Fatal(err)
			}
			if tt.cleaned == "same" {
				tt.cleaned = tt.edited
			}
			if got := textOf(r.at(".claude/settings.local.json")); got != tt.cleaned {
				t.Errorf("%s\nwant\n%s", got, tt.cleaned)
			}
		})
	}
}

// TestBriefRefused: what is no object of lists is left alone, and the rest is installed.
func TestBriefRefused(t *testing.T) {
	for _, text := range []string{"{", "[]", `{"hooks":[]}`, `{"hooks":{"SessionStart":{}}}`, "// a comment\n{}"} {
		r := newRepo(t, "work")
		r.write(r.at(".claude/settings.local.json"), text, 0o644)
		l := r.layout()
		l.Brief = setup.Brief{Start: true}
		if _, err := setup.Install(l); err == nil || !strings.Contains(err.Error(), "left alone") {
			t.Errorf("%q: %v", text, err)
		}
		if got := textOf(r.at(".claude/settings.local.json")); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// briefed are the agents whose hooks take a brief.
var briefed = []string{"claude-code", "codex", "gemini-cli", "copilot-cli", "qwen-code", "droid"}

// TestBriefForEach: the hooks of each agent that is used are written where it had none before, and all is gone with
// clean. Claude Code's always are.
func TestBriefForEach(t *testing.T) {
	for _, used := range [][]string{{"claude-code"}, {"claude-code", "copilot-cli"}, briefed} {
		r := newRepo(t, "work")
		before := r.snapshot()
		l := r.layout()
		if got := setup.BriefedAgents(l.WorkTree); got != nil {
			t.Errorf("before init: %q", got)
		}
		l.Brief, l.Agents = setup.Brief{Start: true}, used[1:]
		install(t, l)
		harness.Equal(t, "agents", used, setup.BriefedAgents(l.WorkTree))
		remove(t, l)
		harness.Equal(t, "tree after clean", before, r.snapshot())
	}
}
