package story

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// TestReviewIsShort: however much was said, a page has two sides, and says how many are left out.
func TestReviewIsShort(t *testing.T) {
	for _, sessions := range []int{1, 5, 10, 50} {
		s := result.Story{Kind: "range", Show: "a..b"}
		for i := range sessions {
			id := fmt.Sprintf("S%02d", i)
			one := result.StorySession{
				ID: id, Short: id, Title: strings.Repeat("title ", 20), Author: "a@b.c", Source: "codex",
				Turns: 40, Purpose: strings.Repeat("the wish is long ", 50), PurposeTurn: -1,
			}
			for n := range 20 {
				said := strings.Repeat(fmt.Sprintf("no, column %d belongs elsewhere.\n\n", n), 5)
				one.Said = append(one.Said, result.Turn{Turn: 2 * n, Role: "human", Content: said},
					result.Turn{Turn: 2*n + 1, Role: "assistant", Content: "answer\n\n" + said})
				one.Tools = append(one.Tools, result.Tool{Turn: 2 * n, Tool: "Edit", Path: "a.go"},
					result.Tool{Turn: 2 * n, Tool: "Bash", Cmd: "make " + id, Exit: 2})
			}
			s.Sessions = append(s.Sessions, one)
			s.Commits = append(s.Commits, result.StoryCommit{Commit: "0123456", Subject: "subject", Sessions: []string{id}})
		}
		page := ReviewText(s, result.Lines{})
		if n := countWords(page); n > reviewWords || n < 200 {
			t.Errorf("%d sessions: %d words", sessions, n)
		}
		told, named := strings.Count(page, "\n### ")-strings.Count(page, "### Other"), strings.Count(page, "\n- S")
		if named == listedMost {
			named = sessions - told // "and … more"
		}
		if told == 0 || told+named != sessions {
			t.Errorf("%d sessions: %d are told, %d named", sessions, told, named)
		}
	}
}

