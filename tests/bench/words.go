package main

import (
	"encoding/binary"
	"hash/fnv"
	"regexp"
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
		note := func(text string) {
			for _, at := range wordsOf(text) {
				if w := strings.ToLower(text[at[0]:at[1]]); !seen[w] {
					seen[w] = true
					l.df[w]++
				}
			}
		}
		for _, t := range s.Turns {
			note(t.Content)
		}
		for _, c := range s.ToolCalls {
			note(c.Path)
			note(c.Cmd)
		}
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
	for _, at := range wordsOf(text) {
		w := text[at[0]:at[1]]
		if _, known := t.said[w]; !known {
			t.said[w] = t.translate(w)
		}
		b.WriteString(text[done:at[0]])
		b.WriteString(t.said[w])
		done = at[1]
	}
	b.WriteString(text[done:])
	return b.String()
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

// word is one, behind capitals that are another: HTTPStatus.
var word = regexp.MustCompile(`([A-Z]*?)([A-Z]?[a-z]+)|([A-Z]+)|([0-9]+)`)

// wordsOf is where the words of a text are: runs of ASCII letters, split at camelCase, and runs of digits.
func wordsOf(text string) (out [][]int) {
	for _, m := range word.FindAllStringSubmatchIndex(text, -1) {
		for group := 2; group < len(m); group += 2 {
			if m[group] < m[group+1] {
				out = append(out, m[group:group+2])
			}
		}
	}
	return out
}
