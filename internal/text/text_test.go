package text_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/width"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
)

var (
	now    = time.Date(2026, 3, 20, 10, 0, 0, 0, time.UTC)
	colors = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\]8;;[!-~]*\x1b\\\\")
)

// hostile is what a screen may obey, what is wide, and what is long.
const hostile = "a\x1b[2J\x1b]0;t\x07\u009b31m\u202eb\u2066c\u200b\r\n\td\U000E0041 日本語日本語日本語日本語日本語日本語日本語 👩\u200d👩\u200d👧 ❤\ufe0f e\u0301 עברית " +
	"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx \x9b bytes"

// fill puts a text into each string of a value, and something into each list and pointer.
func fill(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Int:
		v.SetInt(3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), s)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), s)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), s)
		}
	}
}

func filled[T any](s string) (v T) {
	fill(reflect.ValueOf(&v).Elem(), s)
	return v
}

// all lays everything out, with a text in every field.
func all(look text.Look, s string) map[string]string {
	subject := func(string) string { return s }
	answer, record := filled[result.Recall](s), filled[result.Recall](s)
	for i := range record.Results {
		record.Results[i].Kind, record.Why = "record", nil
	}
	checkpoints := []result.Checkpoint{filled[result.Checkpoint](s), filled[result.Checkpoint](s)}
	return map[string]string{
		"recall":  text.Recall(look, answer, nil),
		"records": text.Recall(look, record, nil),
		"why":     text.Recall(look, answer, map[string]result.Exchange{s: {Asked: s, Answered: s}}),
		"session": text.Session(look, filled[result.Session](s)),
		"memory":  text.Memory(look, filled[result.Memory](s)),
		"log":     text.Log(look, checkpoints, subject),
		"oneline": text.Oneline(look, checkpoints, subject),
		"doctor":  text.Doctor(look, filled[result.Doctor](s), true),
	}
}

// printableSpan reports what of a layout is wider than it may be, or is obeyed by a screen.
func safe(t *testing.T, name, layout string, columns int) {
	t.Helper()
	for line := range strings.SplitSeq(colors.ReplaceAllString(layout, ""), "\n") {
		n := 0
		for _, r := range line {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r>>8 == 0xe00 {
				t.Fatalf("%s: %+q in %+q", name, r, line)
			}
			switch kind := width.LookupRune(r).Kind(); {
			case unicode.In(r, unicode.Mn, unicode.Me) && r != '\ufe0f' || r == '\u200d' || r == '\u200c':
			case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
				n += 2
			default:
				n++
			}
		}
		if columns > 0 && n > columns {
			t.Fatalf("%s: %d columns of %d: %q", name, n, columns, line)
		}
	}
}

func TestHostileText(t *testing.T) {
	for _, look := range []text.Look{
		{},
		{
			Width: 20, UTF8: true, Color: true, Now: now,
			Commit: func(sha string) string { return "https://example.com/" + sha },
		},
		{Width: 80, Color: true, Matches: func(s string) [][2]int { return [][2]int{{0, len(s) - 5}, {len(s) - 5, len(s)}} }},
		{Width: 7},
	} {
		for name, layout := range all(look, hostile) {
			columns := max(look.Width, 20)
			if look.Width == 0 {
				columns = 0
			}
			safe(t, name, layout, columns)
			if look.Width != 0 && !strings.Contains(layout, "�") {
				t.Errorf("%s hides what is hostile: %q", name, layout)
			}
		}
	}
}

func FuzzLayout(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string, columns int) {
		columns = 20 + int(uint8(columns))%100
		for name, layout := range all(text.Look{Width: columns, UTF8: true, Color: true, Now: now}, s) {
			safe(t, name, layout, columns)
			if !utf8.ValidString(layout) {
				t.Fatalf("%s: no UTF-8: %q", name, layout)
			}
		}
	})
}

// TestLinks: what a remote's URL holds ends no link.
func TestLinks(t *testing.T) {
	look := text.Look{Color: true, Commit: func(string) string { return "https://example.com/\x1b\\\x1b[2J" }}
	if got := text.Log(look, []result.Checkpoint{{Commit: "abc"}},
		func(string) string { return "" }); strings.Contains(got, "\x1b[2J") {
		t.Errorf("%q", got)
	}
}

