// Package analysis turns text into terms, in the same way for the index and for a question.
//
// Text is read as runs of letters, digits and '_', joined by one of . / \ - : @ #, as in paths, symbols, flags and
// addresses. Each run gives
//
//   - its words: identifiers split on '_', at camelCase and at letter/digit borders,
//     lower-cased, accents folded, cut to a Snowball English stem. "getHTTPStatus404"
//     is get, http, status, 404;
//   - marked terms, which no word can equal: "=" and the whole identifier
//     ("=gethttpstatus404", "=tested"), "~" and the whole run if it has several
//     identifiers ("~src/auth/jwt.go:12"), its path and its file name
//     ("~src/auth/jwt.go", "~jwt.go"). They are lower-cased and never stemmed;
//   - function words as "'" and the stem ("'the"), without a whole form.
//
// A hash is "=" and its first seven digits, as git shortens it, and no word. Cyrillic words get a Snowball Russian
// stem. Chinese, Japanese and Korean text, which has no spaces, gives overlapping pairs of characters. No word is
// dropped.
//
// The rules are those of docs/search.md. Changing one makes every index stale, so it raises db.IndexVersion. The
// package knows no documents, scores or storage.
package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
	"golang.org/x/text/unicode/norm"
)

// The marks of terms that are not words.
const (
	MarkIdent = "=" // a whole identifier
	MarkRun   = "~" // a whole joined run
	MarkStop  = "'" // a function word
)

// Lengths in bytes beyond which a word is cut and a marked term dropped. Longer runs are
// encoded data and not names.
const (
	maxWord = 64
	maxMark = 160
)

// Token is one term of a text, in the text's order.
type Token struct {
	Term string
	Kind Kind
	Word string // of a Word: what it is the stem of, in lower case
	ID   int    // the term's number among those of its Analyzer, from 0, if New made that
}

// Kind says what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Word    Kind = iota // a stem
	Stop                // a stem of a function word ("the"): counted, but no neighbour and no topic
	Surface             // the whole form of one plain word
	Mark                // a whole identifier of several words, a hash, a run, or a name in it
)

// Analyzer analyses texts. It remembers the runs and the stems of words that it has seen; the zero
// value is not usable, and one Analyzer serves one goroutine.
type Analyzer struct {
	runs  map[string][]Token // what they give; nothing where only some words matter
	words map[string]Token   // by lower-cased word
	ids   map[string]int     // of terms; nil: nobody asks for them
	bare  bool               // nothing is marked
	only  *[256]bool         // the first bytes of words that matter; nil: all do
	buf   []Token
}

// Most of a text comes again and again. So many runs, none longer, and so many words are remembered: then it begins
// anew.
const (
	known   = 1 << 16
	longRun = 64 // bytes
)

// New returns an Analyzer.
func New() *Analyzer {
	return &Analyzer{runs: make(map[string][]Token), words: make(map[string]Token), ids: make(map[string]int)}
}

// Words returns an Analyzer of words alone: what it gives has no marked terms, and no numbers.
func Words() *Analyzer {
	return &Analyzer{runs: make(map[string][]Token), words: make(map[string]Token), bare: true}
}

// Seeking returns an Analyzer for those who look for some terms and nothing else: of a word that can't be one of them
// the token is empty, because to stem all words of ten long texts takes as long as to find them. A stem begins as its
// word does.
func Seeking(terms []string) *Analyzer {
	a := &Analyzer{words: make(map[string]Token), only: new([256]bool)}
	for _, t := range terms {
		if t = strings.TrimPrefix(t, MarkStop); t != "" {
			a.only[t[0]] = true
		}
	}
	return a
}

// Tokens returns the tokens of text. The slice is valid until the next call.
func (a *Analyzer) Tokens(text string) []Token {
	a.buf = a.buf[:0]
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf && !isWordChar(c) {
			i++
			continue
		}
		n, ascii := runLen(text[i:])
		if n == 0 {
			_, n = utf8.DecodeRuneInString(text[i:])
		} else {
			a.emitRun(text[i:i+n], ascii)
		}
		i += n
	}
	return a.buf
}

