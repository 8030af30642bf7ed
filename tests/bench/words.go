package main

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
)

// lexicon knows in how many sources each word stands.
type lexicon struct {
	df      map[string]int
	sources int
	words   []string // that can be renamed, sorted
}

func newLexicon(sources []source) *lexicon {
	l := &lexicon{df: map[string]int{}, sources: len(sources)}
	for _, s := range sources {
		seen := map[string]bool{}
		s.texts(func(text string) {
			eachWord(text, func(w string) {
				if w = strings.ToLower(w); !seen[w] {
					seen[w] = true
					l.df[w]++
				}
			})
		})
	}
	for w := range l.df {
		if l.special(w) {
			l.words = append(l.words, w)
		}
	}
	slices.Sort(l.words)
	return l
}

// special reports whether a word is not everybody's.
func (l *lexicon) special(w string) bool {
	return len(w) >= 4 && (w[0] < '0' || w[0] > '9') && 12*l.df[w] <= l.sources
}

// texts calls f with everything that stands in a source.
func (s source) texts(f func(string)) {
	for i, t := range s.turns {
		f(t.Content)
		for _, c := range s.calls[i] {
			f(c.Path)
			f(c.Cmd)
		}
	}
}

// Of the words that are not everybody's, a project has words of its own for a share, a session
// for another one, and a session takes other known words for a third, in per mille; and so with
// numbers. Chosen so that the vocabulary grows as that of the sources does: 276 real sessions
// have 5,705 stems and 18,712 whole forms, and a part of n of them has n^0.46 and n^0.61 times as
// many, which foretells 23,000 and 116,000 at twenty times as many turns.
const (
	projectRenames = 70
	sessionRenames = 6
	sessionBorrows = 90
	numberRenames  = 300
)

// tongue is how one session of a project speaks: it has its own words for some things, in
// texts, paths and commands alike, so that each session is about something else and the
// vocabulary grows with the number of sessions.
type tongue struct {
	lexicon          *lexicon
	project, session uint64
	said             map[string]string
}

func newTongue(l *lexicon, project, session uint64) *tongue {
	return &tongue{lexicon: l, project: project, session: session, said: map[string]string{}}
}

// say translates a text.
func (t *tongue) say(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	done := 0
	eachSpan(text, func(from, to int) {
		b.WriteString(text[done:from])
		b.WriteString(t.word(text[from:to]))
		done = to
	})
	b.WriteString(text[done:])
	return b.String()
}

func (t *tongue) word(w string) string {
	out, ok := t.said[w]
	if !ok {
		out = t.translate(w)
		t.said[w] = out
	}
	return out
}

func (t *tongue) translate(w string) string {
	lower := strings.ToLower(w)
	if w[0] >= '0' && w[0] <= '9' {
		if len(w) > 2 && chance(t.session, w) < numberRenames {
			return digits(hash(t.session, w+"#"), len(w))
		}
		return w
	}
	if !t.lexicon.special(lower) {
		return w
	}
	switch {
	case chance(t.project, lower) < projectRenames:
		lower = invented(hash(t.project, lower+"#"), len(w))
	case chance(t.session, lower) < sessionRenames:
		lower = invented(hash(t.session, lower+"#"), len(w))
	case chance(t.session, lower+"=") < sessionBorrows:
		lower = t.lexicon.words[hash(t.session, lower+"#")%uint64(len(t.lexicon.words))]
	default:
		return w
	}
	switch {
	case unicode.IsUpper(rune(w[1])):
		return strings.ToUpper(lower)
	case unicode.IsUpper(rune(w[0])):
		return strings.ToUpper(lower[:1]) + lower[1:]
	}
	return lower
}

// chance is a number below 1000 that a word has in a place.
func chance(where uint64, w string) uint64 { return hash(where, w) % 1000 }

func hash(where uint64, w string) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, where))
	h.Write([]byte(w))
	n := h.Sum64()
	return (n ^ n>>29) * 0x9e3779b97f4a7c15 >> 16
}

// invented makes a word that can be pronounced, about as long as the one it stands for.
func invented(n uint64, length int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b []byte
	for len(b) < min(max(length, 5), 10) {
		b = append(b, consonants[n%14], vowels[n/14%5])
		n = n/70 + n<<41
	}
	return string(b)
}

func digits(n uint64, length int) string {
	var b []byte
	for range length {
		b = append(b, '0'+byte(n%10))
		n = n/10 + n<<40
	}
	return string(b)
}

func eachWord(text string, f func(string)) {
	eachSpan(text, func(from, to int) { f(text[from:to]) })
}

// eachSpan calls f with where the words of a text are: runs of ASCII letters, split at
// camelCase, and runs of digits.
func eachSpan(text string, f func(from, to int)) {
	from := -1
	var last class
	for i := range len(text) + 1 {
		this := none
		if i < len(text) {
			this = classOf(text[i])
		}
		switch capital := last == upper && this == lower; {
		case from < 0 || this == last:
		case !capital:
			f(from, i)
			from = -1
		case i-from > 1: // HTTPStatus
			f(from, i-1)
			from = i - 1
		}
		if from < 0 && this != none {
			from = i
		}
		last = this
	}
}

type class int

const (
	none class = iota
	lower
	upper
	digit
)

func classOf(c byte) class {
	switch {
	case c >= 'a' && c <= 'z':
		return lower
	case c >= 'A' && c <= 'Z':
		return upper
	case c >= '0' && c <= '9':
		return digit
	}
	return none
}
