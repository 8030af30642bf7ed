package redact

import (
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/lazy"
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
	absolute = lazy.Expr(`^(?:~|\.{1,2})?[/\\][\w.@ /\\-]*$|^[A-Za-z]:[/\\]`)
	pathForm = lazy.Expr(`^[\w.@ /\\-]+$`)
)

// plainForm is an e-mail address, a version, a number with points, a date, an address of the
// network, or a host with a port.
var plainForm = lazy.Expr(`^(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,10}|v?\d+(?:[.:/_-]\d+)+|\d+(?:[.,]\d+)+[a-zA-Z%]{0,2}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?|(?:[a-z][a-z-]*\.)+(?:[a-z]{2}|com|org|net|edu|gov|info|dev|app|cloud|local|internal|lan|test)(?::\d+)?|[a-z]+:\d+|#[\da-fA-F]{3,8}|[\w./-]+@v?\d+(?:\.\d+)+|//.*|-?0[xX][\da-fA-F_]{1,16}[uUlL]*|\d+[uUlL]+|\d+m[\d.]+s|[a-z][a-z\d_-]*-\d{4}-?\d\d-?\d\d)$`)

// placeholder reports whether v stands for a value: a variable, a gap to be filled, a mask.
func placeholder(v string) bool {
	switch {
	case strings.HasPrefix(v, "[REDACTED:"), strings.HasPrefix(v, Private), strings.HasPrefix(v, Excluded):
		return true
	case constants[strings.ToLower(v)]:
		return true
	case v[0] == '<' || v[0] == '$' || v[0] == '{' || v[0] == '%' && (len(v) == 2 || strings.HasSuffix(v, "%")):
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
	if random(v) && !strings.Contains(v, "://") && entropy(v) > 4 {
		return true
	}
	for _, p := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(`/\?&=:@;,#`, r) }) {
		if random(p) {
			return true
		}
	}
	return false
}
