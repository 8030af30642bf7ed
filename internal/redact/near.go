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
	maxReach = 160
	maxWords = 9
)

// walk goes from a name towards its value. Whatever stands between is words, signs and quotes, so that no
// grammar is needed.
type walk struct {
	name
	t      string
	i      int
	tie    tie
	words  int  // between the name and i
	signed bool // a sign has given a value
	tight  bool // without a space before or behind it
	comma  bool // a comma was passed
	loose  bool // a short word ties that may be a preposition
	depth  int  // of brackets
}

// behind is the value behind a name.
func (n name) behind(t string) (lo, hi int) {
	w := walk{name: n, t: t, i: n.end}
	if t[n.end-1] == '(' {
		w.depth = 1
	}
	if w.depth == 0 {
		w.i = skip(t, w.i, "\"'`)]")
	}
	w.quoted = strings.ContainsAny(t[n.end:w.i], "\"'`")
	if m := attributes.FindString(t[w.i:min(len(t), w.i+maxReach)]); n.lo > 0 && t[n.lo-1] == '<' {
		w.i += len(m)
		w.tie, w.tight = given, true
	}
	if receiver.MatchString(t[w.i-1:min(len(t), w.i+3)]) && n.lo > 0 && t[n.lo-1] != '(' {
		return 0, 0
	}
	w.i = skip(t, w.i, ")]*_")
	if w.i < len(t) && w.i == n.end && strings.IndexByte("/\\@.", t[w.i]) >= 0 {
		return 0, 0
	}
	if n.flag {
		w.tie = sure
	}
	for end := min(len(t), n.end+maxReach); w.i < end && w.words < maxWords; {
		if lo, hi, done := w.step(); lo < hi {
			return lo, hi
		} else if done {
			break
		}
	}
	return n.asValue(t)
}

// receiver is what stands behind the last parameter of a function.
var receiver = lazy.Expr(`^\) ?[({\w*\[]`)

// step passes one thing. It is done when that was the value, or nothing behind can be.
func (w *walk) step() (lo, hi int, done bool) {
	c := w.t[w.i]
	if k := sign(w.t, w.i); k > w.i {
		return 0, 0, !w.sign(k)
	}
	switch {
	case c == '\n' && (w.kind != occasion || w.depth == 0 || strings.IndexByte("(,", w.t[w.i-1]) < 0):
		return w.newline()
	case (c == '&' || c == '!') && w.signed && w.words == 0 && yamlTag.MatchString(w.t[w.i:]):
		w.i += strings.IndexByte(w.t[w.i:], ' ')
	case c == '<':
		if k := skipTags(w.t, w.i); k > w.i {
			if w.i = k; w.words == 0 && !w.comma {
				w.tie, w.tight = max(w.tie, given), true
				return w.element()
			}
			return 0, 0, false
		}
		if w.words > 0 {
			return 0, 0, true
		}
	case c == '\'' && isLetter(w.t[w.i-1]) && w.i+1 < len(w.t) && isLetter(w.t[w.i+1]) && (!w.signed || isLetter(w.t[w.i-2])): // an apostrophe
	case quoteAt(w.t, w.i), strings.IndexByte("q%~", c) >= 0 && rawString.MatchString(w.t[w.i:min(len(w.t), w.i+4)]):
		return w.literal()
	case c == '{' && w.depth > 0: // an object among arguments
		w.i += max(0, strings.IndexByte(w.t[w.i:min(len(w.t), w.i+maxReach)], '}'))
	case c == '>' && w.words == 0 && quoteAt(w.t, w.i-1): // an attribute has named it
		w.i, w.tie, w.tight = w.i+1, given, true
		return w.element()
	case c == ';' || c == '}':
		return 0, 0, true
	case c == '/' && w.i+1 < len(w.t) && w.t[w.i-1] == ' ' && w.t[w.i+1] == ' ': // "bob / …"
		w.tie = sure
	case strings.IndexByte(".!?", c) >= 0 && w.t[w.i-1] > ' ' && (w.i+1 == len(w.t) || w.t[w.i+1] <= ' '):
		if c == '?' {
			w.tie = max(w.tie, said)
			break
		}
		return 0, 0, true
	case c == ',' && (w.quoted || isUpper(w.t[w.end-1]) && !w.weak) && w.words == 0:
		w.tie = max(w.tie, handed)
	case c == '|' && w.words == 0, c == '\t' && w.words == 0:
		w.tie = max(w.tie, given)
	case c == '(' || c == '[' || c == '{':
		if c != '(' || w.t[w.i-1] != ' ' || w.signed || w.words < 2 { // no aside
			w.depth++
		}
		if w.words == 0 {
			w.tie = max(w.tie, said)
		}
	case c == ')' || c == ']':
		if w.depth--; w.depth < 0 && w.signed || w.depth == 0 && w.kind == occasion {
			return 0, 0, true
		}
	case c == ',':
		w.tie, w.comma = near, true
	case alnumeric(c) || c >= utf8.RuneSelf || strings.IndexByte("!#$%&^+~@*.-_/\\", c) >= 0:
		return w.token()
	}
	w.i++
	return 0, 0, false
}

