package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// tie is how clearly a text gives a value to a name.
type tie int

const (
	near   tie = iota // somewhere in the same sentence
	handed            // a string among the arguments of a call or an expression
	said              // behind "is" or "with", right behind the name, in quotes
	given             // behind a sign, in the next cell, on a line of its own
	sure              // in quotes behind a sign, NAME=value, behind a flag
)

// least is the look that a value has at least, by the kind of its name and the tie.
var least = [...][5]look{ //nolint:gochecknoglobals // read-only
	//         near  handed said   given   sure
	password: {odd, marked, marked, marked, word},
	token:    {drawn, odd, odd, odd, marked},
	key:      {never, drawn, drawn, drawn, drawn},
	numeral:  {never, odd, odd, marked, marked},
	verb:     {never, odd, odd, odd, marked},
	occasion: {odd, marked, odd, odd, odd},
}

const (
	// maxReach is how far from its name a value stands at most, in bytes; maxWords is how many words may
	// stand between.
	maxReach   = 160
	maxWords   = 9
	maxStrings = 6 // likewise
	// minGiven is the size of a value that is given to a name, in bytes; numbers may be shorter.
	minGiven = 6
)

// named makes a detector of one that finds names: it takes the values that stand beside them.
func named(find func(t string, at window) (name, bool)) func(s *scanner, at window) {
	return func(s *scanner, at window) {
		n, ok := find(s.t, at)
		if !ok || isMarker(s.t[skip(s.t, n.end, " \t\"'`=:"):]) { // its value is taken
			return
		}
		lo, hi := s.behind(n)
		if lo == hi && !n.weak {
			if lo, hi = s.ahead(n); lo == hi && n.kind < verb {
				s.below(n)
			}
		}
		if lo < hi {
			s.foundAll(lo, hi, n)
		}
	}
}

// foundAll notes a value, and those that follow it: of its form, such as codes, in the list of a name of several, and what it was changed to.
func (s *scanner) foundAll(lo, hi int, n name) {
	rule := "generic-secret"
	if n.kind == occasion {
		rule = "generic-login"
	}
	several := n.end > n.lo && lowerByte(s.t[n.end-1]) == 's'
	for range maxRows {
		s.found(lo, hi, rule, n.at)
		next := skip(s.t, hi, " ,;&\"'`")
		if next < len(s.t) && s.t[next] == '\n' {
			next = skip(s.t, next+1, " -*>\"'`")
			if end := skip(s.t, next, digitSet); end-next <= 2 && strings.HasPrefix(s.t[end:], ". ") {
				next = end + 2
			}
		}
		if m := changed.FindString(s.t[hi:min(len(s.t), hi+40)]); m != "" {
			next, several = hi+len(m), true
		} else if strings.HasPrefix(s.t[next:], "and ") {
			next += len("and ")
		}
		a, b := s.bare(next)
		if a <= hi || b-a < minGiven || b < len(s.t) && isWordByte(s.t[b]) {
			return
		}
		listed := several && lookOf(s.t[a:b], true) >= max(least[n.kind][given], marked) && !isKey(s.t[b:])
		if !listed && !alike(s.t[lo:hi], s.t[a:b]) {
			return
		}
		lo, hi = a, b
	}
}

// changed stands between a value and the one that took its place.
var changed = lazy.Expr("^[\"'`]*(?: ?(?:->|→|=>)| to\\b|, (?:is )?now\\b)(?: the)?(?: new)?(?: value)?:?[ \"'`]*")

// alike reports whether two values are of one form: about as long, with the same signs in the same places, and digits.
func alike(a, b string) bool {
	if strings.Trim(a, digitSet) == "" && strings.Trim(b, digitSet) == "" {
		return len(a)-len(b) < 3 && len(b)-len(a) < 3
	}
	if len(a) != len(b) || !hasDigit(a) || !hasDigit(b) {
		return false
	}
	for i := range len(a) {
		if alnumeric(a[i]) != alnumeric(b[i]) || !alnumeric(a[i]) && a[i] != b[i] {
			return false
		}
	}
	return true
}

