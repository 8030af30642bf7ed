package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// binding is how clearly a text gives a value to a name.
type binding int

const (
	nearby   binding = iota // the password of Bob, who left, hunter2
	argument                // setPassword("bob", "hunter2")
	stated                  // the password is hunter2
	assigned                // password: hunter2; also the next cell of a table, and a line of its own
	certain                 // password = "hunter2", PASSWORD=hunter2, --password hunter2
)

// requiredGrade is the least grade of a value, by the kind of its name and the binding.
var requiredGrade = [...][5]grade{ //nolint:gochecknoglobals // read-only
	// of a value that is nearby, an argument, stated, assigned, certain
	password: {passwordLike, wordPlus, wordPlus, wordPlus, wordLike},
	token:    {randomLike, passwordLike, passwordLike, passwordLike, wordPlus},
	key:      {never, randomLike, randomLike, randomLike, randomLike},
	pin:      {never, passwordLike, passwordLike, wordPlus, wordPlus},
	passVerb: {never, passwordLike, passwordLike, passwordLike, wordPlus},
	login:    {passwordLike, wordPlus, passwordLike, passwordLike, passwordLike},
}

const (
	// A value stands at most maxReach bytes from its name, with fewer than maxWords words and maxStrings quoted strings
	// between.
	maxReach   = 160
	maxWords   = 9
	maxStrings = 6
	// minGiven is the least size of a value beside a name, in bytes; a PIN may be shorter.
	minGiven = 6
)

// valuesNamedBy is a detector of the values after, before and below the names that findName finds.
func valuesNamedBy(findName func(t string, at window) (name, bool)) func(s *scanner, at window) {
	return func(s *scanner, at window) {
		n, ok := findName(s.t, at)
		if !ok || isMarker(s.t[skip(s.t, n.end, " \t\"'`=:\\"):]) { // its value is taken
			return
		}
		lo, hi := s.valueAfter(n)
		if lo == hi && !n.weak {
			if lo, hi = s.valueBefore(n); lo == hi && n.kind < passVerb {
				s.valuesBelow(n)
			}
		}
		if lo < hi {
			s.addAllFound(lo, hi, n)
		}
	}
}

// addAllFound notes a value and those after it: of the same form ("8391-aa, 1027-bc"), in a list after a plural
// ("passwords: …"), and the new one in "from … to …".
func (s *scanner) addAllFound(lo, hi int, n name) {
	rule := "generic-secret"
	if n.kind == login {
		rule = "generic-login"
	}
	several := n.end > n.lo && lowerByte(s.t[n.end-1]) == 's'
	for range maxRows {
		s.addFound(lo, hi, rule, n.at)
		next := skip(s.t, hi, " ,;&\"'`")
		if next < len(s.t) && s.t[next] == '\n' {
			next = skipBullet(s.t, next+1, " -*>\"'`")
		}
		if m := beforeNewValue(s.t[hi:min(len(s.t), hi+40)]); m != "" {
			next, several = hi+len(m), true
		} else if strings.HasPrefix(s.t[next:], "and ") {
			next += len("and ")
		}
		a, b := s.valueAt(next)
		if a <= hi || b-a < minGiven || b < len(s.t) && isWordByte(s.t[b]) {
			return
		}
		listed := several && s.gradeAt(a, b, true) >= max(requiredGrade[n.kind][assigned], wordPlus) && !isKey(s.t[b:])
		if !listed && !haveSameForm(s.t[lo:hi], s.t[a:b]) {
			return
		}
		lo, hi = a, b
	}
}

// beforeNewValue is what stands before the value that replaces an old one, as rest begins with it.
func beforeNewValue(rest string) string {
	if next := skip(rest, 0, "\"'`"); next == len(rest) || strings.IndexByte(" -\xe2=t,", rest[next]) < 0 {
		return ""
	}
	return replacedBy.FindString(rest)
}

// replacedBy stands between an old value and its new one: " -> ", ", now ".
var replacedBy = lazy.Expr("^[\"'`]*(?: ?(?:->|→|=>)| to\\b|, (?:is )?now\\b)(?: the)?(?: new)?(?: value)?:?[ \"'`]*")

