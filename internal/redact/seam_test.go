package redact_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// notes is a Remembered in memory.
type notes struct{ values []redact.Value }

func (n *notes) Find(text string) []redact.Span {
	var out []redact.Span
	for _, v := range n.values {
		for at := 0; !v.OnlyWhereNamed; {
			i := strings.Index(text[at:], v.Text)
			if i < 0 {
				break
			}
			out = append(out, redact.Span{Lo: at + i, Hi: at + i + len(v.Text), Rule: v.Rule})
			at += i + len(v.Text)
		}
	}
	return out
}

func (n *notes) Add(_ context.Context, values []redact.Value) error {
	n.values = append(n.values, values...)
	return nil
}

// TestRemembered: what one entry calls a secret is replaced in a later one that does not.
func TestRemembered(t *testing.T) {
	n := &notes{}
	r := redact.With(redact.Settings{Remembered: n})
	applyText(t, r, "the password is Vexing-Otter-91 now; PASSWORD=umbrella make")
	want := []redact.Value{
		{Text: "Vexing-Otter-91", Rule: "generic-secret"},
		{Text: "umbrella", Rule: "generic-secret", OnlyWhereNamed: true},
	}
	if diff := cmp.Diff(want, n.values); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
	e, rep := apply(t, r, entryOf("ssh ann@host, then Vexing-Otter-91, under an umbrella",
		`{"say": "Vexing\u002dOtter-91"}`))
	if got, want := e.Sessions[0].Turns[0].Content,
		"ssh ann@host, then [REDACTED:generic-secret], under an umbrella"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := e.Sessions[0].Turns[1].Content, `{"say": "[REDACTED:generic-secret]"}`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(rep.Marks) != 2 || rep.Marks[0].Trigger != "remembered" {
		t.Errorf("marks: %+v", rep.Marks)
	}
}

// TestPublished: what the repository itself publishes stays, but for values of a known format.
func TestPublished(t *testing.T) {
	var asked []string
	everything := func(_ context.Context, candidates []string) ([]redact.Publicity, error) {
		asked = append(asked, candidates...)
		return slices.Repeat([]redact.Publicity{redact.Pushed}, len(candidates)), nil
	}
	s := samples(1)[1]
	r := redact.With(redact.Settings{
		Published: everything,
		Known:     func() []string { return []string{"zebra-quartz-lantern"} },
	})
	got := applyText(t, r, "password: Vexing-Otter-91, "+s.text+" zebra-quartz-lantern")
	if want := "password: Vexing-Otter-91, " + strings.ReplaceAll(s.text, s.secret, "[REDACTED:"+s.rule+"]") +
		" [REDACTED:known-value]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"Vexing-Otter-91"}, slices.Compact(asked)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	fails := redact.With(redact.Settings{Published: func(context.Context, []string) ([]redact.Publicity,
		error,
	) {
		return nil, errors.New("no git")
	}})
	if _, _, err := fails.Apply(t.Context(), entryOf("password: Vexing-Otter-91")); err == nil ||
		!strings.Contains(err.Error(), "no git") {
		t.Errorf("error: %v", err)
	}
}

// TestCommitted: what only commits here have stays if it is a name of code, and somebody is told; what a remote has
// stays whatever it is.
func TestCommitted(t *testing.T) {
	named := func(value string) string { return "DB_PASSWORD=" + value + " make" }
	for _, tt := range []struct {
		name, value string
		excused     bool
	}{
		{"component", "RemediationHistory", true},
		{"constant", "GOOGLE_CLIENT_ID", true},
		{"algorithm", "AES-256-CTR", true},
		{"words", "umbrella-tango", true},
		{"number within", "violin2Tango", true},
		{"drawn", "gKwPx4821-RtvQz", false},
		{"token", "7tNcq0Lw2ZkVb9RmXs41", false},
		{"word with a number", "umbrella77", false},
		{"word with a year", "Autumn_2031", false},
		{"signs", "umbr!lla#tango", false},
		{"no words", "XkqzPdFtrwQzGh", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var told []string
			as := func(p redact.Publicity) *redact.Redactor {
				return redact.With(redact.Settings{
					Published: func(_ context.Context, c []string) ([]redact.Publicity, error) {
						return slices.Repeat([]redact.Publicity{p}, len(c)), nil
					},
					Excused: func(_ context.Context, values []redact.Value) error {
						for _, v := range values {
							told = append(told, v.Text)
						}
						return nil
					},
				})
			}
			text := named(tt.value)
			if got := applyText(t, as(redact.Committed), text); (got == text) != tt.excused || (len(told) > 0) != tt.excused {
				t.Errorf("committed: %q, told of %q", got, told)
			}
			told = nil
			if got := applyText(t, as(redact.Pushed), text); got != text || len(told) > 0 {
				t.Errorf("pushed: %q, told of %q", got, told)
			}
			if got := applyText(t, as(redact.Unpublished), text); got == text {
				t.Errorf("unpublished: %q", got)
			}
		})
	}
}