// walk goes from a name towards its value. Whatever stands between is words, signs and quotes, so that no
// grammar is needed.
type walk struct {
	name
	*scanner
	i       int
	tie     tie
	words   int  // between the name and i
	strings int  // in quotes, likewise
	signed  bool // a sign has given a value
	tight   bool // without a space before or behind it
	comma   bool // a comma was passed
	quoted  bool // a quote was passed right behind the name
	depth   int  // of brackets
}

// behind is the value behind a name.
func (s *scanner) behind(n name) (lo, hi int) {
	w := walk{name: n, scanner: s, i: n.end}
	if n.end > 0 && s.t[n.end-1] == '(' {
		w.depth = 1
	} else {
		w.i = skip(s.t, w.i, "\"'`)]")
		w.quoted = w.i > n.end && quoteAt(s.t, w.i-1)
	}
	if n.lo > 0 && s.t[n.lo-1] == '<' { // an element of XML
		if m := strings.IndexByte(s.t[w.i:min(len(s.t), w.i+maxReach)], '>'); m >= 0 {
			w.i += m + 1
			w.tie, w.tight = given, true
		}
	}
	w.i = skip(s.t, w.i, ")]*_")
	for end := min(len(s.t), n.end+maxReach); w.i < end && w.words < maxWords; {
		from := w.i
		lo, hi, done := w.step()
		s.work += max(1, w.i-from, hi-lo)
		if lo < hi {
			return lo, hi
		} else if done {
			break
		}
	}
	return w.asValue()
}

// step passes one thing. It is done when that was the value, or nothing behind can be.
func (w *walk) step() (lo, hi int, done bool) {
	c := w.t[w.i]
	if k := sign(w.t, w.i); k > w.i {
		return 0, 0, !w.sign(k)
	}
	switch {
	case c == '\n' && w.t[w.i-1] != '[' && (w.depth == 0 || strings.IndexByte("(,", w.t[w.i-1]) < 0):
		return w.newline()
	case c == '<':
		k := skipTags(w.t, w.i)
		if k == w.i {
			if w.words > 0 {
				return 0, 0, true
			}
			break
		}
		if w.i = k; w.words == 0 && !w.comma {
			w.tie, w.tight = max(w.tie, given), true
			return w.element()
		}
		return 0, 0, false
	case quoteAt(w.t, w.i), c == 'q' || c == '%' || c == '~':
		if lo, hi, closed := quotedAt(w.t, w.i); closed || quoteAt(w.t, w.i) {
			return w.literal(lo, hi, closed)
		}
		return w.token()
	case c == '>' && w.words == 0 && w.i > 0 && quoteAt(w.t, w.i-1): // an attribute has named it
		w.i, w.tie, w.tight = w.i+1, given, true
		return w.element()
	case (c == '&' || c == '!') && w.signed && w.words == 0 && yamlTag.MatchString(w.t[w.i:min(len(w.t), w.i+60)]):
		w.i += strings.IndexByte(w.t[w.i:], ' ')
	case c == ';' || c == '}':
		return 0, 0, true
	case c == '/' && strings.HasPrefix(w.t[w.i:], "/ ") && w.t[w.i-1] == ' ' && (w.kind == password || w.kind == occasion): // "bob / …"
		w.tie = sure
	case strings.IndexByte(".!", c) >= 0 && w.t[w.i-1] > ' ' && (w.i+1 == len(w.t) || w.t[w.i+1] <= ' '):
		return 0, 0, true
	case c == ',' && (w.quoted || isUpper(w.t[w.end-1]) && !w.weak) && w.words == 0:
		w.tie = max(w.tie, handed)
	case (c == '|' || c == '\t') && w.words == 0:
		w.tie = max(w.tie, given)
	case c == '(' && w.words < 2: // no aside
		w.depth++
	case c == ',':
		w.tie, w.comma, w.words = near, true, w.words+1
	case alnumeric(c) || c >= utf8.RuneSelf || strings.IndexByte("!#$%&^+~@*.-_/\\", c) >= 0:
		return w.token()
	}
	w.i++
	return 0, 0, false
}

