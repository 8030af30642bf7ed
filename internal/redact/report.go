package redact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Where a mark is.
const (
	InTurn    = "turn"
	InTitle   = "title"
	InCommand = "command"
	InPath    = "path" // of a tool call, or the tool's name
	InBranch  = "branch"
	InModel   = "model"
	InFile    = "file"    // a path of the code commit
	InSubject = "subject" // of the code commit
	InMemory  = "memory"
)

// Mark is one place that redaction replaced.
type Mark struct {
	Rule    string // "private" and "excluded" for what its author or the settings leave out
	Session string // its ID; "" for a text of no session
	In      string // one of the constants
	Turn    int    // index of the turn, or of the one before the tool call; -1 for others
	Trigger string // what made the rule look: a name, a prefix, "known value", "remembered"
	Value   string `json:"-"` // what was replaced; only for a person's terminal, never to be stored
	Text    string `json:"-"` // the redacted text
	Lo, Hi  int    // where the mark stands in it, in bytes
}

// ID names what to scrub, below a checkpoint's ID where the mark is in no session.
func (m Mark) ID(checkpoint string) string {
	switch {
	case m.Session == "":
		return checkpoint
	case m.In == InTitle:
		return m.Session + ":title"
	case m.In == InBranch, m.In == InModel:
		return m.Session
	}
	return fmt.Sprintf("%s:%d", m.Session, m.Turn)
}

// addTo adds the marks of a text that is done to a report.
func (t *text) addTo(rep *Report) {
	private := 0
	rep.Marks = slices.Grow(rep.Marks, len(t.marks))
	for _, m := range t.marks {
		rep.Marks = append(rep.Marks, t.place.withSpan(m, *t.at))
		if m.rule == "private" {
			private = 1
			continue
		}
		if rep.Rules == nil {
			rep.Rules = map[string]int{}
		}
		rep.Rules[m.rule]++
	}
	rep.Private += private
}

// withSpan is a mark for a span at the place of m.
func (m Mark) withSpan(s span, text string) Mark {
	m.Rule, m.Trigger, m.Value, m.Text, m.Lo, m.Hi = s.rule, s.trigger, s.value, text, s.lo, s.hi
	return m
}

// Around is the text around the mark, on one line, at most about 80 characters.
func (m Mark) Around() string {
	const shown = 30 // characters, on each side of a marker
	from, to := runeStart(m.Text, max(0, m.Lo-4*shown)), runeStart(m.Text, min(len(m.Text), m.Hi+4*shown))
	before := []rune(strings.TrimLeft(whiteSpace.ReplaceAllString(m.Text[from:m.Lo], " "), " "))
	after := []rune(strings.TrimRight(whiteSpace.ReplaceAllString(m.Text[m.Hi:to], " "), " "))
	if n := len(before) - shown; n > 0 {
		before = append([]rune("…"), before[n:]...)
	}
	if len(after) > shown {
		after = append(after[:shown], '…')
	}
	return string(before) + m.Text[m.Lo:m.Hi] + string(after)
}

var whiteSpace = lazy.Expr(`\s+`)
