package redact

import (
	"fmt"
	"strings"
	"unicode/utf8"
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

// place is where a text stands in its entry.
type place struct {
	session string // its ID; "" for a text of no session
	in      string // one of the constants
	turn    int    // index of the turn, or of the one before the tool call; -1 for others
}

// Mark is one place that redaction replaced.
type Mark struct {
	Rule    string // "private" and "excluded" for what its author or the settings leave out
	Session string // its ID; "" for a text of no session
	In      string // one of the constants
	Turn    int    // index of the turn, or of the one before the tool call; -1 for others
	Trigger string // what made the rule look: a name, a prefix, "known value", "remembered"
	Around  string // the redacted text, on one line, at most about 80 characters
	Value   string `json:"-"` // what was replaced; only for a person's terminal, never to be stored
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

// report adds the marks of a text that is done.
func (t *text) report(rep *Report) {
	private := 0
	for _, m := range t.marks {
		rep.Marks = append(rep.Marks, t.place.mark(m.rule, m.trigger, around(*t.at, m.lo, m.hi), m.value))
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

func (p place) mark(rule, trigger, around, value string) Mark {
	return Mark{Rule: rule, Session: p.session, In: p.in, Turn: p.turn, Trigger: trigger, Around: around, Value: value}
}

// shown is how many characters of the text are shown on each side of a marker.
const shown = 30

func around(text string, lo, hi int) string {
	before, after := flat(text[max(0, lo-4*shown):lo], true), flat(text[hi:min(len(text), hi+4*shown)], false)
	head, tail := "", ""
	for n := utf8.RuneCountInString(before); n > shown; n-- {
		_, size := utf8.DecodeRuneInString(before)
		before, head = before[size:], "…"
	}
	for n := utf8.RuneCountInString(after); n > shown; n-- {
		_, size := utf8.DecodeLastRuneInString(after)
		after, tail = after[:len(after)-size], "…"
	}
	return head + before + text[lo:hi] + after + tail
}

// flat is text on one line; a space stays at the end where the marker is, and what was cut inside a character is dropped.
func flat(s string, before bool) string {
	s = strings.ToValidUTF8(s, "")
	line := strings.Join(strings.Fields(s), " ")
	if line == "" {
		return line
	}
	if before && strings.ContainsAny(s[len(s)-1:], " \n\t") {
		line += " "
	}
	if !before && strings.ContainsAny(s[:1], " \n\t") {
		line = " " + line
	}
	return line
}
