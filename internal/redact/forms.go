package redact

import (
	"encoding/hex"
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

// layer makes another form of a text: as it reads with something undone.
type layer struct {
	begins  [256]bool // the bytes with which something to be undone begins
	between bool      // see edits
	// at is what so many bytes at t[i] stand for; a size of 0 for nothing to be undone. The form so far is out, and the last edit ended at
	// done.
	at func(t string, out []byte, done, i int) (plain string, size int)
}

// undo returns the form of t, and the edits that led there; no edits when it says nothing new.
func (l *layer) undo(t string) (string, edits) {
	e := edits{between: l.between}
	var out []byte
	copied, done := 0, 0
	for i := 0; i < len(t); {
		if !l.begins[t[i]] {
			i++
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(t))
		}
		out = append(out, t[copied:i]...)
		copied = i
		plain, size := l.at(t, out, done, i)
		if gone := size - len(plain); gone > 0 {
			e.add(len(out), gone)
			out = append(out, plain...)
			copied, done = i+size, i+size
		}
		i += max(1, size)
	}
	return string(append(out, t[copied:]...)), e
}

// layers are what is undone, the outermost first. Escapes are undone twice: JSON, and JSON inside a JSON string.
var layers = func() []*layer { //nolint:gochecknoglobals // read-only
	escape := &layer{begins: bytesIn("\\&^"), at: unescaped}
	percent := &layer{begins: bytesIn("%"), at: unpercent}
	return []*layer{
		escape, escape,
		{begins: bytesWhere(func(c byte) bool { return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f }), at: unhide},
		{begins: bytesWhere(func(c byte) bool { return c >= utf8.RuneSelf }), at: narrow},
		percent, percent,
		{begins: bytesIn(" \\\n\"'`"), between: true, at: rejoin},
	}
}()

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
			part := f.text[w.lo:w.hi]
			for _, p := range append(s.scan(part), s.scanEncoded(part)...) {
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
		for _, l := range layers {
			inner, e := l.undo(f.text)
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
	return slices.DeleteFunc(found, func(p span) bool { return s.allows(t[p.lo:p.hi]) })
}

func (s *ruleset) allows(value string) bool {
	return slices.ContainsFunc(s.userAllow, func(re *regexp.Regexp) bool { return re.MatchString(value) })
}

// unescaped undoes the escapes that JSON and shells share, and the entities of HTML. Others are left alone.
func unescaped(t string, _ []byte, _, i int) (string, int) {
	t = t[i:]
	switch {
	case t[0] == '&':
		return entityAt(t)
	case strings.HasPrefix(t, "^["): // as terminals show it
		return "\x1b", len("^[")
	case len(t) < 2:
		return "", 0
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
	return "", 0
}

// entityAt is what the entity of HTML at the start of t stands for, and its size.
func entityAt(t string) (string, int) {
	n := len(entity.FindString(t[:min(len(t), maxEntity)]))
	return html.UnescapeString(t[:n]), n
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
	return "", 0
}

// unpercent decodes %xx, but for controls.
func unpercent(t string, _ []byte, _, i int) (string, int) {
	b, err := hex.DecodeString(t[i+1 : min(i+3, len(t))])
	if err != nil || len(b) == 0 || b[0] < ' ' {
		return "", 0
	}
	return string(b), 3
}

// unhide takes away what nobody sees, which an escape may have stood for.
func unhide(t string, _ []byte, _, i int) (string, int) { return "", session.HiddenSize(t, i) }

// narrow makes plain what looks like a sign of ASCII: letters of full width, lines of boxes, spaces of any
// width, pictures (which part words as spaces do), and letters of other scripts within a Latin word.
func narrow(t string, out []byte, _, i int) (string, int) {
	r, n := utf8.DecodeRuneInString(t[i:])
	c := plainOf(r, len(out) > 0 && isLetter(out[len(out)-1]))
	if c == 0 || c == ' ' && spaced(t, i, n) {
		return t[i : i+n], n
	}
	return string(rune(c)), n
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
	case r == 0x17f: // ſ, which is an s to expressions that fold case
		return 's'
	case r == 0x212a: // the Kelvin sign
		return 'K'
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