func TestSession(t *testing.T) {
	four := 4
	s := result.Session{
		ID: "01KJW4MN48AJBF1NFJ2X4RZ873", Title: "Fix JWT expiry", Author: "alice@example.com", Actor: "human",
		Source: "codex", StartedAt: "2026-03-20T09:00:00Z",
		Turns: 9, ToolCalls: 1, Parent: "01KJW4MN", Next: &four,
		Page: []result.Turn{
			{Turn: 2, Role: "human", TS: "2026-03-20T09:00:00Z", Content: "why?\n\n\n\tfunc f()\n"},
			{Turn: 3, Role: "assistant", Content: "Because.", ContentBytes: 99999, ContentNext: 9},
		},
		Tools: []result.Tool{
			{Turn: 2, Tool: "Read", Path: "a.go"},
			{Turn: 2, Tool: "Read", Path: "b.go", Failed: true},
			{Turn: 2, Tool: "Bash", Cmd: "go test"},
		},
	}
	const want = `Fix JWT expiry
session 01KJW4MN48AJBF1NFJ2X4RZ873,
  2026-03-20 09:00 (60 minutes ago),
  alice@example.com, codex
9 turns, 1 tool call,
  spawned by 01KJW4MN

alice@example.com [2],
  2026-03-20 09:00
  why?

      func f()
  > Read a.go, b.go (failed)
  > Bash go test

codex [3]
  Because.
  (the beginning of 99999 bytes)

git rekal query --session
  01KJW4MN48AJBF1NFJ2X4RZ873 --offset
  4 reads on
`
	if diff := cmp.Diff(want, text.Session(text.Look{Width: 38, Now: now}, s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMessage: a message is broken between words, and a command in quotes nowhere if a line holds it.
func TestMessage(t *testing.T) {
	for _, tt := range []struct {
		columns          int
		rest, line, want string
	}{
		{0, "> ", `share it: "git rekal sync" sends the ledger`, "> share it: \"git rekal sync\" sends the ledger\n"},
		{
			22, "> ", `share it: "git rekal sync"; it sends the ledger`,
			"> share it:\n> \"git rekal sync\"; it\n> sends the ledger\n",
		},
		{22, "    ", `"a command that is too long for a line"`, "> \"a command that is\n    too long for a\n    line\"\n"},
		{22, "> ", `x "unbalanced`, "> x \"unbalanced\n"},
		{22, "> ", "", ">\n"},
	} {
		if got := text.Message(tt.columns, "> ", tt.rest, tt.line); got != tt.want {
			t.Errorf("%q in %d columns: %q, want %q", tt.line, tt.columns, got, tt.want)
		}
	}
}

func TestRecall(t *testing.T) {
	one := 1
	a := result.Recall{
		Query: "expiry last week", Total: 3, Unknown: []string{"frob"},
		When: &result.When{Since: "2026-03-09T00:00:00Z", Until: "2026-03-16T00:00:00Z", Read: "last week"},
		Results: []result.Hit{
			{
				ID: "01A", Kind: "memory", Title: "Leeway", Snippet: "30 s", Author: "bob@example.com", Actor: "agent", Weak: true,
				CapturedAt: "2026-03-19T10:00:00Z", Freshness: result.StaleDeleted,
			},
			{
				ID: "42", Kind: "record", Title: "go test", Snippet: "FAIL x\n    x_test.go:3", Exit: &one,
				CapturedAt: "2025-01-19T10:00:00Z", Files: []string{"x_test.go"}, FilesTotal: 3,
			},
			{
				ID: "01B", Kind: "session", Commits: []string{"1234567", "89abcde"}, Missing: []string{"89abcde"},
				CapturedAt: "2026-03-20T10:00:00Z", LastTurnAt: "2026-03-20T09:59:50Z", Source: "codex",
				Facts: session.Facts{Model: "gpt-5.4"}, Branch: "main", Purged: true,
				Stale: []result.File{
					{Path: "a", Freshness: result.StaleChanged},
					{Path: "b", Freshness: result.StaleDeleted},
					{Path: "c", Freshness: result.StaleChanged},
					{Path: "d", Freshness: result.StaleChanged},
					{Path: "e", Freshness: result.StaleChanged},
				},
			},
		},
		More: []result.Mention{{ID: "01C", Title: "Something else"}},
	}
	const want = `from 2026-03-09 00:00 until 2026-03-16 00:00 ("last week")
No session mentions: frob.
Nothing answers this well. Nearest:

1. Leeway
   2026-03-19 10:00 (24 hours ago), bob@example.com (agent), memory
   30 s
   git rekal show 01A

2. $ go test
   2025-01-19 10:00 (1 year ago), record, exit 1
     FAIL x
         x_test.go:3
   x_test.go  and 2 more
   git rekal show 42

3. (no title)
   2026-03-20 09:59 (10 seconds ago), codex (gpt-5.4), main
   commits 1234567 89abcde (not here)
   changed since: a c and 2 more, gone since: b, purged
   git rekal show 01B

And 1 more:
   01C Something else
`
	if diff := cmp.Diff(want, text.Recall(text.Look{Width: 80, Now: now}, a, nil)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	a.Total, a.Results[0].Weak = len(a.Results)+520, false
	if got := text.Recall(text.Look{Width: 80, Now: now}, a, nil); !strings.Contains(got,
		"\nAnd 520 more, first these:\n   01C") {
		t.Errorf("of 520 more one is named:\n%s", got)
	}
	empty := result.Recall{
		When: &result.When{Read: "last week", Dropped: true},
		AsOf: &result.AsOf{Checkpoint: "1234567890", Until: "2026-03-09T00:00:00Z"},
	}
	if got := text.Recall(text.Look{Width: 80}, empty,
		nil); got != "As of 2026-03-09 00:00 1234567\nNothing of \"last week\": this is the answer without it.\nNothing matches.\n" {
		t.Errorf("%q", got)
	}
}

func TestWhy(t *testing.T) {
	hit := func(tie string, ranges, exact, shared []result.Range) result.Hit {
		return result.Hit{
			Kind: "session", Title: "t", Tie: tie, Inferred: tie == "inferred",
			Explains: &result.Explains{Ranges: ranges, Exact: exact, Shared: shared},
		}
	}
	a, b := result.Range{1, 4}, result.Range{7, 7}
	look := text.Look{Width: 90}
	for _, tt := range []struct {
		name string
		hit  result.Hit
		want string
	}{
		{
			"all is exact", hit("wrote", []result.Range{a, b}, []result.Range{a, b}, nil),
			"it wrote lines 1-4, 7: its edits and the commit were compared line by line",
		},
		{
			"some is", hit("wrote", []result.Range{a, b}, []result.Range{b}, nil),
			"it wrote line 7: its edits and the commit were compared line by line; of lines 1-4 only that the session wrote the lines around",
		},
		{"none is", hit("edited", []result.Range{b}, nil, nil), "of line 7 only that the session wrote to its files"},
		{
			"it may be another's", hit("made", []result.Range{a}, nil, []result.Range{{2, 3}}),
			"of lines 1-4 only that the session made the commit; lines 2-3: so did another session here",
		},
		{
			"it is inferred", hit("inferred", []result.Range{b}, nil, nil),
			"of line 7 only that the session is inferred from content",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := text.Recall(text.Look{Width: 200}, result.Recall{
				Why:     &result.Why{Path: "a.go", From: 1, To: 9},
				Results: []result.Hit{tt.hit},
			}, nil)
			if !strings.HasPrefix(got, "a.go:1-9\n\n1. line") || !strings.Contains(got, "\n   Known: "+tt.want+"\n") {
				t.Errorf("%s", got)
			}
		})
	}
	why := &result.Why{Path: "a.go", From: 3, To: 3, Uncommitted: []result.Range{b}, Unexplained: []result.Source{
		{
			Origin: result.Origin{Commit: "1234567", Subject: "Join both", TS: "2026-03-04T10:00:00Z", Merge: true},
			Ranges: []result.Range{a},
		},
		{Origin: result.Origin{Commit: "89abcde"}, Ranges: []result.Range{b}, Cut: true},
	}}
	const want = "a.go:3\nline 7: not committed yet\nlines 1-4: no session is known; commit 1234567 Join both, 2026-03-04 10:00, a merge\nline 7: no session is known; commit 89abcde or one before it, which this shallow clone\n  lacks\nNo session explains these lines.\n"
	if diff := cmp.Diff(want, text.Recall(look, result.Recall{Why: why}, nil)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDoctor(t *testing.T) {
	two := 2
	d := result.Doctor{
		Checks: []result.Check{
			{Name: "git", Status: "ok", Says: "well", Fix: "none"},
			{Name: "setup", Status: "wrong", Says: "not set up", Fix: "git rekal init"},
			{Name: "x", Status: "note", Says: "y"},
		},
		Leaks: []result.Finding{
			{
				Rule: "r", Session: "01A", In: "turn", Turn: &two, Around: "a", Author: "a@b.c",
				Scrub: "01A:2",
			},
			{Rule: "r", Session: "01B", In: "command", Turn: &two, Around: "b", Author: "b@b.c"},
			{Rule: "r", In: "subject", Around: "c", Author: "b@b.c"},
		},
		More: 1,
	}
	const leaks = `
in the ledger of a@b.c:
  r: 01A turn 2: a
       -> git rekal scrub 01A:2

in the ledger of b@b.c:
  r: 01B command behind turn 2: b
  r: subject: c
and 1 more

Only its author can scrub a ledger; your next "git rekal sync" takes that over.
`
	const words = "ok     git: well\nwrong  setup: not set up\n       -> git rekal init\nnote   x: y\n"
	const signs = "✓ git: well\n✗ setup: not set up\n  -> git rekal init\n! x: y\n"
	for _, tt := range []struct {
		look text.Look
		want string
	}{{text.Look{}, words}, {text.Look{Width: 80}, words}, {text.Look{Width: 80, UTF8: true}, signs}} {
		if diff := cmp.Diff(tt.want+leaks, text.Doctor(tt.look, d, false)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.look, diff)
		}
	}
}

// TestFilesOfAHit: a name that fits on a line is on one, and all lines begin alike.
func TestFilesOfAHit(t *testing.T) {
	wide := "docs/" + strings.Repeat("n", 28) + ".md" // 36 columns, beside an indentation of 3
	a := result.Recall{Results: []result.Hit{{
		ID: "01A", Kind: "session", Title: "t",
		Files: []string{"a.go", wide, "my file.go"}, FilesTotal: 5,
	}}}
	const want = "   a.go\n   docs/nnnnnnnnnnnnnnnnnnnnnnnnnnnn.md\n   my file.go  and 2 more\n"
	if got := text.Recall(text.Look{Width: 39}, a, nil); !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}

func TestOneline(t *testing.T) {
	sessions := []result.LogSession{{ID: "01KJW4MN", Title: "Fix JWT expiry in other time zones"}, {ID: "01KJW4MX"}}
	cp := result.Checkpoint{Commit: "70ee311aaa", TS: "2026-03-04T10:00:00Z", Sessions: sessions}
	none := result.Checkpoint{Commit: "89abcdeaaa", TS: "2026-03-04T10:00:00Z"}
	for width, want := range map[int]string{
		0:  "70ee311 2026-03-04 Read expires_at as UTC  01KJW4MN +1  Fix JWT expiry in other time zones\n89abcde 2026-03-04 Read expires_at as UTC\n",
		80: "70ee311 2026-03-04 Read expires_at as UTC  01KJW4MN +1  Fix JWT expiry in...\n89abcde 2026-03-04 Read expires_at as UTC\n",
		60: "70ee311 2026-03-04 Read expires_at as UTC  01KJW4MN +1\n89abcde 2026-03-04 Read expires_at as UTC\n",
		40: "70ee311 2026-03-04 Read...  01KJW4MN +1\n89abcde 2026-03-04 Read expires_at as...\n",
		30: "70ee311 2026-03-04 Read exp...\n89abcde 2026-03-04 Read exp...\n",
	} {
		if diff := cmp.Diff(want, text.Oneline(text.Look{Width: width}, []result.Checkpoint{cp, none},
			func(string) string { return "Read expires_at as UTC" })); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", width, diff)
		}
	}
	if got := text.Oneline(text.Look{}, []result.Checkpoint{cp},
		func(string) string { return "" }); got != "70ee311 2026-03-04 Fix JWT expiry in other time zones  01KJW4MN +1\n" {
		t.Errorf("%q", got)
	}
}
