package redact

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ordinary reports whether a value says too little to be a secret that could be told from
// other text: it is short, a word, a placeholder, a path, an address, a number with points.
// Such a value is never replaced wherever it stands, whoever says that it is a password.
func Ordinary(v string) bool {
	v = strings.TrimSpace(v)
	switch {
	case len(v) >= minValue && letters(v):
		return placeholder(v) || isWord(v)
	case len(v) < minValue, placeholder(v), plainForm.MatchString(v):
		return true
	case strings.Contains(v, "://"), absolute.MatchString(v):
		return !hasRandomPart(v)
	case strings.ContainsAny(v, `/\`):
		return pathForm.MatchString(v) && Wordy(v)
	}
	return isWord(v)
}

// letters reports whether v is letters of ASCII alone.
func letters(v string) bool {
	for i := range len(v) {
		if !isLetter(v[i]) {
			return false
		}
	}
	return true
}

var (
	// absolute is a path that begins as one; pathForm is any.
	absolute = regexp.MustCompile(`^(?:~|\.{1,2})?[/\\][\w.@ /\\-]*$|^[A-Za-z]:[/\\]`)
	pathForm = regexp.MustCompile(`^[\w.@ /\\-]+$`)
)

// plainForm is an e-mail address, a version, a number with points, a date, an address of the
// network, or a host with a port.
var plainForm = regexp.MustCompile(`^(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)+|v?\d+(?:[.:/_-]\d+)+|\d+(?:[.,]\d+)+[a-zA-Z%]{0,2}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?|(?:[a-z][a-z-]*\.)+[a-z]{2,6}(?::\d+)?|[a-z]+:\d+)$`)

// placeholder reports whether v stands for a value: a variable, a gap to be filled, a mask.
func placeholder(v string) bool {
	switch {
	case strings.HasPrefix(v, "[REDACTED:"), strings.HasPrefix(v, Private), strings.HasPrefix(v, Excluded):
		return true
	case v[0] == '<' || v[0] == '$' || v[0] == '{' || v[0] == '%' && strings.HasSuffix(v, "%"):
		return true
	case strings.Contains(v, "${") || strings.Contains(v, "{{") || strings.Contains(v, "$(") || strings.Contains(v, "...") || strings.Contains(v, "…"):
		return true
	case strings.Trim(v, v[:1]) == "" || strings.Trim(strings.ToLower(v), "x*.-_ ") == "":
		return true
	}
	low := strings.ToLower(v)
	for _, w := range []string{"example", "placeholder", "changeme", "change-me", "change_me", "xxxx", "****", "your-", "your_", "dummy", "redacted"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// pieces are the runs of letters of one kind of case and the runs of digits in v: "apiKey2" has
// three.
func pieces(v string) []string {
	var out []string
	start, kind := 0, 0
	runes := []rune(v)
	flush := func(end int) {
		if kind != 0 && end > start {
			out = append(out, string(runes[start:end]))
		}
	}
	for i, r := range runes {
		k := kindOf(r)
		switch {
		case k == kind && k != 0:
		case k == letterLow && kind == letterUp && i-start == 1: // "Key"
			kind = letterLow
		case k == letterLow && kind == letterUp: // "APIKey"
			flush(i - 1)
			start, kind = i-1, letterLow
		default:
			flush(i)
			start, kind = i, k
		}
	}
	flush(len(runes))
	return out
}

const (
	letterLow = iota + 1
	letterUp
	digit
)

func kindOf(r rune) int {
	switch {
	case unicode.IsDigit(r):
		return digit
	case unicode.IsUpper(r):
		return letterUp
	case unicode.IsLetter(r):
		return letterLow
	}
	return 0
}

// isWord reports whether v is one word: letters of one case, perhaps with a capital, each
// next to one that English puts there. What is made of other letters is taken for a word.
func isWord(v string) bool {
	letters := strings.ToLower(v)
	if v != letters && v != strings.ToUpper(v) && v[1:] != letters[1:] {
		return false
	}
	odd, still := 0, 0
	for i, r := range letters {
		if !unicode.IsLetter(r) {
			return false
		}
		if strings.ContainsRune("bcdfghjklmnpqrstvwxz", r) {
			still++
		} else {
			still = 0
		}
		if still > 5 {
			return false
		}
		if i > 0 && r < 0x80 && letters[i-1] < 0x80 && !pair(letters[i-1], letters[i]) {
			odd++
		}
	}
	return odd == 0 || odd == 1 && len(letters) > 8
}

func pair(a, b byte) bool { return strings.IndexByte(pairs[a-'a'], b) >= 0 }

// pairs are, for each letter, those that follow it in English: in at least four of the words
// that the comments of Go's standard library use four times or more.
//
//nolint:gochecknoglobals // read-only
var pairs = [26]string{
	"bcdfghiklmnprstuvwxyz",
	"abcdegijlnoprstuvy",
	"acdeghiklmnopqrstuvwy",
	"acdefgijlmnoprstuvwy",
	"abcdefghijklmnopqrstuvwxyz",
	"acdefgilmoprstuy",
	"acefghilmnoprstuy",
	"adefilmorstuy",
	"abcdefgklmnoprstvxz",
	"aeosu",
	"adefgilmnopsty",
	"abcdefgiklnoprstuvy",
	"abcdefiklmnopstuy",
	"abcdefghijklmnopqrstuvwyz",
	"abcdefgiklmnoprstuvwxy",
	"acdefghiklmoprstuvy",
	"u",
	"abcdefghiklmnoprstuvwy",
	"abcdefghiklmnopqrstuwy",
	"acdefghilmnoprstuvwxyz",
	"abcdefgilmnoprstxz",
	"aeios",
	"adehilmnoprs",
	"acehimpty",
	"ceilmnopstwz",
	"aeioz",
}

// Wordy reports whether v is put together from words and short numbers, as names in code are:
// of its letters, three fifths are in words that can be spoken.
func Wordy(v string) bool {
	letters, spoken := 0, 0
	for _, p := range pieces(v) {
		if kindOf(rune(p[0])) == digit {
			if len(p) > 5 {
				return false
			}
			continue
		}
		letters += len(p)
		if len(p) > 2 && isWord(p) && strings.ContainsAny(p, "aeiouyAEIOUY") {
			spoken += len(p)
		}
	}
	return 5*spoken >= 3*letters
}

// aboutItself reports whether a piece of v is a word of a name or a sample, not of a secret.
func aboutItself(v string) bool {
	for _, p := range pieces(v) {
		switch strings.ToLower(p) {
		case "password", "passwd", "pass", "pwd", "passphrase", "secret", "secrets", "token", "tokens", "key", "keys", "api",
			"auth", "credential", "credentials", "test", "tests", "testing", "fake", "mock", "sample", "default",
			"env", "config", "value", "string", "str", "type", "bytes", "hidden", "null", "none", "nil", "undefined",
			"sha", "md", "base", "utf", "int", "uint", "float", "aes", "rsa", "hmac", "ed", "hs", "rs", "es", "ecdsa",
			"bcrypt", "argon", "oauth", "private", "public", "arm", "amd", "http", "https", "ascii", "hex":
			return true
		}
	}
	return false
}

// random reports whether v looks drawn by lot: long, of letters and digits, and not made of
// words.
func random(v string) bool {
	letters, digits, inWords := 0, 0, 0
	for _, p := range pieces(v) {
		switch {
		case kindOf(rune(p[0])) == digit:
			digits += len(p)
		default:
			letters += len(p)
			if len(p) > 3 && isWord(p) {
				inWords += len(p)
			}
		}
	}
	return letters+digits >= 16 && letters > 2 && digits > 1 && 2*inWords < letters && entropy(v) > 3
}

// hasRandomPart reports whether a path or URL holds a part that looks drawn by lot.
func hasRandomPart(v string) bool {
	if random(v) && !strings.Contains(v, "://") && v[0] != '~' && v[0] != '.' && strings.Count(v, "/") < 5 && entropy(v) > 4 {
		return true
	}
	for _, p := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(`/\?&=:@;,#`, r) }) {
		if random(p) {
			return true
		}
	}
	return false
}

