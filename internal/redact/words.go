package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Ordinary reports whether a value says too little to be a secret that could be told from other text: it is short, a
// word, a placeholder, a path, an address, a number with points. Such a value is never replaced wherever it stands,
// whoever says that it is a password.
func Ordinary(v string) bool {
	v = strings.TrimSpace(v)
	switch {
	case len(v) > longestValue:
		return false
	case len(v) < minValue, isWord(v), isPlaceholder(v), isCommonFormat(v):
		return true
	case !strings.ContainsAny(v, `/\\`):
		return false
	case strings.Contains(v, "://"), rootedPath.MatchString(v):
		return !hasRandomPart(v)
	}
	return pathForm.MatchString(v) && Wordy(v)
}

var (
	// rootedPath is a path that begins with /, ~, ./, ../ or a drive; pathForm is any path.
	rootedPath = lazy.Expr(`^(?:~|\.{1,2})?[/\\][\w.@ /\\-]*$|^[A-Za-z]:[/\\]`)
	pathForm   = lazy.Expr(`^[\w.@ /\\-]+$`)
)

// isCommonFormat reports whether v is an e-mail address, a version, a number with points, a date, a host or its port, a
// colour, or a name with a date ("backup-2026-12-31").
func isCommonFormat(v string) bool {
	if len(v) > enoughOfValue && !strings.HasPrefix(v, "//") {
		return false
	}
	if strings.ContainsAny(v, "!$^&*?=") && !strings.HasPrefix(v, "//") { // most passwords
		return false
	}
	if at := strings.IndexByte(v, '@'); at >= 0 && strings.IndexByte(v[at:], '.') < 0 && v[0] != '/' ||
		at < 0 && hasUpper(v) && !isDigit(v[0]) && strings.IndexByte("v#/", v[0]) < 0 { // most tokens
		return false
	}
	last := v[len(v)-1]
	return (strings.ContainsAny(v, ".:@#/,") || isDigit(last) && strings.ContainsAny(v, "-_")) &&
		commonFormats.MatchString(v) || len(v) > 2 && isDigit(v[0]) &&
		(v[1] == 'x' || v[1] == 'X' || strings.IndexByte("uUlLs", last) >= 0) && numberForms.MatchString(v)
}

var (
	commonFormats = lazy.Expr(`^(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,10}|v?\d+(?:[.:/_-]\d+)+|\d+(?:[.,]\d+)+[a-zA-Z%]{0,2}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?|(?:[a-z][a-z-]*\.)+(?:[a-z]{2}|com|org|net|edu|gov|info|dev|app|cloud|local|internal|lan|test)(?::\d+)?|[a-z]+:\d+|#[\da-fA-F]{3,8}|[\w./-]+@v?\d+(?:\.\d+)+|//.*|v?\d+\.\d+\.\d+[-+][\w.+-]+|[a-z][a-z\d_-]*-\d{4}-?\d\d-?\d\d)$`)
	numberForms   = lazy.Expr(`^(?:0[xX][\da-fA-F_]{1,16}[uUlL]*|\d+[uUlL]+|\d+m[\d.]+s)$`)
)

// isPlaceholder reports whether v stands for a value: a variable, a gap to be filled, a mask.
func isPlaceholder(v string) bool {
	if isMarker(v) || strings.IndexByte("<${", v[0]) >= 0 || v[0] == '%' && (len(v) == 2 || strings.HasSuffix(v, "%")) {
		return true
	}
	low := lower(v)
	sample := constants.has(low) || strings.Trim(low, low[:1]) == "" ||
		strings.IndexByte("x*.-_ ", low[0]) >= 0 && strings.Trim(low, "x*.-_ ") == ""
	placeholderParts().each(low, window{0, len(low)}, func(int, int) { sample = true })
	return sample
}

// placeholderParts finds texts of which one makes a value a placeholder.
var placeholderParts = sync.OnceValue(func() *searcher { //nolint:gochecknoglobals // read-only
	return newSearcher(strings.Fields("${ {{ $( ... … example placeholder changeme change-me change_me xxxx **** your- your_ dummy redacted"), keywordHead)
})