// sign passes the sign up to k, and reports whether it gives this name a value.
func (w *walk) sign(k int) bool {
	again := w.signed && w.words > 0 && w.tie < given
	if again && (w.words > 4 || w.t[k-1] != '=') || w.comma || w.quoted && w.words > 0 {
		return false // the next name's
	}
	w.tight = k < len(w.t) && w.t[k-1] == '=' && w.t[k] > ' ' && w.t[w.i-1] > ' '
	w.i, w.tie, w.signed = k, max(w.tie, given), true
	return true
}

// newline is the value on the next line: of a name that has its line for itself, behind a sign, or in a
// sentence that goes on.
func (w *walk) newline() (lo, hi int, done bool) {
	line := w.t[strings.LastIndexByte(w.t[:w.lo], '\n')+1 : w.i]
	if (w.tie >= said || w.words == 0 && heads(line)) && (!w.weak || w.signed) {
		if lo, hi := nextLine(w.t, w.i, w.name); lo < hi {
			return lo, hi, true
		}
	}
	if m := signLine.FindString(w.t[w.i:min(len(w.t), w.i+20)]); m != "" && heads(line) {
		w.i += len(m)
		w.tie, w.signed = given, true
		return 0, 0, false
	}
	w.i, w.comma = w.i+1, true
	return 0, 0, len(line) < 50 || w.tie >= given || !prose(line)
}

// signLine is a sign that has its line for itself.
var signLine = lazy.Expr(`^\n[ \t]*[=:]\s+`)

// literal is a string in quotes.
func (w *walk) literal() (lo, hi int, done bool) {
	lo, hi, closed := quotedAt(w.t, w.i)
	if !closed {
		if w.i++; w.i < len(w.t) && w.t[w.i] == w.t[w.i-1] { // an empty one
			w.i++
		}
		return 0, 0, false
	}
	v := w.t[lo:hi]
	lo += len(scheme.FindString(v))
	if n := len(userBefore.FindString(w.t[lo:hi])); lo+n < hi {
		lo += n
	}
	t := w.tie
	switch {
	case t == given:
		t = sure
	case w.words == 0 && !w.comma && t == near && (w.kind == password || w.kind == token || w.kind == verb) && w.t[w.i-1] == ' ' && w.t[w.i] != '`':
		t = sure
	case w.words == 0 && !w.comma:
		t = given
	case t == near && (w.kind != occasion || w.depth > 0 && (w.signed || w.t[w.end-1] == '(' || opens.MatchString(w.t[w.end:min(len(w.t), w.end+3)]))):
		t = handed
	}
	if !isIndex(w.t, w.i-1) && w.takes(lo, hi, t, true) {
		return lo, hi, true
	}
	w.i = hi + 1
	w.skipWord(v)
	return 0, 0, false
}

// opens begins arguments.
var opens = lazy.Expr(`^\(|^ ?\[`)

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

// scheme stands before credentials in one string.
var scheme = lazy.Expr(`^(?i:bearer|basic|token|apikey|key|digest) `)

