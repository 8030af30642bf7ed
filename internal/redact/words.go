package redact

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Ordinary reports whether a value says too little to be a secret that could be told from
// other text: it is short, a word, a placeholder, a path, an address, a number with points.
// Such a value is never replaced wherever it stands, whoever says that it is a password.
func Ordinary(v string) bool {
	v = strings.TrimSpace(v)
	switch {
	case len(v) > longestValue:
		return false
	case len(v) < minValue, isWord(v), placeholder(v), plainForm(v):
		return true
	case !strings.ContainsAny(v, `/\\`):
		return false
	case strings.Contains(v, "://"), absolute.MatchString(v):
		return !hasRandomPart(v)
	}
	return pathForm.MatchString(v) && Wordy(v)
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

// plainForm reports whether v is an e-mail address, a version, a number with points, a date, an address of the network, or a host with a
// port.
func plainForm(v string) bool {
	const signs = ".:@#/"
	if strings.ContainsAny(v, "!$^&*?=") && !strings.HasPrefix(v, "//") { // most passwords
		return false
	}
	dated := isLower(v[0]) && len(v) > len("-20261231") && isDigit(v[len(v)-1]) && isDigit(v[len(v)-2])
	return (isDigit(v[0]) || v[0] == 'v' || dated || strings.ContainsAny(v, signs)) && plainForms.MatchString(v) || isDigit(v[0]) && numberForms.MatchString(v)
}

var (
	plainForms  = lazy.Expr(`^(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,10}|v?\d+(?:[.:/_-]\d+)+|\d+(?:[.,]\d+)+[a-zA-Z%]{0,2}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?|(?:[a-z][a-z-]*\.)+(?:[a-z]{2}|com|org|net|edu|gov|info|dev|app|cloud|local|internal|lan|test)(?::\d+)?|[a-z]+:\d+|#[\da-fA-F]{3,8}|[\w./-]+@v?\d+(?:\.\d+)+|//.*|v?\d+\.\d+\.\d+[-+][\w.+-]+|[a-z][a-z\d_-]*-\d{4}-?\d\d-?\d\d)$`)
	numberForms = lazy.Expr(`^(?:0[xX][\da-fA-F_]{1,16}[uUlL]*|\d+[uUlL]+|\d+m[\d.]+s)$`)
)

// placeholder reports whether v stands for a value: a variable, a gap to be filled, a mask.
func placeholder(v string) bool {
	if isMarker(v) || strings.IndexByte("<${", v[0]) >= 0 || v[0] == '%' && (len(v) == 2 || strings.HasSuffix(v, "%")) {
		return true
	}
	low := lower(v)
	sample := constants[low] || strings.Trim(low, low[:1]) == "" || strings.Trim(low, "x*.-_ ") == ""
	samples().each(low, func(int, int) { sample = true })
	return sample
}

// samples are what stands in samples of values.
var samples = sync.OnceValue(func() *searcher { //nolint:gochecknoglobals // read-only
	return newSearcher(strings.Fields("${ {{ $( ... … example placeholder changeme change-me change_me xxxx **** your- your_ dummy redacted"), keywordHead)
})

// pieces are the runs of letters of one kind of case and the runs of digits in v: "apiKey2" has
// three.
func pieces(v string) (out []string) {
	eachPiece(v, func(p string, _ int) { out = append(out, p) })
	return out
}

func eachPiece(v string, found func(p string, kind int)) {
	start, kind, last := 0, 0, 0
	flush := func(end int) {
		if kind != 0 && end > start {
			found(v[start:end], kind)
		}
	}
	for i, r := range v {
		k := kindOf(r)
		switch {
		case k == kind && k != 0:
		case k == letterLow && kind == letterUp && last == start: // "Key"
			kind = letterLow
		case k == letterLow && kind == letterUp: // "APIKey"
			flush(last)
			start, kind = last, letterLow
		default:
			flush(i)
			start, kind = i, k
		}
		last = i
	}
	flush(len(v))
}

const (
	letterLow = iota + 1
	letterUp
	digit
)

func kindOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return int(kinds[r])
	case unicode.IsDigit(r):
		return digit
	case unicode.IsUpper(r):
		return letterUp
	case unicode.IsLetter(r):
		return letterLow
	}
	return 0
}

var kinds = func() (out [utf8.RuneSelf]byte) { //nolint:gochecknoglobals // read-only
	for i := range 26 {
		out['a'+i], out['A'+i] = letterLow, letterUp
	}
	for i := range 10 {
		out['0'+i] = digit
	}
	return out
}()