// haveSameForm reports whether two values have one form: numbers of nearly the same length, or the same signs in the
// same places, and digits.
func haveSameForm(a, b string) bool {
	if onlyDigits(a) && onlyDigits(b) {
		return len(a)-len(b) < 3 && len(b)-len(a) < 3
	}
	if !hasDigit(a) || !hasDigit(b) {
		return false
	}
	for a != "" && b != "" {
		r, size := utf8.DecodeRuneInString(a)
		q, sizeB := utf8.DecodeRuneInString(b)
		if r != q && (charClass(r) == 0 || charClass(q) == 0) {
			return false
		}
		a, b = a[size:], b[sizeB:]
	}
	return a == b
}

// walk goes from a name to the value after it. It knows words, signs and quotes between them, and no grammar.
type walk struct {
	name
	*scanner
	i       int     // where the walk is
	binding binding // of a value at i
	words   int     // passed since the name
	strings int     // in quotes, passed since the name
	signed  bool    // an assignment sign was passed
	tight   bool    // the last sign has no space around it: NAME=value
	comma   bool    // a comma was passed
	quoted  bool    // a quote was passed right after the name
	depth   int     // of open brackets
}

// valueAfter is the value after a name; lo == hi for none.
func (s *scanner) valueAfter(n name) (lo, hi int) {
	w := walk{name: n, scanner: s, i: n.end}
	if n.end > 0 && s.t[n.end-1] == '(' {
		w.depth = 1
	} else {
		w.i = skip(s.t, w.i, "\"'`)]")
		w.quoted = w.i > n.end && isQuoteAt(s.t, w.i-1)
	}
	if n.lo > 0 && s.t[n.lo-1] == '<' { // an element of XML
		if m := strings.IndexByte(s.t[w.i:min(len(s.t), w.i+maxReach)], '>'); m >= 0 {
			w.i, w.binding, w.tight = w.i+m+1, assigned, true
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
	return w.valueOfPair()
}

// step passes a word, sign or string at i. It is done where that is the value, or where no value can follow.
func (w *walk) step() (lo, hi int, done bool) {
	c := w.t[w.i]
	if k := assignEnd(w.t, w.i); k > w.i {
		return 0, 0, !w.passAssign(k)
	}
	switch {
	case c == '\n' && w.t[w.i-1] != '[' && (w.depth == 0 || strings.IndexByte("(,", w.t[w.i-1]) < 0):
		return w.atNewline()
	case c == '<':
		k := skipTags(w.t, w.i)
		if k == w.i {
			if w.words > 0 {
				return 0, 0, true
			}
			break
		}
		if w.i = k; w.words == 0 && !w.comma {
			w.binding, w.tight = max(w.binding, assigned), true
			return w.elementText()
		}
		return 0, 0, false
	case c == '$' && defaultValue.MatchString(w.t[w.i:min(len(w.t), w.i+60)]): // of a variable
		w.i += len(defaultValue.FindString(w.t[w.i:min(len(w.t), w.i+60)]))
		w.binding = max(w.binding, assigned)
		return w.atWord()
	case isQuoteAt(w.t, w.i), c == 'q' || c == '%' || c == '~':
		if lo, hi, closed := stringAt(w.t, w.i); closed || isQuoteAt(w.t, w.i) {
			return w.atQuote(lo, hi, closed)
		}
		return w.atWord()
	case c == '>' && w.words == 0 && w.i > 0 && isQuoteAt(w.t, w.i-1): // an attribute has named it
		w.i, w.binding, w.tight = w.i+1, assigned, true
		return w.elementText()
	case (c == '&' || c == '!') && w.signed && w.words == 0 && yamlTag.MatchString(w.t[w.i:min(len(w.t), w.i+60)]):
		w.i += strings.IndexByte(w.t[w.i:], ' ')
	case c == ';' || c == '}':
		return 0, 0, true
	case c == '/' && strings.HasPrefix(w.t[w.i:], "/ ") && w.t[w.i-1] == ' ' && (w.kind == password || w.isLogin()):
		// "bob / …"
		w.binding = certain
	case strings.IndexByte(".!", c) >= 0 && w.t[w.i-1] > ' ' && (w.i+1 == len(w.t) || w.t[w.i+1] <= ' '):
		return 0, 0, true
	case c == ',' && (w.quoted || isUpper(w.t[w.end-1]) && !w.weak) && w.words == 0:
		w.binding = max(w.binding, argument)
	case (c == '|' || c == '\t') && w.words == 0:
		w.binding = max(w.binding, assigned)
	case c == '(' && w.words < 2: // no aside
		w.depth++
	case c == ',':
		w.binding, w.comma, w.words = nearby, true, w.words+1
	case isAlphanumeric(c) || c >= utf8.RuneSelf || strings.IndexByte("!#$%&^+~@*.-_/\\", c) >= 0:
		return w.atWord()
	}
	w.i++
	return 0, 0, false
}

// defaultValue stands before what a variable is where nobody sets it: "${DB_PASSWORD:-".
var defaultValue = lazy.Expr(`^\$\{\w+:[-=]?`)

// yamlTag is a tag or an anchor of YAML: "!!str ", "&db ".
var yamlTag = lazy.Expr(`^[!&][a-z_!][\w-]* `)

// passAssign passes the assignment sign up to k, and reports whether it belongs to the walk's name.
func (w *walk) passAssign(k int) bool {
	if w.comma && (w.signed || w.t[k-1] != ':') { // of the next name
		return false
	}
	w.tight = k < len(w.t) && w.t[k-1] == '=' && w.t[k] > ' ' && w.t[w.i-1] > ' '
	w.i, w.binding, w.signed = k, max(w.binding, assigned), true
	return true
}

// atNewline is the value on the next line, after a sign or after a name alone on its line. It is done unless a sentence
// goes on there.
func (w *walk) atNewline() (lo, hi int, done bool) {
	line := w.t[lineOf(w.t, w.lo, w.lo, maxReach).lo:w.i]
	if w.binding >= stated || w.words == 0 && isNameLine(line) || strings.HasPrefix(line, "$ ") {
		if lo, hi := w.valueOnNextLine(w.i, w.kind); lo < hi {
			return lo, hi, true
		}
	}
	w.i, w.comma = w.i+1, true
	return 0, 0, len(line) < 50 || w.binding >= assigned || !isProse(line)
}

// isLogin reports whether a user's name may stand before the value.
func (w *walk) isLogin() bool { return w.kind == login || strings.HasPrefix(w.low[w.lo:w.end], "cred") }

// atQuote takes or passes a string in quotes.
func (w *walk) atQuote(lo, hi int, closed bool) (int, int, bool) {
	if !closed {
		w.i = skip(w.t, w.i, w.t[w.i:w.i+1]) // an empty one
		return 0, 0, false
	}
	v := w.t[lo:hi]
	lo += userPrefixSize(v)
	b := w.binding
	switch {
	case w.signed && w.words == 0 && b >= assigned:
		b = certain
	case w.words == 0 && !w.comma && !w.signed:
		b = max(b, stated)
	case w.depth > 0 || w.signed:
		b = max(b, argument)
	}
	if w.isValue(lo, hi, b, true) {
		return lo, hi, true
	}
	w.i = hi + 1
	w.strings++
	return 0, 0, w.strings == maxStrings || b < stated && isSecretName.has(lower(v)) // the next value belongs to that name
}

// elementText takes the text from i up to the end of an element of XML.
func (w *walk) elementText() (lo, hi int, done bool) {
	lo = w.i
	v, _, closed := strings.Cut(w.t[lo:min(len(w.t), lo+maxReach)], "</")
	v = strings.TrimSuffix(v, "]]>")
	if closed && w.kind < passVerb && !strings.Contains(v, "\n") && w.isValue(lo, lo+len(v), certain, true) {
		return lo, lo + len(v), true
	}
	return 0, 0, false
}

// atWord takes or passes a word without quotes.
func (w *walk) atWord() (lo, hi int, done bool) {
	if w.i == w.end && w.t[w.i] < utf8.RuneSelf && w.t[w.i-1] != '(' {
		return 0, 0, true // the name goes on, or is part of something
	}
	// a script without spaces
	if n := strings.IndexFunc(w.t[w.i:min(len(w.t), w.i+maxReach)],
		func(r rune) bool { return r < caseless || !unicode.IsLetter(r) && !unicode.IsMark(r) }); n > 0 {
		w.i, w.binding = w.i+n, max(w.binding, stated)
		return 0, 0, false
	}
	lo, hi = w.valueAt(w.i)
	if hi <= lo { // a sign, or something longer than a value
		w.i++
		return 0, 0, lo < len(w.t) && isAlphanumeric(w.t[lo])
	}
	lo += userPrefixSize(w.t[lo:hi])
	if v := w.t[lo:hi]; w.isLogin() && strings.Count(v, "/") == 1 && twoDigits(v) {
		lo += prefixSize(v, '/')
	}
	if w.kind == pin {
		hi = max(hi, lo+len(spacedPIN.FindString(lineRest(w.t, lo))))
	}
	b := w.binding
	switch {
	case b == assigned && w.tight:
		b = certain
	case b == nearby && w.words == 0 && !w.comma && (w.end-w.lo > 3 || hasDigit(w.t[lo:hi])):
		b = stated
	}
	if w.isValue(lo, hi, b, false) {
		return lo, hi, true
	}
	v := w.t[lo:hi]
	w.i = hi
	if strings.Trim(v, "-_*~#") != "" {
		w.depth += strings.Count(v, "(") + strings.Count(v, "[") - strings.Count(v, ")")
		if !strings.HasSuffix(w.low[:lo], " for ") { // "passphrase for key …"
			w.updateBinding(w.low[lo:hi])
		}
	}
	return 0, 0, false
}

// spacedPIN is a number as messages and cards write it.
var spacedPIN = lazy.Expr(`^(?:\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|\d\d(?:[ -]\d\d){1,3}|\d(?: \d){3,7})\b`)

// updateBinding changes the binding by a word that was passed: "is" states a value, "the" changes nothing, any other
// word loosens.
func (w *walk) updateBinding(low string) {
	last, _ := utf8.DecodeLastRuneInString(low)
	low = strings.Trim(low, ".,:!?")
	switch {
	case copulas.has(low) || last >= caseless && unicode.IsLetter(last):
		// particles of such scripts are written right behind
		w.binding = max(w.binding, stated)
	case fillers.has(low), len(low) == 1 && strings.Contains(digitSet, low):
	case w.binding >= stated && w.binding < certain:
		w.binding, w.words = nearby, w.words+1
	case isSecretName.has(low) && w.binding < stated: // the next value belongs to that name
		w.words = maxWords
	default:
		w.words++
	}
}

// valueOfPair is the value under the key "value" or "default" where the name is itself a value: {"name": "DB_PASSWORD",
// "value": "…"}.
func (w *walk) valueOfPair() (lo, hi int) {
	rest := w.low[w.end:min(len(w.low), w.end+maxReach)]
	if !strings.Contains(rest, "value") && !strings.Contains(rest, "default") {
		return 0, 0
	}
	w.work += len(rest)
	m := valueKey.FindStringIndex(rest)
	if m == nil {
		return 0, 0
	}
	v := walk{name: w.name, scanner: w.scanner, i: skip(w.t, w.end+m[1], " "), binding: assigned, signed: true}
	if v.i >= len(w.t) {
		return 0, 0
	}
	next := v.step
	if w.t[v.i-1] == '>' {
		next = v.elementText
	}
	lo, hi, _ = next()
	return lo, hi
}

var valueKey = lazy.Expr(`(?:\b\w{0,12}(?:value|default)["']?\s*[:=]|--value|<value>|set; \} =|\bvalue (?:is )?)`)

// valueBefore is the value before a name: "… is the password of the server"; 0, 0 for none.
func (s *scanner) valueBefore(n name) (int, int) {
	nameLo := n.lo
	// "ADMIN_PASSWORD"
	if before := wordUpTo(s.t, n.lo, &endsName); !hasLower(before) && n.end > n.lo && isUpper(s.t[n.lo]) {
		nameLo -= len(before)
	}
	from := max(s.lastName, lineOf(s.t, nameLo, n.lo, 100).lo) // after the last name, a value is that name's
	s.lastName = n.end
	for hi := nameLo; hi > from; {
		hi = from + len(strings.TrimRight(s.t[from:hi], " \t\"'`*“”»«)(,[]."))
		lo := from + strings.LastIndexAny(s.t[from:hi], " \t\"'`(") + 1
		if lo >= hi || hi == nameLo && !n.foreign {
			break
		}
		a, b := s.valueAt(lo)
		b = min(b, hi)
		between := s.t[b:nameLo]
		if a >= b || strings.ContainsAny(between, "=:;") || strings.Contains(between, ". ") {
			break
		}
		v := s.t[a:b]
		s.work += hi - lo + len(between)
		quoted := isQuoteAt(s.t, lo-1) && isQuoteAt(s.t, hi) && !strings.Contains(between, ",")
		if g := s.gradeAt(a, b, quoted); g >= wordPlus && (quoted || b < hi || endsWord(s.t, b)) && !isHashOrID(v) {
			want := passwordLike
			if b < hi || valueThenName.MatchString(between) { // another script follows
				want = requiredGrade[n.kind][stated]
			} else if n.kind != password || Wordy(v) {
				want = never
			}
			if g >= want {
				return a, b
			}
		}
		hi = lo
	}
	return 0, 0
}

// valueThenName stands between a value and the name after it: " is ", " <- ", " (".
var valueThenName = lazy.Expr("^[\"'`*“”»]*[,]?(?:\\s+[(\\[]|\\s*(?:←|<-)|\\s+(?:that |which |this )?(?:is|was|are|as|to|into|decodes to|for|when|als|comme|como|come|som|jako|ca|как|sebagai|ist|war|est|es|è|é|är|er|on|jest|je|este|είναι|это|là|adalah|nicht|olarak)\\s)")

// valueOnNextLine is the only word on the line after i, if it has the grade that a name of kind k requires. It passes a
// fence, and lines of one word that end in "|".
func (s *scanner) valueOnNextLine(i int, k kind) (int, int) {
	t, at := s.t, i
	for range 3 { // a fence, a second name
		end := len(lineRest(t, at))
		if at+end == len(t) || t[at+end] != '\n' {
			return 0, 0
		}
		at = skipBullet(t, at+end+1, " \t>-*#\n")
		lo, hi := s.valueAt(at)
		v, rest := t[lo:hi], lineRest(t, skip(t, hi, "\"'`*"))
		switch alone := lo < hi && strings.Trim(rest, " \t\r") == ""; {
		case alone && (k == pin && isPIN(v) || s.gradeAt(lo, hi, true) >= max(requiredGrade[k][assigned], wordPlus) &&
			!strings.ContainsAny(v, "(,:")):
			return lo, hi
		case !alone && !strings.HasPrefix(t[at:], "```"), alone && (isQuoteAt(t, at) || !strings.HasSuffix(v, "|")):
			return 0, 0
		}
	}
	return 0, 0
}

// skipBullet passes signs, and a number of a list ("12. "), at the start of a line.
func skipBullet(t string, i int, signs string) int {
	i = skip(t, i, signs)
	if n := skip(t, i, digitSet); n-i <= 2 && strings.HasPrefix(t[n:], ". ") {
		return n + 2
	}
	return i
}

// lineRest is the rest of the line at i, at most maxReach bytes.
func lineRest(t string, i int) string {
	rest, _, _ := strings.Cut(t[i:min(len(t), i+maxReach)], "\n")
	return rest
}

// isNameLine reports whether a line holds nothing but a name: "**Password**".
func isNameLine(line string) bool {
	return len(line) < 40 && strings.IndexFunc(line,
		func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(" #<>*-_/.'\"`", r) }) < 0
}

// printedByCommand is a detector of a secret on the line below a command that prints one: "pwgen 16", "pass show db".
func printedByCommand(s *scanner, at window) {
	end := at.hi + len(lineRest(s.t, at.hi))
	s.work += end - at.hi
	if lo, hi := s.valueOnNextLine(end, password); lo < hi {
		s.addFound(lo, hi, "generic-command", at)
	}
}

// assignEnd is the end of an assignment sign at i (":", "=", ":=", "->", "=>", "—"); i for none.
func assignEnd(t string, i int) int {
	c := t[i]
	if isAlphanumeric(c) || c == ' ' {
		return i
	} else if c == '!' && strings.HasPrefix(t[i:], "!=") {
		return skip(t, i+1, "=")
	}
	j := skip(t, i, "?|+~<-:.")
	if k := skip(t, j, "=:>"); j-i <= 2 && k > j && k-j <= 3 && !strings.HasPrefix(t[j:], "://") && c != '<' &&
		t[i:k] != ">" {
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
