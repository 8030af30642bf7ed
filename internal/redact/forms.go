package redact

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
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
func (s *ruleset) scanForms(t string) ([]span, error) {
	out, err := s.scan(t, everywhere)
	if err != nil {
		return nil, err
	}
	out = append(out, s.scanEncoded(t)...)
	form := t
	var done []edits // the outermost first
	// unescape twice: JSON, and JSON inside a JSON string.
	for _, undo := range []layer{unescape, unescape, plainLetters, unpercent, rejoin} {
		inner, e := undo(form)
		if len(e.at) == 0 {
			continue
		}
		form, done = inner, append(done, e)
		found, err := s.scan(form, e.anyIn)
		if err != nil {
			return nil, err
		}
		for _, p := range append(found, s.scanEncoded(form)...) {
			for i := len(done) - 1; i >= 0; i-- {
				p = done[i].outward(p)
			}
			out = append(out, p)
		}
	}
	return s.unallowed(t, out), nil
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

func everywhere(window) bool { return true }

// unescape undoes the escapes that JSON and shells share, and \u00xx. Others are left alone.
func unescape(t string) (string, edits) {
	i := strings.IndexByte(t, '\\')
	if i < 0 {
		return t, edits{}
	}
	var e edits
	out := append(make([]byte, 0, len(t)), t[:i]...)
	for i < len(t) {
		n := strings.IndexByte(t[i:], '\\')
		if n < 0 {
			break
		}
		out = append(out, t[i:i+n]...)
		i += n
		plain, size := unescaped(t[i:])
		if size > 1 {
			e.add(len(out), size-1)
		}
		out = append(out, plain)
		i += size
	}
	return string(append(out, t[i:]...)), e
}

// unescaped is what the escape at the start of t stands for, and its size; 1 when it is none.
func unescaped(t string) (byte, int) {
	if len(t) < 2 {
		return '\\', 1
	}
	switch c := t[1]; c {
	case '"', '\'', '\\', '/', '`':
		return c, 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if len(t) >= 6 && t[2:4] == "00" {
			if hi, lo := unhex(t[4]), unhex(t[5]); hi >= 0 && hi < 8 && lo >= 0 {
				return byte(hi<<4 | lo), 6
			}
		}
	}
	return '\\', 1
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

// plainLetters takes away what nobody sees (zero width, soft hyphens, colours of a terminal),
// and makes letters of full width plain.
func plainLetters(t string) (string, edits) {
	var e edits
	if !disguised(t) {
		return t, e
	}
	out := make([]byte, 0, len(t))
	for i := 0; i < len(t); {
		r, n := utf8.DecodeRuneInString(t[i:])
		switch {
		case r >= 0xff01 && r <= 0xff5e:
			e.add(len(out), n-1)
			out = append(out, byte(r-0xff01+'!'))
		case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff, r == 0xad:
			e.add(len(out), n)
		case r == 0x1b && strings.HasPrefix(t[i:], "\x1b["):
			n = colour(t[i:])
			e.add(len(out), n)
		default:
			out = append(out, t[i:i+n]...)
		}
		i += n
	}
	return string(out), e
}

func disguised(t string) bool {
	if strings.IndexByte(t, 0xe2) < 0 && strings.IndexByte(t, 0xef) < 0 && strings.IndexByte(t, 0xc2) < 0 && strings.IndexByte(t, 0x1b) < 0 {
		return false
	}
	for _, lead := range []string{"\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\xe2\x81", "\xef\xbc", "\xef\xbd", "\xef\xbb\xbf", "\xc2\xad", "\x1b["} {
		if strings.Contains(t, lead) {
			return true
		}
	}
	return false
}

// colour is the size of the control sequence at the start of t.
func colour(t string) int {
	for i := 2; i < len(t) && i < 32; i++ {
		if t[i] >= 0x40 && t[i] <= 0x7e {
			return i + 1
		}
	}
	return 2
}