// token is a word or a value without quotes.
func (w *walk) token() (lo, hi int, done bool) {
	if w.i == w.end && w.t[w.i] < utf8.RuneSelf && w.t[w.i-1] != '(' {
		return 0, 0, true // the name goes on, or is part of something
	}
	if n := strings.IndexFunc(w.t[w.i:], func(r rune) bool { return r < caseless || !unicode.IsLetter(r) }); n > 0 { // a script without spaces
		w.i, w.tie = w.i+n, max(w.tie, said)
		return 0, 0, false
	}
	lo, hi = bare(w.t, w.i)
	if hi <= lo {
		w.i++
		return 0, 0, false
	}
	if quoteAt(w.t, hi) && hi-lo <= 2 && !copulas[w.t[lo:hi]] { // b"…"
		w.i = hi
		return 0, 0, false
	}
	if w.t[lo] == '-' && !w.signed && (w.words > 0 || hi-lo > 2) {
		return 0, 0, true // the next flag
	}
	if w.kind == numeral && w.tie >= said {
		if m := spacedDigits.FindString(w.t[lo:min(len(w.t), lo+40)]); m != "" {
			return lo, lo + len(m), true
		}
	}
	if m := w.passphrase(lo); m > lo {
		return lo, m, true
	}
	if lo, hi = w.part(lo, hi); lo == hi {
		return 0, 0, true
	}
	t := w.tie
	switch {
	case t == given && w.tight:
		t = sure
	case t == near && w.directs(lo, hi):
		t = given
		if w.kind == token || w.kind == key {
			w.kind = password
		}
	case t == near && w.words == 0 && !w.comma && (w.end-w.lo > 3 || strings.ContainsAny(w.t[lo:hi], digitSet)):
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
	if w.signed && hi < len(w.t) && strings.IndexByte("=:", w.t[hi]) >= 0 {
		return 0, 0, true
	}
	w.depth += strings.Count(v, "(") + strings.Count(v, "[") - strings.Count(v, ")")
	if w.tie >= said && strings.HasSuffix(v, "(") && quoteAt(w.t, hi) { // Some("…")
		w.i, w.tie = hi, said
		return 0, 0, false
	}
	if n := strings.IndexAny(v, "=:"); n > 0 && v[0] != '$' && !strings.HasPrefix(v[n:], "://") && !w.signed && !strings.ContainsAny(v[:n], digitSet) {
		hi = lo + n
		v = w.t[lo:hi]
	}
	w.i = hi
	w.skipWord(v)
	return 0, 0, false
}

// part is a value without a user's name before it, and without what an escape parts from it.
func (w *walk) part(lo, hi int) (int, int) {
	v := w.t[lo:hi]
	if n := len(userBefore.FindString(v)); n > 0 && n < len(v) {
		if lo += n; w.kind == token || w.kind == occasion && w.tie >= said {
			w.kind = password
		}
	} else if n := strings.IndexByte(v, '/'); n > 0 && w.kind != password && lookOf(v[n+1:], false) == odd {
		lo += n + 1
	}
	if m := escape.FindStringIndex(w.t[lo:hi]); m != nil {
		hi = lo + m[0]
	}
	return lo, hi
}

// passphrase is the end of the words at lo that are one; lo when there are none.
func (w *walk) passphrase(lo int) int {
	if w.tie < said && (w.words > 0 || w.comma) || w.kind != password {
		return lo
	}
	m := words.FindString(w.t[lo:min(len(w.t), lo+80)])
	least := 3 - int(w.tie-said)
	if w.tight {
		least = 1
	}
	if (w.phrase && strings.Count(m, " ") > least || fourByFour.MatchString(m)) && phrase(m) {
		return lo + len(m)
	}
	return lo
}

// maxCopula is how long a verb is at most that is known by its length alone, in runes.
const maxCopula = 4

// skipWord passes a word, which ties or loosens.
func (w *walk) skipWord(v string) {
	low := strings.ToLower(strings.Trim(v, ".,:!?…"))
	switch {
	case copulas[low] || low == "on" && w.foreign || endsInParticle(v):
		w.tie, w.loose = max(w.tie, said), false
	case w.foreign && w.tie == near && utf8.RuneCountInString(low) <= maxCopula:
		w.tie, w.loose = said, true
	case fillers[low], len(low) == 1 && strings.Contains(digitSet, low):
	case w.tie >= said:
		w.tie = near
		w.words++
	default:
		w.words++
	}
}

var (
	// yamlTag is one of YAML, or an anchor.
	yamlTag = lazy.Expr(`^[!&][a-z_][a-z_\d-]* `)
	// escape ends a value in the text of a string.
	escape = lazy.Expr(`\\(?:[nrt]|u[\da-f]{4})`)
	// spacedDigits are those of a number as it is spoken, or in pairs.
	spacedDigits = lazy.Expr(`^(?:\d(?: \d){3,7}|\d\d(?:-\d\d){2,3})\b`)
	// fourByFour is a password that Google makes for programs, and words are those of a passphrase.
	fourByFour = lazy.Expr(`^[a-z]{4}(?: [a-z]{4}){3}$`)
	words      = lazy.Expr(`^\p{Ll}+(?: \p{Ll}+)+`)
)

// sign is the end of the sign at i that gives a name its value; i when there is none.
func sign(t string, i int) int {
	j := skip(t, i, "?|+~<-:")
	if k := skip(t, j, "=:>"); j-i <= 2 && k > j && k-j <= 3 && !strings.HasPrefix(t[j:], "://") && t[i] != '<' && t[i:k] != ">" {
		return k
	}
	if t[i] == ':' && !strings.HasPrefix(t[i:], "://") {
		return i + 1
	}
	if alnumeric(t[i]) {
		return i
	}
	for _, s := range []string{"<-", "- ", "→", "–", "—", "：", "＝", "＞"} {
		if strings.HasPrefix(t[i:], s) {
			return i + len(s)
		}
	}
	return i
}
