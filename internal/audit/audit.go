// Package audit tells what redaction took out of an entry, and where, so that a person can judge it: a leak or a false alarm.
//
// In: an entry before and after redaction. Out: findings, in the order of the entry. A finding holds the rule and the redacted text around
// the place, never the secret.
//
// It compares texts and knows no rules. So it works for an entry that is about to be stored, and for a ledger.
package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Where a finding is.
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

// Finding is one place that redaction takes out.
type Finding struct {
	Rule    string
	Session string // its ID; "" where it is none's
	In      string // one of the constants
	Turn    int    // index of the turn, or of the one before the tool call; -1 where it is in none
	Around  string // the redacted text, on one line, at most about 80 characters
}

// ID names what to scrub, below a checkpoint's ID where the finding is in no session.
func (f Finding) ID(checkpoint string) string {
	switch {
	case f.Session == "":
		return checkpoint
	case f.In == InTitle:
		return f.Session + ":title"
	case f.In == InBranch, f.In == InModel:
		return f.Session
	}
	return fmt.Sprintf("%s:%d", f.Session, f.Turn)
}

// Excluded stands for the rule of what names a path that the user leaves out; what its author marked
// as <private> has the rule "private".
const Excluded = "excluded"

// gone is what a finding shows of a text of which nothing is left.
const gone = "[" + Excluded + "]"

// marker is what redaction puts in the place of a text.
var marker = lazy.Expr(`\[REDACTED:([a-z0-9-]+)\]|\[(private|excluded)\]`)

// Findings compares an entry with what redaction made of it.
func Findings(before, after session.Entry) []Finding {
	before, missing := paired(before, after)
	old, now := places(before), places(after)
	var out []Finding
	for i := range min(len(old), len(now)) {
		if old[i].text != now[i].text {
			out = append(out, now[i].found(old[i].text)...)
		}
	}
	return append(out, missing...)
}

// paired is an entry with those files alone that redaction left, so that each stands where it stands
// behind redaction, and a finding for each other one. Where redaction also changed a path among them,
// it is paired with none.
func paired(before, after session.Entry) (session.Entry, []Finding) {
	if before.Checkpoint == nil || after.Checkpoint == nil {
		return before, nil
	}
	all, left := before.Checkpoint.Files, after.Checkpoint.Files
	if len(all) <= len(left) {
		return before, nil
	}
	cp := *before.Checkpoint
	cp.Files = make([]session.File, len(left))
	next := 0
	for i, f := range left {
		if at := slices.IndexFunc(all[next:], func(g session.File) bool { return g.Path == f.Path }); at >= 0 {
			cp.Files[i] = all[next+at]
			next += at + 1
		}
	}
	before.Checkpoint = &cp
	return before, slices.Repeat([]Finding{{Rule: Excluded, In: InFile, Turn: -1, Around: gone}}, len(all)-len(left))
}

// place is one text of an entry.
type place struct {
	Finding
	text string
}

// found lists the markers that were not in the text before. Where that had some of a rule, these
// are taken to come first.
func (p place) found(before string) []Finding {
	if p.text == "" && (p.In == InPath || p.In == InCommand) {
		p.Rule, p.Around = Excluded, gone
		return []Finding{p.Finding}
	}
	had := map[string]int{}
	for _, m := range marker.FindAllString(before, -1) {
		had[m]++
	}
	var out []Finding
	for _, at := range marker.FindAllStringSubmatchIndex(p.text, -1) {
		text := p.text[at[0]:at[1]]
		if had[text]--; had[text] >= 0 {
			continue
		}
		f := p.Finding
		f.Rule = strings.Trim(strings.TrimPrefix(text, "[REDACTED:"), "[]")
		f.Around = around(p.text, at[0], at[1])
		out = append(out, f)
	}
	return out
}

// margin is how many characters of text are shown on each side.
const margin = 30

func around(text string, lo, hi int) string {
	before, after := []rune(flat(text[max(0, lo-8*margin):lo], true)), []rune(flat(text[hi:min(len(text), hi+8*margin)], false))
	head, tail := "", ""
	if len(before) > margin {
		before, head = before[len(before)-margin:], "…"
	}
	if len(after) > margin {
		after, tail = after[:margin], "…"
	}
	return head + string(before) + text[lo:hi] + string(after) + tail
}

// flat is text on one line; a space stays at the end where the marker is, and what was cut inside
// a character is dropped.
func flat(s string, before bool) string {
	s = strings.ToValidUTF8(s, "")
	line := strings.Join(strings.Fields(s), " ")
	if line == "" {
		return line
	}
	if r := s[len(s)-1]; before && (r == ' ' || r == '\n' || r == '\t') {
		line += " "
	}
	if !before && (s[0] == ' ' || s[0] == '\n' || s[0] == '\t') {
		line = " " + line
	}
	return line
}

// places lists the texts of an entry, as many for an entry as for what redaction makes of it.
func places(e session.Entry) []place {
	var out []place
	add := func(session, in string, turn int, text string) {
		out = append(out, place{Finding{Session: session, In: in, Turn: turn}, text})
	}
	add("", InSubject, -1, e.Subject)
	if cp := e.Checkpoint; cp != nil {
		add("", InBranch, -1, cp.GitBranch)
		for _, f := range cp.Files {
			add("", InFile, -1, f.Path)
			add("", InFile, -1, f.OldPath)
		}
	}
	for _, s := range e.Sessions {
		add(s.ID, InBranch, -1, s.Branch)
		add(s.ID, InModel, -1, s.Model)
		add(s.ID, InTitle, -1, s.Title)
		for _, t := range s.Turns {
			add(s.ID, InTurn, t.Index, t.Content)
		}
		for _, c := range s.ToolCalls {
			add(s.ID, InPath, c.Turn, c.Tool)
			add(s.ID, InPath, c.Turn, c.Path)
			add(s.ID, InCommand, c.Turn, c.Cmd)
		}
	}
	for _, m := range e.Memories {
		for _, text := range []string{m.Title, m.Content, m.Source} {
			add("", InMemory, -1, text)
		}
	}
	return out
}