// yamlTag is one of YAML, or an anchor.
var yamlTag = lazy.Expr(`^[!&][a-z_!][\w-]* `)

// sign passes the sign up to k, and reports whether it gives this name a value.
func (w *walk) sign(k int) bool {
	if w.comma && (w.signed || w.t[k-1] != ':') { // the next name's
		return false
	}
	w.tight = k < len(w.t) && w.t[k-1] == '=' && w.t[k] > ' ' && w.t[w.i-1] > ' '
	w.i, w.tie, w.signed = k, max(w.tie, given), true
	return true
}

// newline is the value on the next line: of a name that has its line for itself, behind a sign, or in a
// sentence that goes on.
func (w *walk) newline() (lo, hi int, done bool) {
	line := w.t[lineOf(w.t, w.lo, w.lo, maxReach).lo:w.i]
	if w.tie >= said || w.words == 0 && heads(line) || strings.HasPrefix(line, "$ ") {
		if lo, hi := w.nextLine(w.i, w.kind); lo < hi {
			return lo, hi, true
		}
	}
	w.i, w.comma = w.i+1, true
	return 0, 0, len(line) < 50 || w.tie >= given || !prose(line)
}

// literal is a string in quotes.
func (w *walk) literal(lo, hi int, closed bool) (int, int, bool) {
	if !closed {
		if w.i++; w.i < len(w.t) && w.t[w.i] == w.t[w.i-1] { // an empty one
			w.i++
		}
		return 0, 0, false
	}
	v := w.t[lo:hi]
	if n := userBefore(v); n < len(v) {
		lo += n
	}
	t := w.tie
	switch {
	case w.signed && w.words == 0 && t >= given:
		t = sure
	case w.words == 0 && !w.comma && !w.signed:
		t = max(t, said)
	case w.depth > 0 || w.signed:
		t = max(t, handed)
	}
	if w.takes(lo, hi, t, true) {
		return lo, hi, true
	}
	w.i = hi + 1
	w.strings++
	return 0, 0, w.strings == maxStrings || t < said && isSecretName[lower(v)] // which has a value of its own
}

// element is what stands up to the end of an element of XML.
func (w *walk) element() (lo, hi int, done bool) {
	lo, end := w.i, "</"
	if strings.HasSuffix(w.t[:lo], "[CDATA[") {
		end = "]]>"
	}
	v, _, closed := strings.Cut(w.t[lo:min(len(w.t), lo+maxReach)], end)
	if closed && w.kind < verb && !strings.Contains(v, "\n") && w.takes(lo, lo+len(v), sure, true) {
		return lo, lo + len(v), true
	}
	return 0, 0, false
}

// token is a word or a value without quotes.
func (w *walk) token() (lo, hi int, done bool) {
	if w.i == w.end && w.t[w.i] < utf8.RuneSelf && w.t[w.i-1] != '(' {
		return 0, 0, true // the name goes on, or is part of something
	}
	if n := strings.IndexFunc(w.t[w.i:min(len(w.t), w.i+maxReach)], func(r rune) bool { return r < caseless || !unicode.IsLetter(r) && !unicode.IsMark(r) }); n > 0 { // a script without spaces
		w.i, w.tie = w.i+n, max(w.tie, said)
		return 0, 0, false
	}
	lo, hi = w.bare(w.i)
	if hi <= lo { // a sign, or something longer than a value
		w.i++
		return 0, 0, lo < len(w.t) && alnumeric(w.t[lo])
	}
	if n := userBefore(w.t[lo:hi]); n < hi-lo {
		lo += n
	}
	if w.kind == numeral {
		hi = max(hi, lo+len(spacedPIN.FindString(lineRest(w.t, lo))))
	}
	t := w.tie
	switch {
	case t == given && w.tight:
		t = sure
	case t == near && w.words == 0 && !w.comma && (w.end-w.lo > 3 || hasDigit(w.t[lo:hi])):
		t = said
	}
	if w.takes(lo, hi, t, false) {
		return lo, hi, true
	}
	v := w.t[lo:hi]
	if strings.Trim(v, "-_*~#") == "" {
		w.i = hi
		return 0, 0, false
	}
	w.depth += strings.Count(v, "(") + strings.Count(v, "[") - strings.Count(v, ")")
	w.i = hi
	w.skipWord(v)
	return 0, 0, false
}

