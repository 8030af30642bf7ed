package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// isValue reports whether t[lo:hi] is to be taken out as the value of the walk's name. b is how clearly the text gives
// it to the name, quoted whether it stands in quotes.
func (w *walk) isValue(lo, hi int, b binding, quoted bool) bool {
	v := w.t[lo:hi]
	isFlag := !quoted && strings.HasPrefix(v, "--") && Wordy(v)
	if len(v) < 4 || isFlag || isQuoteAt(v, 0) || strings.Contains(v, "\n") ||
		quoted && isKey(w.t[min(len(w.t), hi+1):]) && w.gradeAt(lo, hi, true) < randomLike {
		return false
	}
	sign := 0
	if !quoted && !w.flag {
		sign = strings.IndexAny(v, "=(")
	}
	// the next assignment, a call
	if sign > 0 && isName(v[:sign]) && (Wordy(v[:sign]) || !looksRandom(v)) && strings.Trim(v[sign:], "=") != "" {
		return false
	}
	if (w.kind == pin || w.kind == password && w.foreign && w.words < 4 && !w.comma) && b >= stated && isPIN(v) &&
		endsWord(w.t, hi) {
		return true
	}
	g := w.gradeAt(lo, hi, quoted || w.tight || w.flag && w.words == 0 || strings.HasPrefix(w.t[hi:], "</"))
	return w.looksLikeValue(v, g, lo, hi, b, quoted) && !w.isOnlyMentioned(v, g, lo, hi, b, quoted) &&
		(quoted || !w.isCode(v, g, lo, hi, b))
}

// looksLikeValue reports whether a value looks like one of the name, as clearly as it is given to it: by the table
// requiredGrade, but for the cases.
func (w *walk) looksLikeValue(v string, g grade, lo, hi int, b binding, quoted bool) bool {
	switch {
	case strings.Contains(v, " "):
		return quoted && w.kind == password && b >= stated &&
			(isPhrase(v) || w.words == 0 && ((w.flag || w.tight) && isText(v) ||
				w.phrase && strings.Count(v, " ") > 2 && wordsForm.MatchString(v)))
	case w.kind == password && w.words == 0 && b == assigned && !quoted && g == wordLike && len(v) >= minValue &&
		!w.foreign:
		// alone at the end of its line
		return (hi == len(w.t) || w.t[hi] == '\n') && !strings.ContainsAny(v, "_.") && w.givesOutsideCode(lo)
	case quoted && w.kind == password && w.words == 0 && b >= stated && g == wordLike &&
		strings.Count(v, "-")+strings.Count(v, ".") > 1:
		return true
	case b >= stated && (w.kind == token || w.kind == key) && isMadeUpPassword(v) && twoDigits(v) &&
		handover.MatchString(w.t[max(0, w.lo-24):w.lo]):
		return true
	case w.kind == login && g == wordPlus && b == certain && !w.signed && !quoted: // "bob / …"
		return len(v) >= minValue
	}
	return len(v) >= minGiven && g >= requiredGrade[w.kind][b]
}

// isOnlyMentioned reports whether a value is only mentioned near a name: a hash, an ID, a constant, a path. An empty
// case means that it is.
func (w *walk) isOnlyMentioned(v string, g grade, lo, hi int, b binding, quoted bool) bool {
	digits := hasDigit(v)
	second := w.strings == 1 && (w.kind == login || w.kind == token) && isMadeUpPassword(v) // auth("bob", "…")
	if code := strings.TrimLeft(v, "*&"); quoted && !second && (w.kind != password || w.words > 0 && !digits) &&
		(isChain(code) && !looksRandom(code) || isName(code) && (!digits || w.t[lo-1] == '`' && Wordy(code))) {
		return true // a name of code, as messages quote it
	}
	switch {
	case w.weak && b < assigned && (b != argument || !quoted || w.words > 1) && (b != stated || g < randomLike):
	case b == nearby && (!isProse(w.t[w.end:lo]) || !endsWord(w.t, hi)):
	case (b <= stated || w.kind != password && w.kind != pin && b < certain) && isConstant(v):
	case w.kind == key && (isHashOrID(v) || isPrefixedHash(v) || isUUID(v[strings.LastIndexAny(v, "/.")+1:])):
	case w.kind != password && !quoted && strings.ContainsAny(v, separators) && Wordy(v): // a list
	case isHashOrID(v) && (b == nearby || b == stated && (w.comma || w.words > 0) || !quoted && w.kind == login):
	case w.kind != password && w.kind != pin && digits && onlyDigits(v) && len(v) < 16:
	default:
		return false
	}
	return true
}

