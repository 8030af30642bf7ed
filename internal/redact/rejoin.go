package redact

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// rejoin puts together what was split: strings that code adds up ("a" + "b"), strings side by
// side, what a shell continues on the next line, and what an editor or a terminal wrapped.
func rejoin(t string, _ []byte, done, i int) (string, int) {
	switch c := t[i]; {
	case c == ' ':
		return "", spelled(t, i)
	case c == '\\':
		return "", continued(t, i)
	case c == '\n' && (i == 0 || t[i-1] != '\\'):
		return "", wrapped(t, done, i)
	case c != '\n' && i > 0 && inToken(t[i-1]):
		return "", added(t, i)
	}
	return "", 0
}

// minSpelled is how many letters that stand alone are a word spelled out: "p a s s w o r d".
const minSpelled = 6

// spelled is the size of a space between such letters.
func spelled(t string, i int) int {
	alone := func(j int) bool {
		return j >= 0 && j < len(t) && t[j] > ' ' && (j == 0 || t[j-1] <= ' ') && (j+1 == len(t) || t[j+1] <= ' ')
	}
	if !alone(i+1) || !alone(i-1) {
		return 0
	}
	lo, hi := i-1, i+1
	for alone(lo-2) && t[lo-1] == ' ' && hi-lo < 2*minSpelled {
		lo -= 2
	}
	for alone(hi+2) && t[hi+1] == ' ' && hi-lo < 2*minSpelled {
		hi += 2
	}
	if (hi-lo)/2+1 < minSpelled {
		return 0
	}
	return 1
}

// added is the size of what stands between two string literals that are one: `" + "`, `" "`,
// `" . "`, `""`, also over lines. The second begins with the quote that ended the first.
func added(t string, i int) int {
	j := i + 1
	operator := false
	for ; j < len(t) && j-i < 80; j++ {
		switch c := t[j]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\':
		case (c == '+' || c == '.' || c == '&' || c == ',' && aSign(t, i-2) && aSign(t, j+skipped(t[j+1:], " ")+1)) && !operator:
			operator = true
		case c == t[i]:
			if j+1 < len(t) && inToken(t[j+1]) {
				return j + 1 - i
			}
			return 0
		default:
			return 0
		}
	}
	return 0
}

// aSign reports whether a string of one byte begins at i.
func aSign(t string, i int) bool {
	return i >= 0 && i+2 < len(t) && quoteAt(t, i) && t[i+2] == t[i]
}

// continued is the size of a shell's continuation within a token.
func continued(t string, i int) int {
	j := i + 2
	if i == 0 || j >= len(t) || t[i+1] != '\n' {
		return 0
	}
	if t[i-1] == '=' {
		j = skip(t, j, " \t")
	}
	if j < len(t) && inToken(t[i-1]) && inToken(t[j]) {
		return j - i
	}
	return 0
}

// wrapped is the size of a line's end within a token: a break in something that is not two words. What follows must end its line
// or the token, and not be a key of its own ("name = …", "name: …", "call(…").
func wrapped(t string, done, i int) int {
	j := i + 1
	for j < len(t) && j-i <= 12 && strings.IndexByte(" \t>|", t[j]) >= 0 {
		j++
	}
	a, b := tokenBefore(t, done, i), tokenAfter(t, j)
	if a == "" || strings.Trim(b, digitSet) == "" || !oneToken(a, b) || strings.HasSuffix(b, ":") || isKey(t[j+len(b):]) || beginsLine(b, t[j+len(b):]) {
		return 0
	}
	return j - i
}

// longest is how far a token is followed, in bytes.
const longest = 200

func tokenBefore(t string, from, end int) string {
	i := end
	for i > from && end-i < longest && inToken(t[i-1]) {
		i--
	}
	return t[i:end]
}

func tokenAfter(t string, i int) string {
	end := i
	for end < len(t) && end-i < longest && inToken(t[end]) {
		end++
	}
	return t[i:end]
}

// oneToken reports whether a and b can be the halves of one: long together, or with signs or
// digits where the break is made.
func oneToken(a, b string) bool {
	if len(a) < 2 || len(b) < 2 {
		return false
	}
	last := a[strings.LastIndexAny(a, "=:/@")+1:]
	if len(last) < 2 {
		return false
	}
	if last == a && isWord(strings.TrimRight(a, ".!?")) {
		return false // a word at the end of its line
	}
	whole := last + b
	return len(whole) >= minValue && strings.ContainsAny(whole, digitSet) && (!isWord(last) || !isWord(b))
}

// isKey reports whether what follows a token makes it the left side of something.
func isKey(rest string) bool {
	if rest != "" && strings.IndexByte("([{", rest[0]) >= 0 {
		return true
	}
	bare := strings.TrimLeft(rest, " \t")
	keyword := bare != rest && len(bare) > 1 && bare[0] == ':' && isLetter(bare[1]) // the next one of Clojure
	return bare != "" && strings.IndexByte("=:", bare[0]) >= 0 && !keyword
}

// inToken reports whether a byte can stand inside a token or a password.
func inToken(c byte) bool { return tokens[c] }

var tokens = bytesOf("-_+/=.!#%^*~$@&:") //nolint:gochecknoglobals // read-only

// bytesOf is the set of letters, digits and the given signs.
func bytesOf(signs string) [256]bool {
	return bytesWhere(func(c byte) bool { return alnumeric(c) || strings.IndexByte(signs, c) >= 0 })
}

func bytesIn(signs string) [256]bool {
	return bytesWhere(func(c byte) bool { return strings.IndexByte(signs, c) >= 0 })
}

func bytesWhere(is func(c byte) bool) (set [256]bool) {
	for c := range 256 {
		set[c] = is(byte(c))
	}
	return set
}

// beginsLine reports whether b is a word or a name of code, and more follows in its line.
func beginsLine(b, rest string) bool {
	return symbol.MatchString(strings.TrimLeft(b, "#$@")) && Wordy(b) && (!strings.ContainsAny(b, digitSet) || strings.Contains(b, "_")) &&
		moreFollows.MatchString(rest)
}

var moreFollows = lazy.Expr(`^[ \t]+[^ \t\n]`)