// TestReviewShare: a page says who wrote the added lines, and of none that a person did.
func TestReviewShare(t *testing.T) {
	for want, lines := range map[string]result.Lines{
		"\nOf 8 added lines sessions wrote 8 (100 %), compared line by line.\n":                                                                                 {Lines: 8, Wrote: 8},
		"\nOf 12 added lines sessions wrote 8 (67 %), compared line by line; behind 3 (25 %) no session is known; of 1 (8 %) it is not known who wrote them.\n": {Lines: 12, Wrote: 8, NoSession: 3, Unknown: 1},
		"\nOf 3 added lines sessions wrote 0 (0 %), compared line by line; behind 3 (100 %) no session is known.\n":                                             {Lines: 3, NoSession: 3},
	} {
		page := ReviewText(result.Story{Kind: "range", Show: "a..b"}, lines)
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	if page := ReviewText(result.Story{Kind: "range", Show: "a..b"}, result.Lines{}); strings.Contains(page, "added line") {
		t.Errorf("nothing was added:\n%s", page)
	}
}

// TestReviewQuotes: a page says what was asked and what the agent said last, and nothing of what lies between under a
// name of its own.
func TestReviewQuotes(t *testing.T) {
	said := func(turns ...string) (out []result.Turn) {
		for i, text := range turns {
			who, text, _ := strings.Cut(text, ": ")
			out = append(out, result.Turn{Turn: i, Role: map[string]string{
				"p": session.RoleHuman,
				"a": session.RoleAssistant,
			}[who], Content: text})
		}
		return out
	}
	turns := said("p: Implement the following plan:\n\n# Dark mode\n\n## Context\n\nPeople read at night, and `<body>` is **white**.\n\n## Steps\n\n- build – Build all binaries",
		"a: We decided to drop `sqlx`, because the first try did not work.", "p: now the tests",
		"a: **Done.**\n\n```go\nx\n```\n\n- Reverted nothing\n2. kept `<url>` and `a**b`")
	sure := result.StorySession{
		ID: "A", Short: "A", Title: "Dark mode", Said: turns,
		Purpose: session.PurposeOfPrompt(turns[0].Content),
	}
	guess := result.StorySession{
		ID: "B", Short: "B", Title: "Elsewhere", Said: said("p: what else", "a: nothing"),
		Purpose: "what else",
	}
	s := result.Story{
		Kind: "commit", Show: "HEAD", Sessions: []result.StorySession{sure, guess},
		Commits: []result.StoryCommit{{
			Commit: "0123456789", Subject: "Dark mode", Sessions: []string{"A", "B"},
			Ties: map[string]string{"A": "wrote", "B": "talked"}, Files: []result.Diffstat{{Path: "a.css", Added: 1}},
		}},
	}
	want := `## The sessions behind HEAD

2 sessions; 1 commit (1 file, +1 −0). All below is quoted or counted; nothing is judged.

Of 1 added line sessions wrote 0 (0 %), compared line by line; of 1 (100 %) it is not known who wrote them.

### 1. Dark mode

A · at no known time · 0 turns, 0 tool calls

**Asked first:**

> People read at night, and ` + "`<body>`" + ` is white.

**Asked then:**

- now the tests

**The agent's last words:**

> Done.
> 
> …
> 
> - Reverted nothing
> - 2\. kept ` + "`<url>` and `a**b`" + `

**Commits:**

- 0123456 Dark mode (1 file, +1 −0) in ` + "`a.css`" + ` – wrote lines

### Other sessions

- B Elsewhere, talked meanwhile
`
	if diff := cmp.Diff(want, ReviewText(s, result.Lines{Lines: 1, Unknown: 1})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.Commits[0].Ties["A"] = "inferred"
	if page := ReviewText(s, result.Lines{}); !strings.Contains(page, "### 2. Elsewhere") ||
		strings.Count(page, "in `a.css` – talked") != 1 || strings.Count(page, "in `a.css` – inferred") != 1 {
		t.Errorf("where nothing is known:\n%s", page)
	}
}

// TestReviewSteps: of a session with several commits a page says what was asked for each; a prompt that led to one is
// quoted, however short.
func TestReviewSteps(t *testing.T) {
	at := func(minute int) string { return fmt.Sprintf("2026-03-04T10:%02d:00Z", minute) }
	one := result.StorySession{ID: "A", Short: "A", Title: "Dark mode", Purpose: "dark mode", StartedAt: at(0)}
	say := func(minute int, role, text string) {
		one.Said = append(one.Said, result.Turn{Turn: len(one.Said), Role: role, TS: at(minute), Content: text})
	}
	say(0, session.RoleHuman, "dark mode")
	say(1, session.RoleAssistant, "I read on.")
	for range 90 {
		say(1, session.RoleHuman, fmt.Sprintf("number %d: ", len(one.Said))+strings.Repeat("what of this ", 20))
	}
	say(2, session.RoleHuman, "yes, go")
	say(4, session.RoleAssistant, "**Committed.**\n\n```\ncode\n```\n\n- two `files`")
	say(5, session.RoleHuman, "and the tests")
	say(7, session.RoleAssistant, "They pass.")
	say(8, session.RoleHuman, "thanks")
	commit := func(sha, subject string, minute int) result.StoryCommit {
		return result.StoryCommit{
			Commit: sha, Subject: subject, TS: at(minute), Sessions: []string{"A"},
			Ties: map[string]string{"A": "wrote"},
		}
	}
	s := result.Story{
		Kind: "range", Show: "a..b", Sessions: []result.StorySession{one},
		Commits: []result.StoryCommit{
			commit("aaaaaaaaa", "Dark", 3), commit("bbbbbbbbb", "Colours", 3),
			commit("ccccccccc", "Tests", 6),
		},
	}
	page := ReviewText(s, result.Lines{})
	for _, want := range []string{
		"**What was asked for each commit** (wrote lines):\n\n- aaaaaaa Dark (0 files, +0 −0)\n- bbbbbbb Colours (0 files, +0 −0)\n  - number 2: ",
		"  - yes, go\n", " other prompts\n  - *then the agent:* Committed. two `files`\n- ccccccc Tests (0 files, +0 −0)\n  - and the tests\n  - *then the agent:* They pass.\n- after these:\n",
		"**The agent's last words:**\n\n> They pass.\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	if n := countWords(page); n > reviewWords || n < reviewWords*8/10 {
		t.Errorf("%d words", n)
	}
}

// TestFailures: a command is said to have failed where the status of its last run is known, and not 0.
func TestFailures(t *testing.T) {
	long := "go test " + strings.Repeat("./x ", 30)
	for name, tt := range map[string]struct{ runs, want string }{
		"failed":                       {"go test ./...=1", "go test ./..."},
		"passed later":                 {"go test ./...=1 / go test ./...=0", ""},
		"other arguments":              {"go test ./a=1 / go test ./...=0", ""},
		"behind a folder":              {"go test ./...=1 / cd sub && go test ./...=0", ""},
		"in wrappers":                  {"git rekal run -- go test ./...=1 / CI=1 timeout 60 go test ./... 2>&1=0", ""},
		"in a shell":                   {"make check=2 / bash -lc 'make check'=0", ""},
		"a wrapper failed":             {"make check=0 / timeout 60 make check=124", "timeout 60 make check"},
		"a pipe says nothing":          {"go test ./...=1 / go test ./... | tail -3=0", ""},
		"failed in a pipe":             {"go test ./... | grep x=1", ""},
		"failed among others":          {"go vet ./... && go test ./...=1", ""},
		"a question":                   {"grep -r x .=1 / git diff --exit-code=1", ""},
		"the end is not known":         {long[:100] + "=1", ""},
		"may be another run":           {"go build ./...=1 / " + long[:96] + "&& g=0", ""},
		"another one of that name":     {"npm run lint=1 / npm run test=0", "npm run lint"},
		"passed, and then failed":      {"make=0 / make=2", "make"},
		"in the order of the first":    {"make a=1 / make b=1 / make a=2", "make a / make b"},
		"no status, as of old ledgers": {"go test ./...=0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var calls []result.Tool
			for run := range strings.SplitSeq(tt.runs, " / ") {
				at := strings.LastIndex(run, "=")
				exit, err := strconv.Atoi(run[at+1:])
				if err != nil {
					t.Fatal(err)
				}
				calls = append(calls, result.Tool{Tool: "Bash", Cmd: run[:at], Exit: exit})
			}
			var got []string
			for _, c := range failures(calls) {
				got = append(got, c.Cmd)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " / ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
