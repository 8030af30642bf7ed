package redact

import (
	"html"
	"iter"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/session"
)

// layer turns a text into another form of it: as it reads with something undone. It returns
// the form and the edits that led there; no edits when it says nothing new.
type layer func(string) (string, edits)

// edits say where bytes were taken away: before the byte at[i] of the form, gone[i] bytes in
// all up to there.
type edits struct {
	at, gone []int
	between  bool // what was taken away stood between two things, and belongs to neither
}

func (e *edits) add(at, bytes int) {
	n := 0
	if len(e.gone) > 0 {
		n = e.gone[len(e.gone)-1]
	}
	e.at, e.gone = append(e.at, at), append(e.gone, n+bytes)
}

func everywhere(window) bool { return true }

// anyIn reports whether there was an edit in w. Elsewhere the form outside had the same
// bytes, and was looked at.
func (e *edits) anyIn(w window) bool {
	i := sort.SearchInts(e.at, w.lo)
	return i < len(e.at) && e.at[i] < w.hi
}

func (e *edits) before(i int) int {
	if i == 0 {
		return 0
	}
	return e.gone[i-1]
}

// outward moves a span from the form to the text before it.
func (e *edits) outward(p span) span {
	lo := p.lo
	if e.between {
		lo++ // an edit at the very start stood before the span
	}
	p.lo += e.before(sort.SearchInts(e.at, lo))
	p.hi += e.before(sort.SearchInts(e.at, p.hi))
	return p
}

// scanForms returns what the rules find in t as it stands, and in its other forms: with
// escapes undone (a rule that wants a quote or a word boundary before a secret does not see it
// behind \" or \n, as in tool input or output that was quoted into a turn), with percent signs
// decoded, without what disguises letters, and with what was split put together.
func (s *ruleset) scanForms(t string) []span {
	var out []span
	for f := range forms(t) {
		for _, w := range f.parts() {
			found := s.scan(f.text[w.lo:w.hi], func(v window) bool { return f.fresh(window{w.lo + v.lo, w.lo + v.hi}) })
			for _, p := range append(found, s.scanEncoded(f.text[w.lo:w.hi])...) {
				p.lo, p.hi = w.lo+p.lo, w.lo+p.hi
				out = append(out, f.outward(p))
			}
		}
	}
	return s.unallowed(t, out)
}

// form is a text as it reads with something undone.
type form struct {
	text string
	done []edits // what was undone, the outermost first
}

// forms yields a text as it stands, and with one layer after the other undone.
func forms(t string) iter.Seq[form] {
	return func(yield func(form) bool) {
		f := form{text: t}
		if !yield(f) {
			return
		}
		// unescape twice: JSON, and JSON inside a JSON string.
		for _, undo := range []layer{unescape, unescape, unhide, narrow, unpercent, unpercent, rejoin} {
			inner, e := undo(f.text)
			if len(e.at) == 0 {
				continue
			}
			f = form{inner, append(f.done, e)}
			if !yield(f) {
				return
			}
		}
	}
}

// fresh reports whether something in w reads otherwise than in the form before.
func (f form) fresh(w window) bool {
	return len(f.done) == 0 || f.done[len(f.done)-1].anyIn(w)
}

// parts are the lines that read otherwise than in the form before, with as much around them as a detector looks
// at: the rest was looked at in that form.
func (f form) parts() []window {
	const around = 10 * maxReach // a table reaches furthest
	if len(f.done) == 0 {
		return []window{{0, len(f.text)}}
	}
	var out []window
	for _, at := range f.done[len(f.done)-1].at {
		if n := len(out); n > 0 && at < out[n-1].hi-around {
			continue
		}
		w := window{max(0, at-around), len(f.text)}
		w.lo = strings.LastIndexByte(f.text[:w.lo], '\n') + 1
		if n := strings.IndexByte(f.text[min(at+around, w.hi):], '\n'); n >= 0 {
			w.hi = at + around + n
		}
		out = append(out, w)
	}
	return merge(out)
}

// outward moves a span to where it stands in the text itself. It names its value as it reads here.
func (f form) outward(p span) span {
	p.value = f.text[p.lo:p.hi]
	for _, e := range slices.Backward(f.done) {
		p = e.outward(p)
	}
	return p
}

// unallowed leaves out what the user allows.
func (s *ruleset) unallowed(t string, found []span) []span {
	if len(s.userAllow) == 0 {
		return found
	}
	return slices.DeleteFunc(found, func(p span) bool {
		return slices.ContainsFunc(s.userAllow, func(re *regexp.Regexp) bool { return re.MatchString(t[p.lo:p.hi]) })
	})
}

// unescape undoes the escapes that JSON and shells share, and the entities of HTML. Others are left alone.
func unescape(t string) (string, edits) {
	i := strings.IndexAny(t, escapes)
	if i < 0 {
		return t, edits{}
	}
	var e edits
	out := append(make([]byte, 0, len(t)), t[:i]...)
	for i < len(t) {
		n := strings.IndexAny(t[i:], escapes)
		if n < 0 {
			break
		}
		out = append(out, t[i:i+n]...)
		i += n
		plain, size := unescaped(t[i:])
		if size > len(plain) {
			e.add(len(out), size-len(plain))
		}
		out = append(out, plain...)
		i += size
	}
	return string(append(out, t[i:]...)), e
}