// profile is what a value is put together of.
type profile struct {
	letters, digits int
	spoken          int  // letters in words of three and more that can be spoken
	inWords         int  // letters in words of four and more
	turns           int  // how often the case of letters changes
	longNumber      bool // of more than five digits
	about           bool // a piece is a word of a name or a sample, not of a secret
}

// profileOf looks at the first 256 bytes of v, which say enough.
func profileOf(v string) (p profile) {
	eachPiece(v[:runeStart(v, min(len(v), 256))], func(w string, kind int) {
		if kind == digit {
			p.digits += len(w)
			p.longNumber = p.longNumber || len(w) > 5
			return
		}
		p.letters += len(w)
		if len(w) > 2 && isWord(w) {
			if strings.ContainsAny(w, "aeiouyAEIOUY") {
				p.spoken += len(w)
			}
			if len(w) > 3 {
				p.inWords += len(w)
			}
		}
		p.about = p.about || len(w) < 12 && tellsOfSecrets[lower(w)]
	})
	last := 0
	for _, r := range v[:runeStart(v, min(len(v), 256))] {
		if k := kindOf(r); k == letterLow || k == letterUp {
			if last != 0 && k != last {
				p.turns++
			}
			last = k
		}
	}
	return p
}

// wordy reports whether a value is put together from words and short numbers: of its letters, three fifths are in words that can be spoken.
func (p profile) wordy() bool { return !p.longNumber && 5*p.spoken >= 3*p.letters }

// random reports whether a value looks drawn by lot: long, of letters and digits, and not made of words.
func (p profile) random(v string) bool {
	return p.letters+p.digits >= 16 && p.letters > 2 && p.digits > 1 && 2*p.inWords < p.letters && entropy(v) > 3
}

// Wordy reports whether v is put together from words and short numbers, as names in code are.
func Wordy(v string) bool { return profileOf(v).wordy() }

func random(v string) bool { return profileOf(v).random(v) }

func aboutItself(v string) bool { return profileOf(v).about }

var tellsOfSecrets = setOf( //nolint:gochecknoglobals // read-only
	"password passwd pass pwd passphrase secret secrets token tokens key keys api auth credential credentials test tests testing fake mock sample default " +
		"env config value string str type bytes hidden null none nil undefined sha md base utf int uint float aes rsa hmac ed hs rs es ecdsa " +
		"bcrypt argon oauth private public arm amd http https ascii hex")

// isWord reports whether v is one word: letters of one case, perhaps with a capital, each
// next to one that English puts there. What is made of other letters is taken for a word.
func isWord(v string) bool {
	odd, still, last, upper := 0, 0, rune(0), 0
	for i, r := range v {
		k := kindOf(r)
		if k == 0 || k == digit {
			return false
		}
		if k == letterUp {
			if upper++; upper == 1 && i > 0 {
				return false
			}
			r = unicode.ToLower(r)
		} else if upper > 1 {
			return false
		}
		if r >= 'a' && r <= 'z' {
			if still++; vowels>>(r-'a')&1 == 1 {
				still = 0
			}
			if last >= 'a' && last <= 'z' && pairOf[last-'a']>>(r-'a')&1 == 0 {
				odd++
			}
		}
		if still > 5 {
			return false
		}
		last = r
	}
	return odd == 0 || odd == 1 && len(v) > 8
}

const vowels = 1 | 1<<('e'-'a') | 1<<('i'-'a') | 1<<('o'-'a') | 1<<('u'-'a') | 1<<('y'-'a')

// pairOf is pairs in bits.
var pairOf = func() (out [26]uint32) { //nolint:gochecknoglobals // read-only
	for a, all := range pairs {
		for i := range len(all) {
			out[a] |= 1 << (all[i] - 'a')
		}
	}
	return out
}()

// pairs are, for each letter, those that follow it in English: in at least four of the words
// that the comments of Go's standard library use four times or more.
//
//nolint:gochecknoglobals // read-only
var pairs = strings.Fields("bcdfghiklmnprstuvwxyz abcdegijlnoprstuvy acdeghiklmnopqrstuvwy acdefgijlmnoprstuvwy abcdefghijklmnopqrstuvwxyz acdefgilmoprstuy acefghilmnoprstuy adefilmorstuy abcdefgklmnoprstvxz " +
	"aeosu adefgilmnopsty abcdefgiklnoprstuvy abcdefiklmnopstuy abcdefghijklmnopqrstuvwyz abcdefgiklmnoprstuvwxy acdefghiklmoprstuvy u abcdefghiklmnoprstuvwy " +
	"abcdefghiklmnopqrstuwy acdefghilmnoprstuvwxyz abcdefgilmnoprstxz aeios adehilmnoprs acehimpty ceilmnopstwz aeioz")

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