// spacedPIN is a number as messages and cards write it.
var spacedPIN = lazy.Expr(`^(?:\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|\d\d(?:[ -]\d\d){1,3}|\d(?: \d){3,7})\b`)

// skipWord passes a word, which ties or loosens.
func (w *walk) skipWord(v string) {
	low := lower(strings.Trim(v, ".,:!?"))
	last, _ := utf8.DecodeLastRuneInString(v)
	switch {
	case copulas[low] || last >= caseless && unicode.IsLetter(last): // particles of such scripts are written right behind
		w.tie = max(w.tie, said)
	case fillers[low], len(low) == 1 && strings.Contains(digitSet, low):
	case w.tie >= said && w.tie < sure:
		w.tie = near
		w.words++
	case isSecretName[low] && w.tie < said: // likewise
		w.words = maxWords
	default:
		w.words++
	}
}

// asValue is the value of a name that is itself a value: {"name": "DB_PASSWORD", "value": "…"}.
func (w *walk) asValue() (lo, hi int) {
	rest := w.low[w.end:min(len(w.low), w.end+maxReach)]
	if w.next("value", &w.value, w.end) >= w.end+len(rest) && w.next("default", &w.standard, w.end) >= w.end+len(rest) {
		return 0, 0
	}
	w.work += len(rest)
	m := valueKey.FindStringIndex(rest)
	if m == nil {
		return 0, 0
	}
	v := walk{name: w.name, scanner: w.scanner, i: skip(w.t, w.end+m[1], " "), tie: given, signed: true}
	if v.i >= len(w.t) {
		return 0, 0
	}
	if w.t[v.i-1] == '>' {
		lo, hi, _ = v.element()
		return lo, hi
	}
	lo, hi, _ = v.step()
	return lo, hi
}

// next is where a word stands from i on, of which at is the place that was found last; the text's end for nowhere. Each asks further on.
func (s *scanner) next(word string, at *int, i int) int {
	if *at < i {
		n := strings.Index(s.low[i:], word)
		if *at = len(s.low); n >= 0 {
			*at = i + n
		}
	}
	return *at
}

var valueKey = lazy.Expr(`(?:\b\w{0,12}(?:value|default)["']?\s*[:=]|--value|<value>|set; \} =|\bvalue (?:is )?)`)

// ahead is the value that a sentence names behind it: "… is the password of the server".
func (s *scanner) ahead(n name) (int, int) {
	from := max(s.lastName, lineOf(s.t, n.lo, n.lo, 100).lo) // what the name before has behind it is its own
	s.lastName = n.end
	for hi := n.lo; hi > from; {
		hi = from + len(strings.TrimRight(s.t[from:hi], " \t\"'`*“”»«)(,[]."))
		lo := from + strings.LastIndexAny(s.t[from:hi], " \t\"'`(") + 1
		if lo >= hi || hi == n.lo && !n.foreign {
			break
		}
		a, b := s.bare(lo)
		b = min(b, hi)
		between := s.t[b:n.lo]
		if a >= b || strings.ContainsAny(between, "=:;") || strings.Contains(between, ". ") {
			break
		}
		v := s.t[a:b]
		s.work += hi - lo + len(between)
		quoted := quoteAt(s.t, lo-1) && quoteAt(s.t, hi) && !strings.Contains(between, ",")
		if l := lookOf(v, quoted); l >= marked && (quoted || b < hi || endsWord(s.t, b)) && !isSumForm(v) {
			want := odd
			if b < hi || backward.MatchString(between) { // another script follows
				want = least[n.kind][said]
			} else if n.kind != password || Wordy(v) {
				want = never
			}
			if l >= want {
				return a, b
			}
		}
		hi = lo
	}
	return 0, 0
}

