package redact

import (
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// look is how little a value looks like what stands in text and code anyway.
type look int

const (
	plain  look = iota // a placeholder, a path, an expression, a version
	word               // words, numbers of four digits
	marked             // words with a number, with signs or of mixed case; numbers of six digits and more
	odd                // digits or signs within words, letters that are no words
	drawn              // drawn by lot
	never              // nothing looks so
)

const (
	// strongSigns are those that passwords have and names don't; codeSigns those of code.
	strongSigns = "!#$%^&*+~@?"
	codeSigns   = "()[]{}<>`\""
	// longestValue is the size of a value at most, in bytes.
	longestValue = 4096
)

// lookOf grades a value. What is delimited, by quotes or as an argument, is no expression.
func lookOf(v string, delimited bool) look {
	switch {
	case len(v) >= 4 && letters(v) && v[1:] == strings.ToLower(v[1:]): // most are
		if constants[strings.ToLower(v)] || aboutItself(v) {
			return plain
		}
		return word
	case len(v) < 4 || len(v) > longestValue || placeholder(v) || plainForm.MatchString(v) || strings.ContainsAny(v, " \t"):
		return plain
	case strings.Trim(v, digitSet) == "":
		return numberLook(v)
	case (v[0] == '.' || v[0] == '#') && Wordy(v) && !strings.ContainsAny(v[1:], strongSigns):
		return plain
	case delimited && len(v) >= 16 && !Wordy(v) && entropy(v) > 3.5 && !strings.ContainsAny(v, "<>{}\n") && !strings.HasSuffix(v, "("):
		return drawn
	case !strings.ContainsFunc(v, unicode.IsLetter) || !delimited && expression(v):
		return plain
	case random(v) && !strings.Contains(v, "://"):
		return drawn
	case pathLike(v, delimited) || strings.ContainsAny(v, codeSigns) && (callForm.MatchString(v) || !delimited && !strings.ContainsAny(v, digitSet)):
		return plain
	}
	l := makeup(v)
	switch {
	case l < odd && (Wordy(v) && aboutItself(v) || !delimited && dotted.MatchString(v) && !strings.ContainsAny(v, digitSet)):
		return plain
	case len(v) < minValue && l > word:
		return l - 1
	case l == odd && fileName.MatchString(v):
		return marked
	}
	return l
}

// numberLook is the look of a number. Routers come with passwords of 16 to 20 digits.
func numberLook(v string) look {
	switch n := len(v); {
	case n >= 16:
		return odd
	case n >= 6:
		return marked
	}
	return word
}

// expression reports whether v is one of code, a list, or rules of a form ("required|min:8").
func expression(v string) bool {
	return strings.ContainsAny(v, codeSigns) || strings.Contains(v, "::") || sumOf.MatchString(v) ||
		Wordy(v) && strings.ContainsAny(v[:1], "@&*-.:,=") || strings.Contains(v, ",") && strings.Contains(v, "=")
}

// pathLike reports whether v is a path, an address, or the name of a thing in a cloud. As an argument, words of
// mixed case with a digit may hold a slash or two.
func pathLike(v string, delimited bool) bool {
	if before, _, found := strings.Cut(v, "|"); found && constants[before] || v[0] == '@' || strings.HasPrefix(v, "http") {
		return true
	}
	if strings.Contains(v, "/") {
		return !delimited || strings.ToLower(v) == v || strings.ToUpper(v) == v || v[0] == '/' || strings.Count(v, "/") > 2 || fileName.MatchString(v)
	}
	return absolute.MatchString(v) || strings.Count(v, `\`) > 1
}

// makeup is the look of letters with other things among them.
func makeup(v string) look {
	low, digits := strings.ToLower(v), strings.ContainsAny(v, digitSet)
	strong := strings.ContainsAny(strings.TrimRight(v, "!?"), strongSigns) || digits && strings.HasSuffix(v, "!")
	switch {
	case digits && strong, low != v && signInWords.MatchString(v), low != v && (digitInWord.MatchString(v) || madeUp.MatchString(v)), digits && !Wordy(v), turns(v) > 3 && !Wordy(v), turns(v) > 2 && twoDigits.MatchString(v), numberThenSign.MatchString(v):
		return odd
	case digits, strong, turns(v) > 1, turns(v) == 1 && isUpper(v[len(v)-1]), low[1:] != v[1:] && strings.ToUpper(v) != v, strings.Count(v, "-") > 2, low != v && wordsWithSigns.MatchString(v):
		return marked
	}
	return word
}

// turns is how often the case of letters changes in v.
func turns(v string) int {
	n, last := 0, 0
	for _, r := range v {
		if k := kindOf(r); k == letterLow || k == letterUp {
			if last != 0 && k != last {
				n++
			}
			last = k
		}
	}
	return n
}

var (
	// callForm is a call, an index or an expression.
	callForm = lazy.Expr(`^[\w.:>-]*[(\[{].*[)\]};,]$|^[&*!@#?~]|[({\[]$|\w\.\w+\.`)
	// sumOf is a name with something added to it, or added to a string.
	sumOf = lazy.Expr(`^(?:[A-Za-z_][\w.]*[+*]\d{1,3}|\d+[+*][A-Za-z_][\w.]*|\+[A-Za-z_][\w.]*)$`)
	// dotted is a chain of names, or a file.
	dotted = lazy.Expr(`^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$`)
	// madeUp is words with signs between them and a number behind or before, as people make passwords.
	madeUp         = lazy.Expr(`^(?:\pL*\p{Ll}\pL*[-_.+!]+)+(?:\pL*\p{Ll}\pL*[-_.]?)?\d{1,4}!?$|^\d{1,4}(?:[-_.+!]\pL*\p{Ll}\pL*)+$`)
	wordsWithSigns = lazy.Expr(`^\pL+(?:[-_.!#+]+\pL+)+[!#]?$`)
	// signInWords is a sign that only passwords have between words.
	signInWords = lazy.Expr(`^\pL{2,}[!#$%^&*+~@?]\pL{2,}[!?]?$`)
	twoDigits   = lazy.Expr(`\d\d`)
	// numberThenSign ends no name.
	numberThenSign = lazy.Expr(`^\pL[\pL_.-]{2,}\d{2,}[-_%#*]$`)
	// digitInWord is a digit that stands for the letter that it looks like.
	digitInWord = lazy.Expr(`(?:\p{Ll}|^\p{Lu})[013457]\p{Ll}`)
	// sumForm is a hash or an ID, which gives no access where nothing says so.
	sumForm = lazy.Expr(`^(?:0x)?(?:[0-9a-f-]{7,}|[0-9A-F-]{7,})$`)
)

// isSumForm reports whether a value may be mentioned without being a secret.
func isSumForm(v string) bool { return sumForm.MatchString(v) }

// constants are values of code and forms.
var constants = setOf("true false null none nil undefined yes no on off required optional confirmed nullable string number boolean text hidden prompt stdin options option flag flags argument arguments parameter encrypted masked plain enabled disabled") //nolint:gochecknoglobals // read-only

// phrase reports whether several words are a password: they have no capitals or a digit, and none of them
// is one that messages have.
func phrase(v string) bool {
	n := strings.Count(v, " ")
	return n > 0 && n < 10 && len(v) >= minValue && (n > 1 && strings.ToLower(v) == v || strings.ContainsAny(v, digitSet)) && !placeholder(v) &&
		phraseForm.MatchString(v) && !messageWord.MatchString(v) && !aboutItself(v)
}

var (
	phraseForm  = lazy.Expr(`^[\pL\d]+(?: [\pL\d!&#-]+)+$`)
	messageWord = lazy.Expr(`(?i)\b(?:the|an?|of|if|by|as|be|it|this|that|new|old|used?|has|no|set|get|can|will|when|should|characters?|chars|must|least|most|than|enter|your|please|invalid|wrong|not|is|are|to|for|and|or|with|from|in|on|at|days?|hours?|minutes?|seconds?|times?|expire[ds]?|required|failed|error|login|user|bits?|bytes?)\b`)
)