// telling reports whether a value that is said to be a secret looks like one: it has letters
// beside digits or signs, and is no name, call or path of code.
func telling(v string) bool {
	if strings.ContainsAny(v, codeSigns) || Ordinary(v) || code(v) {
		return false
	}
	if Wordy(v) {
		return noName(v) && (!aboutItself(v) || blended(v) && twoDigits.MatchString(v))
	}
	return entropy(v)*float64(len(v)) > 2.5*float64(utf8.RuneCountInString(v)) && strings.ContainsFunc(v, unicode.IsLetter)
}

// noName reports whether words have between or behind them what people put there to make a password.
func noName(v string) bool { return longNumber.MatchString(v) || blended(v) }

// blended reports whether v has capitals, small letters, a digit, and a sign or a digit within a word: no
// name has all of them.
func blended(v string) bool {
	return mixed(v) && (digitInWord.MatchString(v) || strings.ContainsFunc(v, func(r rune) bool { return kindOf(r) == 0 && r != ' ' }))
}

var (
	twoDigits   = regexp.MustCompile(`\d\d`)
	longNumber  = regexp.MustCompile(`\d\d|\d.*[!#%^*$&]|[!#%^*$&].*\d|[!#%^*+$&@]$`)
	digitInWord = regexp.MustCompile(`\pL\d\p{Ll}`)
)

