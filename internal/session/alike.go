package session

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SameBeforeRedaction reports whether two texts can be one that was redacted by different rules, or with
// different values known to be secret: they agree up to the first place where either has
// something taken out, and behind the last one. Beside a turn's time and role, or a call's
// place and tool, that tells whether it is the same.
func SameBeforeRedaction(a, b string) bool {
	if a == b {
		return true
	}
	a, b = PlainText(a), PlainText(b) // what was stored before there was a normal form
	if a == b {
		return true
	}
	ah, at, am := aroundMarks(a)
	bh, bt, bm := aroundMarks(b)
	switch {
	case !am && !bm:
		return false
	case !am:
		ah, at = a, a
	case !bm:
		bh, bt = b, b
	}
	n, m := min(len(ah), len(bh)), min(len(at), len(bt))
	return ah[:n] == bh[:n] && at[len(at)-m:] == bt[len(bt)-m:]
}

// OtherwiseRedacted reports whether two texts are one from which redaction took different things. The names of the
// rules do not count.
func OtherwiseRedacted(a, b string) bool {
	return a != b && SameBeforeRedaction(a, b) && withoutRuleNames(a) != withoutRuleNames(b)
}

// withoutRuleNames is a text without the rules' names in its markers.
func withoutRuleNames(s string) string {
	var out strings.Builder
	for {
		i := strings.Index(s, marker)
		if i < 0 {
			return out.String() + s
		}
		out.WriteString(s[:i+len(marker)])
		s = s[i+len(marker):]
		s = s[strings.IndexByte(s, ']')+1:]
	}
}

// CountRedacted counts the places of a text that redaction takes out now and did not before, and those that it leaves
// now, at least one of either: a text may have both.
func CountRedacted(before, now string) (taken, back int) {
	was, is := wordsOutsideMarks(before), wordsOutsideMarks(now)
	more := countMarks(now) - countMarks(before)
	if lacksAny(is, was) {
		taken = max(1, more)
	}
	if lacksAny(was, is) {
		back = max(1, -more)
	}
	if taken+back == 0 { // signs alone
		taken, back = max(more, 0), max(-more, 0)
	}
	return taken, max(back, 1-taken)
}

// wordsOutsideMarks counts the words of a text, without its marks.
func wordsOutsideMarks(s string) map[string]int {
	s = strings.ReplaceAll(withoutRuleNames(s), marker, " ")
	for _, m := range []string{private, excluded} {
		s = strings.ReplaceAll(s, m, " ")
	}
	out := map[string]int{}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out[word]++
	}
	return out
}

func lacksAny(in, of map[string]int) bool {
	for word, n := range of {
		if in[word] < n {
			return true
		}
	}
	return false
}

func countMarks(s string) (n int) {
	for _, m := range []string{marker, private, excluded} {
		n += strings.Count(s, m)
	}
	return n
}

// HasMark reports whether redaction took something out of a text.
func HasMark(s string) bool {
	_, _, marked := aroundMarks(s)
	return marked
}

// marks are what redaction leaves where it took something out: see internal/redact.
const (
	marker   = "[REDACTED:"
	private  = "[private]"
	excluded = "[excluded]"
	home     = "~"
)

// aroundMarks are what stands before the first mark in a text and behind the last one; false when
// there is none.
func aroundMarks(s string) (head, tail string, marked bool) {
	first, last := len(s), 0
	for _, m := range []string{marker, private, excluded, home} {
		if i := strings.Index(s, m); i >= 0 {
			first, marked = min(first, i), true
			i = strings.LastIndex(s, m)
			end := i + len(m)
			if m == marker {
				end += strings.IndexByte(s[end:]+"]", ']') + 1
			}
			last = max(last, min(end, len(s)))
		}
	}
	return s[:first], s[last:], marked
}

// callKey is what a tool call has that no redaction changes.
type callKey struct {
	turn int
	tool string
}

func callKeyOf(c ToolCall) callKey { return callKey{c.Turn, c.Tool} }

// identity is what tells a call from others. How it ended is known later than the call.
func (c ToolCall) identity() ToolCall {
	c.Index, c.Act, c.Failed, c.Exit, c.Terms = 0, "", false, 0, ""
	return c
}

// isSameCall reports whether two calls of one number are the same.
func isSameCall(a, b ToolCall) bool {
	return a == b || a.Index == b.Index && callKeyOf(a) == callKeyOf(b) && (hasNoText(a) || hasNoText(b) || a.Like(b))
}

// Like reports whether another call behind the same turn can be this one under other rules. A command is cut behind
// redaction, so its end says nothing.
func (c ToolCall) Like(d ToolCall) bool {
	return SameBeforeRedaction(c.Path, d.Path) && alikeCommands(c.Cmd, d.Cmd)
}

// hasNoText reports whether a call was excluded, or failed and was stored when no path of such was kept.
func hasNoText(c ToolCall) bool { return c.Path == "" && c.Cmd == "" }

func alikeCommands(a, b string) bool {
	if SameBeforeRedaction(a, b) {
		return true
	}
	ah, _, am := aroundMarks(a)
	bh, _, bm := aroundMarks(b)
	n := min(len(ah), len(bh))
	return (am || bm) && max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) >= CmdPrefix-len(marker) &&
		ah[:n] == bh[:n]
}

// calls are the calls of a session that equal no call of a part, keyed by the fields that redaction never changes.
type calls map[callKey][]ToolCall

func indexCalls(known map[ToolCall]int) calls {
	out := calls{}
	for c, n := range known {
		for range n {
			out[callKeyOf(c)] = append(out[callKeyOf(c)], c)
		}
	}
	return out
}

// remove removes a call that can be c, and reports whether there was one.
func (l calls) remove(c ToolCall) bool {
	k := callKeyOf(c)
	i := slices.IndexFunc(l[k], func(held ToolCall) bool {
		return hasNoText(c) || c.Failed && hasNoText(held) ||
			held.Like(c)
	})
	if i < 0 {
		return false
	}
	l[k] = slices.Delete(l[k], i, i+1)
	return true
}