// emitRun emits the tokens of a run, which it may remember.
func (a *Analyzer) emitRun(s string, ascii bool) {
	if had, ok := a.runs[s]; ok {
		a.buf = append(a.buf, had...)
		return
	}
	before := len(a.buf)
	a.analyseRun(s, ascii)
	if a.only != nil {
		return
	}
	fresh := a.buf[before:]
	for i := range fresh {
		fresh[i].ID = a.id(fresh[i].Term)
	}
	if len(s) > longRun {
		return
	}
	if len(a.runs) == known {
		clear(a.runs)
	}
	a.runs[strings.Clone(s)] = slices.Clone(fresh) // the text must not live as long as what is remembered
}

func (a *Analyzer) id(term string) int {
	id, ok := a.ids[term]
	if !ok && a.ids != nil {
		id = len(a.ids)
		a.ids[term] = id
	}
	return id
}

// runLen measures the run at the beginning of s, 0 for none: words with single joiners or
// chains of them ("../", "::") between, and says whether it is all ASCII.
func runLen(s string) (n int, ascii bool) {
	ascii = true
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case isWordChar(c):
				n = i
			case !isJoiner(c) || n == 0:
				return n, ascii
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWordRune(r) {
			return n, ascii
		}
		i += size
		n, ascii = i, false
	}
	return n, ascii
}

func isWordChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// joiners stand between the identifiers of a run.
const joiners = `./\-:@#`

func isJoiner(c byte) bool {
	switch c {
	case '.', '/', '\\', '-', ':', '@', '#':
		return true
	}
	return false
}

// analyseRun reads a run.
func (a *Analyzer) analyseRun(s string, ascii bool) {
	if !ascii {
		s = foldAccents(s)
	}
	idents := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf && isJoiner(s[i]) {
			i++
			continue
		}
		end := i
		for end < len(s) && (s[end] >= utf8.RuneSelf || !isJoiner(s[end])) {
			end++
		}
		a.emitIdentifier(s[i:end])
		idents++
		i = end
	}
	if idents > 1 {
		a.emitNames(s)
	}
}