// handover is how a sentence gives somebody its writer's own key: "my api key is …", "here's the key: …".
var handover = lazy.Expr(`(?i)\b(?:my|our|here(?:'s|’s| is| are)(?: (?:the|a|your))?(?: new)?)(?: \w+)? $`)

// isCode reports whether a value without quotes is a name or an expression of code. An empty case means that it is.
func (w *walk) isCode(v string, g grade, lo, hi int, b binding) bool {
	rest := w.t[hi:min(len(w.t), hi+40)]
	name, dotted := isName(v), isChain(v)
	digits := hasDigit(v)
	switch {
	case v[0] == '+' && (isName(v[1:]) || isChain(v[1:])), strings.HasSuffix(v, "=") && isQuoteAt(w.t, hi),
		len(rest) > 1 && rest[0] == ']' && strings.IndexByte("{+*", rest[1]) >= 0,
		rest != "" && strings.IndexByte("([{", rest[0]) >= 0 ||
			lo > 0 && strings.IndexByte("*]", w.t[lo-1]) >= 0 && (name || dotted) && !w.isEmphasis(lo, hi):
	case (name || dotted) && Wordy(v) && b < certain && (hasNameWord(v) || w.depth > 0) &&
		(w.kind != password || !isMadeUpPassword(v) || !twoDigits(v)):
		// tells about secrets, or is a parameter
	case dotted && (w.depth > 0 || b >= assigned && !w.tight && !w.flag || w.kind == passVerb || w.kind == login ||
		w.kind == token && b == nearby) && !isMadeUpPassword(v) && !looksRandom(v):
	case b >= assigned && g <= wordPlus && !w.tight && !w.flag && w.kind == password && twoDigits(v) && !hasNameWord(v) &&
		w.givesOutsideCode(lo):
		return false
	case b >= assigned && g <= wordPlus && !w.tight && !w.flag:
		// The names of code have no digits, or end in one; what they are given to ends in "=" with spaces around it.
		plainName := name && (!digits || strings.Trim(v, digitSet) == v[:len(v)-1] || strings.Contains(v, "_") && Wordy(v))
		called := w.givesOutsideCode(lo) && (digits && !strings.Contains(v, "_") || g == wordPlus && !digits)
		return plainName && g != wordLike && !called
	default:
		return false
	}
	return true
}

// isEmphasis reports whether t[lo:hi] stands between asterisks.
func (w *walk) isEmphasis(lo, hi int) bool {
	return w.t[lo-1] == '*' && hi < len(w.t) && w.t[hi] == '*'
}

// givesOutsideCode reports whether the sign before i gives a value outside of code: a colon or a word does, "|" in a row
// of a table, and "=" below a [section] alone. Its callers know that the sign does not stand close to the name.
func (w *walk) givesOutsideCode(i int) bool {
	for i > 1 && w.t[i-1] == ' ' {
		i--
	}
	if w.t[i-1] == '|' { // of a table
		return strings.HasPrefix(strings.TrimLeft(w.t[lineOf(w.t, i, i, maxReach).lo:i], " \t"), "|")
	} else if w.t[i-1] != '=' {
		return true
	}
	before := w.t[max(0, i-4*maxReach):i]
	head := strings.LastIndex(before, "]\n")
	if head < 0 {
		return false
	}
	start := strings.LastIndexByte(before[:head], '\n') + 1
	return before[start] == '[' && !strings.ContainsAny(before[start+1:], "[(\"'{;")
}

// isProse reports whether a text has none of the signs of code.
func isProse(t string) bool {
	for i := range len(t) {
		if codeSigns[t[i]] || t[i] == '(' && i > 0 && isWordByte(t[i-1]) {
			return false
		}
	}
	return true
}

var codeSigns = bytesIn("=;{}[]<>|\\\n\t") //nolint:gochecknoglobals // read-only

// endsWord reports whether a word of a sentence ends at i.
func endsWord(t string, i int) bool {
	i = skip(t, i, "\"'`*.,!?:)")
	return i >= len(t) || t[i] <= ' ' || t[i] >= utf8.RuneSelf
}