// TestRememberedIsPublished: what was remembered stays once the repository publishes it, or the user allows it.
func TestRememberedIsPublished(t *testing.T) {
	text := "look at HistoryOfVexing9, then password: Umbrella-Tower-88"
	want := "look at HistoryOfVexing9, then password: [REDACTED:generic-secret]"
	published := func(_ context.Context, candidates []string) ([]redact.Publicity, error) {
		out := make([]redact.Publicity, len(candidates))
		for i, v := range candidates {
			if v == "HistoryOfVexing9" {
				out[i] = redact.Pushed
			}
		}
		return out, nil
	}
	for name, s := range map[string]redact.Settings{
		"published": {Published: published},
		"allowed":   {Allow: []*regexp.Regexp{regexp.MustCompile("^HistoryOf")}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Remembered = &notes{values: []redact.Value{{Text: "HistoryOfVexing9", Rule: "generic-secret"}}}
			e := entryOf(text)
			e.Sessions[0].Title = session.PromptTitle(text)
			got, _ := apply(t, redact.With(s), e)
			if diff := cmp.Diff([]string{want, want}, []string{
				got.Sessions[0].Turns[0].Content,
				got.Sessions[0].Title,
			}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMarks: each place is reported where it stands, with what made the rule look, and its value in memory only.
func TestMarks(t *testing.T) {
	s := samples(1)[1]
	e := entryOf("use "+s.secret+" for it", "nothing", "<private>mine</private> and\nDB_PASSWORD=Vexing-Otter-91 make",
		"look at legal/nda.md")
	e.Sessions[0].Title = session.PromptTitle(e.Sessions[0].Turns[0].Content)
	e.Sessions[0].ToolCalls = []session.ToolCall{
		{Turn: 2, Tool: "Bash", Cmd: "echo Vexing-Otter-91"},
		{Turn: 3, Tool: "Read", Path: "legal/nda.md"},
	}
	_, rep := apply(t, redact.With(redact.Settings{Exclude: []string{"legal/"}}), e)
	token := "[REDACTED:" + s.rule + "]"
	want := []redact.Mark{
		{Rule: "excluded", Session: "01", In: redact.InPath, Turn: 3, Trigger: "rekal.exclude"},
		{Rule: "excluded", Session: "01", In: redact.InTurn, Turn: 3, Trigger: "rekal.exclude"},
		{Rule: s.rule, Session: "01", In: redact.InTurn, Turn: 0, Trigger: s.rule, Value: s.secret},
		{Rule: "private", Session: "01", In: redact.InTurn, Turn: 2, Trigger: "<private>"},
		{Rule: "generic-secret", Session: "01", In: redact.InTurn, Turn: 2, Trigger: "PASS", Value: "Vexing-Otter-91"},
		{
			Rule: "generic-secret", Session: "01", In: redact.InCommand, Turn: 2, Trigger: "found elsewhere",
			Value: "Vexing-Otter-91",
		},
		{Rule: s.rule, Session: "01", In: redact.InTitle, Turn: -1, Trigger: s.rule, Value: s.secret},
	}
	around := []string{
		"[excluded]",
		"[excluded]",
		"use " + token + " for it",
		"[private] and DB_PASSWORD=[REDACTED:gen…",
		"[private] and DB_PASSWORD=[REDACTED:generic-secret] make",
		"echo [REDACTED:generic-secret]",
		"use " + token + " for it",
	}
	for i, m := range rep.Marks {
		if i < len(want) {
			want[i].Text, want[i].Lo, want[i].Hi = m.Text, m.Lo, m.Hi
		}
		if i < len(around) && m.Around() != around[i] {
			t.Errorf("around %d: %q, not %q", i, m.Around(), around[i])
		}
	}
	if diff := cmp.Diff(want, rep.Marks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if dump, err := json.Marshal(rep.Marks); err != nil || strings.Contains(string(dump), "Vexing") ||
		strings.Contains(string(dump), s.secret) {
		t.Errorf("%v: a value is in the JSON: %s", err, dump)
	}
}