// emitNames emits a run of several identifiers, and what of it is a path (without the line or
// anchor behind it) and a file's name.
func (a *Analyzer) emitNames(s string) {
	slash := strings.LastIndexAny(s, `/\`)
	path := s
	if n := strings.IndexAny(s[slash+1:], ":#@"); n > 0 {
		path = s[:slash+1+n]
	}
	a.emitMarked(MarkRun, s, Mark)
	for _, part := range []string{path, path[slash+1:]} {
		if len(part) < len(s) && strings.ContainsAny(part, joiners) {
			a.emitMarked(MarkRun, part, Mark)
			s = part
		}
	}
}

// emitIdentifier emits the words of one identifier, and the identifier itself.
func (a *Analyzer) emitIdentifier(s string) {
	if isHash(s) {
		a.emitMarked(MarkIdent, s[:hashLen], Mark)
		return
	}
	words, cjk := 0, false
	start, prev := 0, classNone
	cut := func(end int) {
		if end > start {
			a.emitWord(s[start:end])
			words++
		}
		start = end
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		cl := classOf(r)
		switch {
		case cl == classNone:
			cut(i)
			start = i + size
		case cl == classCJK:
			cut(i)
			i += a.emitCJK(s[i:])
			cjk, start, prev = true, i, classNone
			continue
		case cl == prev || prev == classNone:
		case prev == classUpper && cl == classLower:
			// "HTTPServer": the last capital begins the next word, unless it is the only one.
			_, last := utf8.DecodeLastRuneInString(s[:i])
			if i-last > start && s[i:] != "s" && !strings.HasPrefix(s[i:], "s_") {
				cut(i - last)
			}
		default:
			cut(i)
		}
		prev = cl
		i += size
	}
	cut(len(s))
	switch {
	case cjk: // what is written without spaces has no names to keep whole
	case words > 1:
		a.emitMarked(MarkIdent, s, Mark)
	case words == 1 && a.buf[len(a.buf)-1].Kind == Word:
		a.emitMarked(MarkIdent, strings.Trim(s, "_"), Surface)
	}
}

// hashLen is how much of a hash tells it from others: what git shows of a commit.
const hashLen = 7

// isHash reports whether s is a hash or the beginning of one: hexadecimal digits, not all of
// them numbers or letters.
func isHash(s string) bool {
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c < 'A' || c > 'f' || 'F' < c && c < 'a':
			return false
		}
	}
	return len(s) >= hashLen && 0 < digits && digits < len(s)
}

type class uint8

const (
	classNone class = iota // separates words: '_'
	classLower
	classUpper
	classDigit
	classCJK
)

func classOf(r rune) class {
	switch {
	case 'a' <= r && r <= 'z':
		return classLower
	case 'A' <= r && r <= 'Z':
		return classUpper
	case '0' <= r && r <= '9':
		return classDigit
	case r < utf8.RuneSelf:
		return classNone
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return classCJK
	case unicode.IsUpper(r):
		return classUpper
	case unicode.IsDigit(r):
		return classDigit
	}
	return classLower
}

// emitCJK emits the overlapping pairs of the CJK characters at the beginning of s, or the one
// that stands alone, and returns how many bytes they take.
func (a *Analyzer) emitCJK(s string) int {
	n, pairs := 0, 0
	for prev := 0; n < len(s); {
		r, size := utf8.DecodeRuneInString(s[n:])
		if classOf(r) != classCJK {
			break
		}
		if n > 0 {
			a.buf = append(a.buf, Token{Term: s[prev : n+size], Word: s[prev : n+size]})
			pairs++
		}
		prev, n = n, n+size
	}
	if pairs == 0 {
		a.buf = append(a.buf, Token{Term: s[:n], Word: s[:n]})
	}
	return n
}

func (a *Analyzer) emitWord(w string) {
	w = strings.ToLower(clipBytes(w, maxWord))
	if a.only != nil && !a.only[w[0]] {
		skipped := Token{}
		if isStop(w) {
			skipped.Kind = Stop
		}
		a.buf = append(a.buf, skipped)
		return
	}
	t, ok := a.words[w]
	if !ok {
		w = strings.Clone(w) // the text must not live as long as the cache
		t = Token{Term: stem(w), Word: w}
		if isStop(w) {
			t = Token{Term: MarkStop + t.Term, Kind: Stop}
		}
		if len(a.words) == known {
			clear(a.words)
		}
		a.words[w] = t
	}
	a.buf = append(a.buf, t)
}

func (a *Analyzer) emitMarked(mark, s string, kind Kind) {
	if len(s) <= maxMark && !a.bare {
		a.buf = append(a.buf, Token{Term: mark + strings.ToLower(s), Kind: kind})
	}
}

func stem(w string) string {
	if len(w) < 3 || w[0] <= '9' {
		return w
	}
	if r, _ := utf8.DecodeRuneInString(w); unicode.Is(unicode.Cyrillic, r) {
		return russian.Stem(w, true)
	}
	return english.Stem(w, true)
}

// clipBytes cuts s to at most n bytes, at a rune's border.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// foldAccents makes compatible characters equal (full-width digits, ligatures) and takes accents
// off, in every script but Hangul, whose syllables it leaves whole, and й, which is a letter of
// its own that endings are made of. What falls apart into something that is no word (a lone
// accent has a space in it) is dropped.
func foldAccents(s string) string {
	var b strings.Builder
	var prev rune
	for _, r := range norm.NFKD.String(s) {
		ascii := r < utf8.RuneSelf && (isWordChar(byte(r)) || isJoiner(byte(r)))
		short := r == '\u0306' && (prev == 'и' || prev == 'И')
		if ascii || short || isWordRune(r) && !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
		prev = r
	}
	return norm.NFC.String(b.String())
}
