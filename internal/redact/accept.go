package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// offer is what stands behind a name and may be its value.
type offer struct {
	lo, hi int
	v      string // the part that tells
	tie    tie
	look   look
	quoted bool
}

// takes reports whether what stands there is the value of the name.
func (w *walk) takes(lo, hi int, t tie, quoted bool) bool {
	o := offer{lo: lo, hi: hi, v: judged(w.t[lo:hi]), tie: t, quoted: quoted}
	if o.v == "" || strings.Contains(o.v, "\n") || quoted && isKey(w.t[min(len(w.t), hi+1):]) {
		return false
	}
	o.look = lookOf(o.v, quoted || w.tight || w.spoken && t < given || w.flag && w.words == 0 || strings.HasPrefix(w.t[hi:], "</"))
	switch {
	case w.granted(o):
		return true
	case w.mentions(o), !quoted && w.isCode(o):
		return false
	case strings.Contains(o.v, " "):
		return quoted && (w.kind == password && t >= said || (w.kind == verb || w.kind == token && strings.ContainsAny(o.v, digitSet)) && t == sure) &&
			(phrase(o.v) || w.words == 0 && (w.flag || w.tight || w.phrase && t >= given && strings.Count(o.v, " ") > 1) && phraseForm.MatchString(o.v) && !asks.MatchString(o.v))
	}
	return len(o.v) >= minGiven && o.look >= least[w.kind][t] && (quoted || w.tight || w.flag || !isTerm(w.t, lo, hi))
}

// isTerm reports whether what stands there is a name that the text around uses again and again, and not only where
// something is given: what a text is about is no secret. A word with digits is no such name.
func isTerm(t string, lo, hi int) bool {
	const often, reach = 3, 1 << 13
	v := t[lo:hi]
	if !symbol.MatchString(v) || !Wordy(v) || strings.ContainsAny(v, digitSet) && !strings.Contains(v, "_") {
		return false
	}
	n := 0
	for rest := t[max(0, lo-reach):min(len(t), hi+reach)]; n <= often; {
		before, after, found := strings.Cut(rest, v)
		if !found {
			return false
		}
		if strings.IndexByte("=:\"'`", signBefore(" "+before, len(before)+1)) < 0 {
			n++
		}
		rest = after
	}
	return true
}

// minGiven is the size of a value that is given to a name, in bytes; numbers may be shorter.
const minGiven = 6

// granted reports whether a value counts though it looks like less than others of its kind: a number that is
// called one, words that end their line, words with signs in a sentence, a word of which English makes nothing else.
func (w *walk) granted(o offer) bool {
	switch {
	case w.kind == numeral, w.kind == password && w.foreign && w.words < 4 && !w.comma:
		if o.tie >= said && pin.MatchString(o.v) && endsWord(w.t, o.hi) {
			return true
		}
	case w.kind == occasion:
		return o.look == marked && strings.HasSuffix(strings.TrimRight(w.t[:o.lo], "\"'`"), " / ")
	}
	if o.look == marked && o.tie == near && w.kind == password && w.spoken && !o.quoted {
		return !w.comma && mixed(o.v)
	}
	if o.look != word || w.kind != password || o.tie < said || w.words > 2 {
		return false
	}
	switch {
	case w.spoken && joined(o.v):
		return endsWord(w.t, o.hi) && !fileName.MatchString(o.v)
	case o.quoted || len(o.v) < minValue:
		return false
	}
	return !w.foreign && (o.tie == given && w.words == 0 && alone(w.t, o.lo, o.hi) || w.spoken &&
		clauseEnd.MatchString(w.t[o.hi:min(len(w.t), o.hi+8)]) && !describing.MatchString(o.v))
}

// joined reports whether words with signs between them are no word of a sentence: those have one hyphen at most.
func joined(v string) bool {
	return wordsWithSigns.MatchString(v) && (strings.ContainsAny(v, "._&+#") || strings.Count(v, "-") > 1)
}

// mentions reports whether a value is only mentioned near a name: a hash, an ID, a constant, a part of code.
func (w *walk) mentions(o offer) bool {
	switch {
	case w.weak && o.tie < given && (o.tie != handed || !o.quoted || w.words > 1) && (o.tie != said || o.look < drawn):
	case o.tie == near && (!prose(w.t[w.end:o.lo]) || !endsWord(w.t, o.hi) || !unsaid(o.v)):
	case o.tie <= said && constant.MatchString(o.v) && (o.look < odd || w.kind != numeral):
	case (w.kind == key || w.kind == numeral) && (prefixedSum.MatchString(o.v) || isSumForm(o.v) && (len(o.v) < 32 || w.kind == numeral)):
	case isSumForm(o.v) && (o.tie == near || o.tie == said && w.comma || !o.quoted && w.kind == occasion), w.loose && o.tie == said && !unsaid(o.v):
	default:
		return false
	}
	return true
}