// backward stands between a value and the name that a sentence gives it.
var backward = lazy.Expr("^[\"'`*“”»]*[,]?(?:\\s+[(\\[]|\\s*(?:←|<-)|\\s+(?:that |which |this )?(?:is|was|are|as|to|for|when|als|comme|como|come|som|jako|ca|как|sebagai|ist|war|est|es|è|é|är|er|on|jest|je|este|είναι|это|là|adalah|nicht|olarak)\\s)")

// nextLine is the only word of the line behind the one that ends at i, or begins a block there.
func (s *scanner) nextLine(i int, k kind) (int, int) {
	t, at := s.t, i
	for range 3 { // a fence, a second name
		end := strings.IndexByte(t[at:min(len(t), at+maxReach)], '\n')
		if end < 0 {
			return 0, 0
		}
		at = skip(t, at+end+1, " \t>-*#\n")
		if n := skip(t, at, digitSet); n > at && n-at <= 2 && strings.HasPrefix(t[n:], ". ") {
			at = n + 2
		}
		lo, hi := s.bare(at)
		if rest := skip(t, hi, "\"'`*"); lo == hi || rest < len(t) && strings.IndexByte(" \r\n", t[rest]) < 0 || rest < len(t) && t[rest] == ' ' && strings.Trim(lineRest(t, rest), " \t") != "" {
			if strings.HasPrefix(t[at:], "```") {
				continue
			}
			return 0, 0
		}
		v := t[lo:hi]
		if k == numeral && isPIN(v) || lookOf(v, true) >= max(least[k][given], marked) && !strings.ContainsAny(v, "(,:") {
			return lo, hi
		}
		if quoteAt(t, at) || !strings.HasSuffix(v, "|") {
			return 0, 0
		}
	}
	return 0, 0
}

// lineRest is the rest of the line at i, as far as a name reaches.
func lineRest(t string, i int) string {
	rest, _, _ := strings.Cut(t[i:min(len(t), i+maxReach)], "\n")
	return rest
}

// heads reports whether a line holds nothing but a name.
func heads(line string) bool {
	return len(line) < 40 && strings.IndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(" #<>*-_/.'\"`", r) }) < 0
}

// printed is a detector of what a command prints that makes or decodes a secret, or takes it out of a store.
func printed(s *scanner, at window) {
	end := strings.IndexByte(s.t[at.hi:min(len(s.t), at.hi+maxReach)], '\n')
	if end < 0 {
		return
	}
	s.work += end
	if lo, hi := s.nextLine(at.hi+end, password); lo < hi {
		s.found(lo, hi, "generic-command", at)
	}
}

// sign is the end of the sign at i that gives a name its value; i when there is none.
func sign(t string, i int) int {
	c := t[i]
	if alnumeric(c) || c == ' ' {
		return i
	}
	j := skip(t, i, "?|+~<-:")
	if k := skip(t, j, "=:>"); j-i <= 2 && k > j && k-j <= 3 && !strings.HasPrefix(t[j:], "://") && c != '<' && t[i:k] != ">" {
		return k
	}
	if c == ':' && !strings.HasPrefix(t[i:], "://") {
		return i + 1
	}
	for _, s := range []string{"<-", "- ", "→", "–", "—", "：", "＝", "＞"} {
		if c == s[0] && strings.HasPrefix(t[i:], s) {
			return i + len(s)
		}
	}
	return i
}