// eachPiece calls found for the runs of letters of one kind of case and the runs of digits in v, each with its class:
// of "apiKey2" for "api", "Key", which is a lowerLetter, and "2".
func eachPiece(v string, found func(p string, class int)) {
	start, class, last := 0, 0, 0
	flush := func(end int) {
		if class != 0 && end > start {
			found(v[start:end], class)
		}
	}
	for i, r := range v {
		k := charClass(r)
		switch {
		case k == class && k != 0:
		case k == lowerLetter && class == upperLetter && last == start: // "Key"
			class = lowerLetter
		case k == lowerLetter && class == upperLetter: // "APIKey"
			flush(last)
			start, class = last, lowerLetter
		default:
			flush(i)
			start, class = i, k
		}
		last = i
	}
	flush(len(v))
}

// Classes of characters.
const (
	lowerLetter = 1 << iota
	upperLetter
	digit
	underscore
	other

	letter = lowerLetter | upperLetter
)

// charClass is the class of a letter or digit; 0 for anything else.
func charClass(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return int(byteClasses[r] & (letter | digit))
	case unicode.IsDigit(r):
		return digit
	case unicode.IsUpper(r):
		return upperLetter
	case unicode.IsLetter(r):
		return lowerLetter
	}
	return 0
}

var byteClasses = func() (out [256]uint8) { //nolint:gochecknoglobals // read-only
	for c := range out {
		out[c] = other
	}
	for i := range len(alnumSet) {
		out[alnumSet[i]] = [...]uint8{lowerLetter, upperLetter, digit}[i/26]
	}
	out['_'] = underscore
	return out
}()

// classes are those of the bytes of v, each a bit.
func classes(v string) (all uint8) {
	for i := range len(v) {
		all |= byteClasses[v[i]]
	}
	return all
}

// Of the letters and digits of ASCII:
func hasUpper(v string) bool             { return classes(v)&upperLetter != 0 }
func hasLower(v string) bool             { return classes(v)&lowerLetter != 0 }
func hasDigit(v string) bool             { return classes(v)&digit != 0 }
func onlyLetters(v string) bool          { return classes(v)&^letter == 0 }
func onlyDigits(v string) bool           { return classes(v)&^digit == 0 }
func hasBothCasesAndDigit(v string) bool { return ^classes(v)&(letter|digit) == 0 }

// isName reports whether v is a name of code.
func isName(v string) bool {
	return v != "" && !isDigit(v[0]) && classes(v)&^(letter|digit|underscore) == 0
}

// profile counts what a value is put together of.
type profile struct {
	letters, digits int
	inVowelWords    int  // letters in words of three letters and more, one of them a vowel
	inLongWords     int  // letters in words of four letters and more
	caseChanges     int  // between two letters that follow each other
	longestNumber   int  // digits in a row
	nameWord        bool // a piece is one of nameWords
}

// enoughOfValue is how much of a value is looked at where its beginning says enough, in bytes. No form is longer.
const enoughOfValue = 256

// profileOf looks at the beginning of v.
func profileOf(v string) (p profile) {
	last := 0 // letter's class
	eachPiece(v[:runeStart(v, min(len(v), enoughOfValue))], func(w string, class int) {
		if class == digit {
			p.digits += len(w)
			p.longestNumber = max(p.longestNumber, len(w))
			return
		}
		first, size := utf8.DecodeRuneInString(w)
		k := charClass(first)
		if last != 0 && k != last {
			p.caseChanges++
		}
		if k != class && size < len(w) { // "Key"
			p.caseChanges++
		}
		last = class
		p.letters += len(w)
		if len(w) > 2 && isWord(w) {
			if strings.ContainsAny(w, "aeiouyAEIOUY") {
				p.inVowelWords += len(w)
			}
			if len(w) > 3 {
				p.inLongWords += len(w)
			}
		}
		p.nameWord = p.nameWord || len(w) > 1 && len(w) < 12 && nameWords.has(lower(w))
	})
	return p
}