// sure reports whether what is clearly given to a password is one, though it may be words or a number
// anywhere else: six digits and more, words with a digit or a sign, words in mixed case or three of them.
func sure(v string) bool {
	switch {
	case strings.Trim(v, digitSet) == "":
		return len(v) >= 6
	case len(v) < minValue || len(v) > longest || placeholder(v) || plainForm.MatchString(v) || callForm.MatchString(v) || sumOf.MatchString(v) || strings.ContainsAny(v, "/\\ <>=\"'`|:;"):
		return false
	case strings.ContainsAny(v, digitSet) && strings.ContainsAny(v, strongSigns):
		return true
	case aboutItself(v), dotted.MatchString(v) && strings.ToLower(v) == v:
		return false
	}
	return strings.ContainsAny(v, digitSet) || strings.ContainsAny(v, strongSigns) || wordsWithSigns.MatchString(v) && (strings.ToLower(v) != v && strings.ToUpper(v) != v || strings.Count(v, "-") > 1)
}

// strongSigns are those that passwords have and names don't.
const strongSigns = "!#$%^&*+~@?"

// phrase reports whether a string in quotes is a password of several words: it has a digit, and none of
// the words that messages have.
func phrase(v string) bool {
	all := strings.Fields(v)
	return len(all) > 1 && len(all) < 10 && len(v) >= minValue && strings.ContainsAny(v, digitSet) && !placeholder(v) &&
		phraseForm.MatchString(v) && !messageWord.MatchString(v) && !aboutItself(v)
}

var (
	wordsWithSigns = regexp.MustCompile(`^\pL+(?:[-_.!#+]+\pL+)+[!#]?$`)
	// callForm is a call, an index or an expression.
	callForm    = regexp.MustCompile(`^[\w.:>-]*[(\[{].*[)\]};,]$|^[&*!@#?~]|[({\[]$|\w\.\w+\.`)
	phraseForm  = regexp.MustCompile(`^[\pL\d]+(?: [\pL\d!-]+)+$`)
	messageWord = regexp.MustCompile(`(?i)\b(?:characters?|chars|must|least|most|than|enter|your|please|invalid|wrong|not|is|are|to|for|and|or|with|from|in|on|at|days?|hours?|minutes?|seconds?|times?|expire[ds]?|required|failed|error|login|user|bits?|bytes?)\b`)
)

// inQuotes reports whether a string in quotes that is given to a secret looks like one, though
// it holds signs that code has: it is long, not of words, and no template.
func inQuotes(v string) bool {
	return len(v) >= 16 && !placeholder(v) && !Wordy(v) && entropy(v) > 3.5 && !strings.ContainsAny(v, "<>{}\n")
}

const codeSigns = "()[]{}<>`\""

// code reports whether v is an expression rather than a value.
func code(v string) bool {
	if strings.ContainsAny(v, codeSigns) || strings.Contains(v, "::") || strings.Contains(v, "->") || alternatives(v) {
		return true
	}
	if sumOf.MatchString(v) || dotted.MatchString(v) && !strings.ContainsAny(v, digitSet) && turns(v) < 4 {
		return true
	}
	if !Wordy(v) {
		return false
	}
	return strings.ContainsAny(v[:1], "@&*-.:,=!") || dotted.MatchString(v) && (aboutItself(v) || !noName(v))
}

// sumOf is a name with something added to it, or added to a string.
var sumOf = regexp.MustCompile(`^(?:[A-Za-z_][\w.]*[+*]\d{1,3}|\+[A-Za-z_][\w.]*)$`)

// dotted is a chain of names, or a file.
var dotted = regexp.MustCompile(`^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$`)
