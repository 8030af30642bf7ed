// Package question reads time in an English question: "what did we do on 13 February", "JWT since v1.2".
//
// In: the text, the time of the question, a lookup of tags. Out: the span, the other words to search for, and whether
// the latest is asked for. It reads no clock and no repository. A part that it does not understand stays words.
// docs/recall.md, "Time in a question", has the grammar.
package question

import (
	"strings"
	"time"
)

// Span is Since ≤ t < Until; a zero time leaves that side open.
type Span struct{ Since, Until time.Time }

// Question is what was read of a text.
type Question struct {
	Words string // what is left to search for
	When  Span   // the zero Span where the text names no time
	Read  string // the words that were read as When
	// it says so that nothing from another time counts: "since", "on 13 February", "last week", not a date alone
	Strict bool
	Latest bool // it asks for no topic: for what happened last, or then
	Own    bool // it asks for the work of who asks
}

// Clock is what a time is read against.
type Clock struct {
	Now time.Time // in the time zone of who asks
	// when the commit of a tag was made, with or without a "v"; of the newest one for ""; nil: there are none
	Tag func(name string) (time.Time, bool)
}

// Read reads a text of at most maxWords words; a longer one is no question of time. What stands in quotes or
// backticks is never a time.
func Read(text string, c Clock) Question {
	q := Question{Words: text}
	r := reader{Clock: c, words: split(text)}
	if len(r.words) > maxWords {
		return q
	}
	var from, to int
	for i := range r.words {
		if s, n := r.span(i); n > 0 {
			q.When, from, to = s, i, i+n
			break
		}
	}
	if to > from {
		if s, n := r.span(to); n > 0 && !q.When.intersect(s).empty() { // "since Monday until Wednesday"
			q.When, to = q.When.intersect(s), to+n
		}
		begin, end := r.words[from].begin, r.words[to-1].end
		q.Read = strings.Trim(text[begin:end], edges)
		q.Words = strings.TrimSpace(strings.TrimSpace(text[:begin]) + " " + strings.TrimSpace(text[end:]))
	}
	q.Strict = to > from && r.isStrict(from)
	q.Latest, q.Own = hasNoTopic(split(q.Words), to > from)
	return q
}

// maxWords is how long a question is that somebody typed; beyond it is pasted text, whose dates are not what is asked
// for.
const maxWords = 60

// Since reads where a time that a user names begins: "yesterday", "13 Feb", "last week", "2026-02-13 14:30", "now". It
// reports false for anything else.
func Since(text string, c Clock) (time.Time, bool) {
	s, ok := readWhole(text, c)
	return s.Since, ok
}

// Until is the time behind the end of what Since reads, or the moment itself where that is one.
func Until(text string, c Clock) (time.Time, bool) {
	s, ok := readWhole(text, c)
	return s.Until, ok
}

// At is the last second of what Since reads.
func At(text string, c Clock) (time.Time, bool) {
	s, ok := readWhole(text, c)
	if ok && s.Until.After(s.Since) {
		return s.Until.Add(-time.Second), true
	}
	return s.Since, ok
}

// readWhole reads a text that is a time and nothing else. Where it names a moment, the span is empty.
func readWhole(text string, c Clock) (Span, bool) {
	if t, ok := parseWritten(strings.TrimSpace(text), c.Now.Location()); ok {
		return Span{t, t}, true
	}
	r := reader{Clock: c, words: split(text)}
	if len(r.words) == 1 && strings.HasSuffix(r.wordAt(0), ".ago") { // as git takes it
		r.words = split(strings.ReplaceAll(text, ".", " "))
	}
	if t, ok := r.instant(); ok {
		return Span{t, t}, true
	}
	s, n := r.moment(0, true)
	return s, n > 0 && n == len(r.words) && !s.empty()
}

func (s Span) intersect(o Span) Span {
	if o.Since.After(s.Since) {
		s.Since = o.Since
	}
	if s.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(s.Until) {
		s.Until = o.Until
	}
	return s
}

func (s Span) empty() bool { return !s.Until.IsZero() && !s.Since.Before(s.Until) }

// word is a word of the question, in lower case and without the signs around it.
type word struct {
	text       string
	begin, end int  // in the text, with what stands around it
	upper      bool // it begins with a capital letter
	quoted     bool // it is cited
	stops      bool // a comma or the end of a sentence follows
}

const edges = " \t\n\"'`()[]{}<>“”‘’,.;:?!…"

func split(text string) (out []word) {
	quote := rune(0)
	for i := 0; i < len(text); {
		n := strings.IndexAny(text[i:], " \t\r\n")
		if n == 0 {
			i++
			continue
		}
		if n < 0 {
			n = len(text) - i
		}
		raw := text[i : i+n]
		plain := strings.Trim(raw, edges)
		w := word{
			text: withoutPossessive(strings.ToLower(plain)), begin: i, end: i + n,
			upper: plain != strings.ToLower(plain), stops: strings.ContainsAny(raw[len(raw)-1:], ",.;:?!"),
		}
		if quote == 0 {
			if first := strings.IndexAny(raw[:1], "\"`"); first == 0 {
				quote = rune(raw[0])
				w.quoted = true
				raw = raw[1:]
			}
		} else {
			w.quoted = true
		}
		if quote != 0 && strings.ContainsRune(raw, quote) {
			quote = 0
		}
		out, i = append(out, w), i+n
	}
	return out
}

// withoutPossessive is a word without "'s": "yesterday's build".
func withoutPossessive(w string) string {
	return strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
}

// Words that say nothing of a topic: function words, and what stands for work of any kind.
const (
	about = " a about all am an and any are as at been being by can could did do does for from give had has have how i i'd i'm i've in is it list me my myself of on " +
		"our ours please show tell that the there these this those to up us was we we're we've were what when where which who with you your "
	work = " activity anything change changed changes changing developed did discuss discussed do doing done everything going happen happened happening happens history " +
		"left long session sessions stuff thing things work worked working "
	latest = " last lately latest most newest previous previously recent recently "
	own    = " i i'd i'm i've me my myself "
)

func (w word) isIn(list string) bool { return strings.Contains(list, " "+w.text+" ") }

// hasNoTopic reports whether words name no topic, and ask for work then or lately; and whether it is one's own.
func hasNoTopic(words []word, timed bool) (ask, mine bool) {
	told := timed
	for _, w := range words {
		switch {
		case w.quoted || w.text != "" && !w.isIn(about+work+latest):
			return false, false
		case len(words) > 1 && w.isIn(work+latest): // alone it is searched for
			told = true
		}
		mine = mine || w.isIn(own)
	}
	return told, mine && told
}