// wordy reports whether a value is put together from words and short numbers: three fifths of its letters are in words
// with a vowel.
func (p profile) wordy() bool { return p.longestNumber <= 5 && 5*p.inVowelWords >= 3*p.letters }

// random reports whether a value looks drawn by lot: long, of letters and digits, and not made of words.
func (p profile) random(v string) bool {
	return p.letters+p.digits >= 16 && p.letters > 2 && p.digits > 1 && 2*p.inLongWords < p.letters && entropy(v) > 3
}

func looksRandom(v string) bool { return profileOf(v).random(v) }
func hasNameWord(v string) bool { return profileOf(v).nameWord }
func twoDigits(v string) bool   { return profileOf(v).longestNumber > 1 }

// Wordy reports whether v is put together from words and short numbers, as names in code are.
func Wordy(v string) bool { return profileOf(v).wordy() }

// nameWords stand in names and samples ("authToken", "test-key"), and seldom in secrets.
var nameWords = setOf( //nolint:gochecknoglobals // read-only
	"password passwd pass pwd passphrase secret secrets token tokens key keys api auth credential credentials test tests testing fake mock sample default " +
		"env config value string str type bytes hidden null none nil undefined sha md base utf int uint float aes rsa hmac ed hs rs es ecdsa " +
		"bcrypt argon oauth private public arm amd http https ascii hex")

// isWord reports whether v looks like one word: letters of one case, perhaps with a capital, in pairs of letters that
// English has, and with at most five consonants in a row. Letters of other scripts count as a word.
func isWord(v string) bool {
	rarePairs, consonants, last, capitals := 0, 0, rune(0), 0
	for i, r := range v {
		k := charClass(r)
		if k == 0 || k == digit {
			return false
		}
		if k == upperLetter {
			if capitals++; capitals == 1 && i > 0 {
				return false
			}
			r = unicode.ToLower(r)
		} else if capitals > 1 {
			return false
		}
		if r >= 'a' && r <= 'z' {
			if consonants++; vowels>>(r-'a')&1 == 1 {
				consonants = 0
			}
			if last >= 'a' && last <= 'z' && pairBits[last-'a']>>(r-'a')&1 == 0 {
				rarePairs++
			}
		}
		if consonants > 5 {
			return false
		}
		last = r
	}
	return rarePairs == 0 || rarePairs == 1 && len(v) > 8
}

const vowels = 1 | 1<<('e'-'a') | 1<<('i'-'a') | 1<<('o'-'a') | 1<<('u'-'a') | 1<<('y'-'a')

// pairBits is letterPairs: in pairBits[0], bit 1 is set for "ab".
var pairBits = func() (out [26]uint32) { //nolint:gochecknoglobals // read-only
	for a, all := range letterPairs {
		for i := range len(all) {
			out[a] |= 1 << (all[i] - 'a')
		}
	}
	return out
}()

// letterPairs are, for each letter from a to z, the letters that follow it in English: in at least four of the words
// that the comments of Go's standard library use four times or more.
//
//nolint:gochecknoglobals // read-only
var letterPairs = strings.Fields("bcdfghiklmnprstuvwxyz abcdegijlnoprstuvy acdeghiklmnopqrstuvwy acdefgijlmnoprstuvwy abcdefghijklmnopqrstuvwxyz acdefgilmoprstuy acefghilmnoprstuy adefilmorstuy abcdefgklmnoprstvxz " +
	"aeosu adefgilmnopsty abcdefgiklnoprstuvy abcdefiklmnopstuy abcdefghijklmnopqrstuvwyz abcdefgiklmnoprstuvwxy acdefghiklmoprstuvy u abcdefghiklmnoprstuvwy " +
	"abcdefghiklmnopqrstuwy acdefghilmnoprstuvwxyz abcdefgilmnoprstxz aeios adehilmnoprs acehimpty ceilmnopstwz aeioz")

// hasRandomPart reports whether a path or URL holds a part that looks drawn by lot.
func hasRandomPart(v string) bool {
	parts := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(`/\?&=:@;,#`, r) })
	return looksRandom(v) && !strings.Contains(v, "://") && entropy(v) > 4 || slices.ContainsFunc(parts, looksRandom)
}