// escapes are the bytes with which one begins.
const escapes = "\\&^"

// unescaped is what the escape at the start of t stands for, and its size; the first byte when it is none.
func unescaped(t string) (string, int) {
	switch {
	case t[0] == '&':
		return entityAt(t)
	case strings.HasPrefix(t, "^["): // as terminals show it
		return "\x1b", len("^[")
	}
	if len(t) < 2 {
		return t, 1
	}
	switch t[1] {
	case '"', '\'', '\\', '/', '`', '=', '#', '_', '*', '!', ':', '&', '$', '@':
		return t[1:2], 2
	case 'n':
		return "\n", 2
	case 'r':
		return "\r", 2
	case 't':
		return "\t", 2
	case 'e':
		return "\x1b", 2
	case '0', '1':
		if r, err := strconv.ParseUint(t[1:min(len(t), 4)], 8, 7); err == nil && len(t) >= 4 {
			return string(rune(r)), 4
		}
	case 'x':
		return coded(t, 2)
	case 'u':
		return coded(t, 4)
	}
	return t[:1], 1
}

// entityAt is what the entity of HTML at the start of t stands for, and its size; the first byte when it
// is none.
func entityAt(t string) (string, int) {
	n := len(entity.FindString(t[:min(len(t), maxEntity)]))
	if plain := html.UnescapeString(t[:n]); len(plain) < n {
		return plain, n
	}
	return t[:1], 1
}

// maxEntity is the size of the longest entity that is undone: "&thetasym;".
const maxEntity = 10

// coded is the character whose number stands in so many digits behind the two signs at the start of t.
func coded(t string, digits int) (string, int) {
	if len(t) >= 2+digits {
		r, err := strconv.ParseUint(t[2:2+digits], 16, 16)
		if err == nil && (digits == 4 || r < utf8.RuneSelf) && utf8.ValidRune(rune(r)) {
			return string(rune(r)), 2 + digits
		}
	}
	return t[:1], 1
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// unpercent decodes %xx, but for controls.
func unpercent(t string) (string, edits) {
	var e edits
	if strings.IndexByte(t, '%') < 0 {
		return t, e
	}
	out := make([]byte, 0, len(t))
	for i := 0; i < len(t); i++ {
		if t[i] == '%' && i+2 < len(t) {
			if hi, lo := unhex(t[i+1]), unhex(t[i+2]); hi >= 2 && lo >= 0 {
				e.add(len(out), 2)
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, t[i])
	}
	return string(out), e
}

// unhide takes away what nobody sees, which an escape may have stood for.
func unhide(t string) (string, edits) {
	var e edits
	var out []byte
	done := 0
	for i := session.FirstHidden(t); i < len(t); {
		n := session.HiddenSize(t, i)
		if n == 0 {
			i++
			continue
		}
		out = append(out, t[done:i]...)
		e.add(len(out), n)
		i += n
		done = i
	}
	return string(append(out, t[done:]...)), e
}

// narrow makes plain what looks like a sign of ASCII: letters of full width, lines of boxes, spaces of any
// width, pictures (which part words as spaces do), and letters of other scripts within a Latin word.
func narrow(t string) (string, edits) {
	var e edits
	i := 0
	for i < len(t) && t[i] < utf8.RuneSelf {
		i++
	}
	if i == len(t) {
		return t, e
	}
	out := append(make([]byte, 0, len(t)), t[:i]...)
	for i < len(t) {
		r, n := utf8.DecodeRuneInString(t[i:])
		if c := plainOf(r, len(out) > 0 && isLetter(out[len(out)-1])); c == ' ' && spaced(t, i, n) || c == 0 {
			out = append(out, t[i:i+n]...)
		} else {
			e.add(len(out), n-1)
			out = append(out, c)
		}
		i += n
	}
	return string(out), e
}

// spaced reports whether a picture stands alone: then it parts nothing that is not parted.
func spaced(t string, i, n int) bool {
	return (i == 0 || t[i-1] <= ' ' || t[i-1] >= utf8.RuneSelf) && (i+n >= len(t) || t[i+n] <= ' ' || t[i+n] >= utf8.RuneSelf)
}

// plainOf is the sign of ASCII that a rune outside it looks like, behind a Latin letter or not; 0 for none.
func plainOf(r rune, inLatin bool) byte {
	switch {
	case r < 0xa0:
		return 0
	case r >= 0xff01 && r <= 0xff5e:
		return byte(r - 0xff01 + '!')
	case r == 0xa0, r >= 0x2000 && r <= 0x200a, r == 0x202f, r == 0x3000, r >= 0x2600 && r <= 0x27bf, r >= 0x1f300 && r <= 0x1faff, r == 0xfe0f:
		return ' '
	case r == 0x2502, r == 0x2503, r == 0x2551:
		return '|'
	case r >= 0x1d400 && r < 0x1d6a4: // letters of formulas
		return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(r-0x1d400)%52]
	case inLatin:
		if n := strings.IndexRune(alikeLetters, r); n >= 0 {
			return latinLetters[utf8.RuneCountInString(alikeLetters[:n])]
		}
	}
	return 0
}

// alikeLetters are those of Cyrillic and Greek that look like the Latin ones in the same place.
const (
	alikeLetters = "аеорсухіјѕԁοαεικνυΑΕΟΡСТА"
	latinLetters = "aeopcyxijsdoaeiknuAEOPCTA"
)