// isCode reports whether a value without quotes is a name or an expression of code.
func (w *walk) isCode(o offer) bool {
	chain := dotted.MatchString(o.v)
	switch rest := w.t[o.hi:min(len(w.t), o.hi+100)]; {
	case rest != "" && strings.IndexByte("([{", rest[0]) >= 0:
	case (chain || symbol.MatchString(o.v)) && typed.MatchString(w.t[max(0, o.lo-1):o.lo]):
	case isIndex(w.t, o.lo-1):
	case o.tie < given && ofCodeItself(o.v), w.depth > 0 && symbol.MatchString(o.v) && parameter.MatchString(rest): // another name, a type
	case w.t[max(0, o.lo-1)] == '[' && regexClass.MatchString(rest):
	case w.tie == handed && chain, w.depth > 0 && (chain || w.t[w.end] == '('), (w.kind == verb || w.kind == token && o.tie == near) && chain:
	case !w.flag && assignment.MatchString(o.v), quoteAt(w.t, o.hi) && symbol.MatchString(strings.TrimSuffix(o.v, "=")) && strings.HasSuffix(o.v, "="):
	case o.tie >= given && !w.tight && !w.flag && chain && !madeUp.MatchString(o.v):
	case o.tie >= given && o.look <= marked && !w.clear(o):
	default:
		return false
	}
	return true
}

// ofCodeItself reports whether v is a name of code that tells about secrets, or a constant.
func ofCodeItself(v string) bool {
	return symbol.MatchString(v) && aboutItself(v) && Wordy(v)
}

// clear reports whether words behind a sign end as a value does, and are no name of code.
func (w *walk) clear(o offer) bool {
	if rest := w.t[o.hi:min(len(w.t), o.hi+100)]; rest != "" && strings.IndexByte(" \t\r\n\"'`&<", rest[0]) < 0 {
		inObject := strings.ContainsAny(o.v, digitSet) && strings.IndexByte(",}", rest[0]) >= 0
		inSentence := strings.HasPrefix(rest, ", ") && (w.spoken || w.words > 0)
		if !inObject && !inSentence && (!w.tight || rest[0] != ';') && !nextName.MatchString(rest) {
			return false
		}
	}
	return w.tight || w.flag || w.sets(o.lo) && !dotted.MatchString(o.v) || !identifier.MatchString(o.v)
}

// sets reports whether the sign before i gives a value outside of code: no "=" with spaces, and no "|" but in tables.
func (w *walk) sets(i int) bool {
	sign := signBefore(w.t, i)
	return (sign != '=' || inSection(w.t, i)) && (sign != '|' || inTable(w.t, i))
}

// signBefore is the byte before i and the spaces there.
func signBefore(t string, i int) byte {
	for i > 1 && t[i-1] == ' ' {
		i--
	}
	return t[max(0, i-1)]
}

// alone reports whether a value ends its line and is no name of code.
func alone(t string, lo, hi int) bool {
	return (hi == len(t) || t[hi] == '\n') && !strings.ContainsAny(t[lo:hi], "_.")
}

// prose reports whether a text has none of the signs of code.
func prose(t string) bool {
	return !strings.ContainsAny(t, "=;{}[]<>|\\\n\t") && !call.MatchString(t)
}

// endsWord reports whether a word of a sentence ends at i.
func endsWord(t string, i int) bool {
	i = skip(t, i, "\"'`*.,!?:)")
	return i >= len(t) || t[i] <= ' ' || t[i] >= utf8.RuneSelf
}

// unsaid reports whether a value that nothing gives to a name stands in no sentence of another kind: it has a
// digit, and is no constant of code.
func unsaid(v string) bool {
	return (strings.ContainsAny(v, digitSet) || signInWords.MatchString(v)) && !constant.MatchString(v)
}

var (
	// identifier is a name of code, with a number at its end perhaps; constant one of a value.
	identifier = lazy.Expr(`^[A-Za-z_.]+\d?$`)
	constant   = lazy.Expr(`^[A-Z_][A-Z\d_]+$|^[A-Z]+-\d+$`)
	call       = lazy.Expr(`\w\(`)
	// symbol is a name of code.
	symbol = lazy.Expr(`^[A-Za-z_]\w*$`)
	// asks is what a form says to whoever fills it in.
	asks = lazy.Expr(`(?i)\b(?:enter|your|please|must|should|invalid|wrong|required|least|characters?|not|for|of|is)\b`)
	// clauseEnd stands behind the last word of a sentence, of a part of one, or of a line.
	clauseEnd = lazy.Expr("^[\"'`*]*(?:$|\n|[.!?]+(?:\\W|$)|, | [(;]| [–—] )")
	// describing is how words end that tell about something, and some that have no such ending.
	describing = lazy.Expr(`(?i)(?:ed|ing|ly|able|ible|al|ous|ive|ary|ory|ent|ant|less|ful|ic|en|wise|self|where|thing|one|words?|ion|ment|ness|ity|ism|ers?|ors?|ss|text|time|ever|fault|erent|orrect|alid|base|side|ine|ates?|ies|ers|its|ons|ents|ages|ings|ults?|ase)$`)
	// assignment is a part of code that gives something to a name.
	assignment = lazy.Expr(`^[A-Za-z_][\w.]*=[^=]`)
	// typed stands before a type: the signs of a pointer and of a list.
	typed = lazy.Expr(`[*\]]`)
	// parameter is the name of one, behind its type.
	parameter = lazy.Expr(`^ (?:\*|\w+[,)])`)
	// prefixedSum is a hash behind words, as caches are called.
	prefixedSum = lazy.Expr(`^[a-z\d_]+-(?:[a-z\d_]+-)*[0-9a-f]{32,}$`)
	// regexClass ends a class of a regular expression.
	regexClass = lazy.Expr(`^\][{+*]`)
)
