package redact

import "sort"

// escapeDepth is how many layers of backslash escapes are looked through: JSON, and
// JSON inside a JSON string.
const escapeDepth = 2

// scanForms returns what the rules find in t as it stands, and in t with its backslash
// escapes undone. A rule that wants a quote or a word boundary before a secret does not
// see it behind \" or \n, as in tool input or output that was quoted into a turn.
func (s *ruleset) scanForms(t string) ([]span, error) {
	out, err := s.scan(t, everywhere)
	form := t
	var layers [][]int // where each layer's escapes stood, the outermost first
	for len(layers) < escapeDepth && err == nil {
		plain, at := unescape(form)
		if len(at) == 0 {
			break
		}
		form, layers = plain, append(layers, at)
		var inner []span
		inner, err = s.scan(form, func(w window) bool { return anyIn(at, w) })
		for _, p := range inner {
			out = append(out, outward(p, layers))
		}
	}
	return out, err
}

func everywhere(window) bool { return true }

// anyIn reports whether an escape stood in w. Elsewhere the form outside had the same
// bytes, and was looked at.
func anyIn(at []int, w window) bool {
	i := sort.SearchInts(at, w.lo)
	return i < len(at) && at[i] < w.hi
}

// outward moves p from within all layers to the text itself. An escape took two bytes
// and left one, so each before an offset moves it by one.
func outward(p span, layers [][]int) span {
	for i := len(layers) - 1; i >= 0; i-- {
		p.lo += sort.SearchInts(layers[i], p.lo)
		p.hi += sort.SearchInts(layers[i], p.hi)
	}
	return p
}

// unescape undoes the escapes that JSON and shells share, and returns where in the
// result each stood. Others are left alone.
func unescape(t string) (string, []int) {
	var out []byte
	var at []int
	for i := 0; i < len(t); i++ {
		c := t[i]
		if c == '\\' && i+1 < len(t) {
			if plain := unescaped(t[i+1]); plain != 0 {
				if out == nil {
					out = append(make([]byte, 0, len(t)), t[:i]...)
				}
				at = append(at, len(out))
				out = append(out, plain)
				i++
				continue
			}
		}
		if out != nil {
			out = append(out, c)
		}
	}
	return string(out), at
}

// unescaped is what a backslash and c stand for, or 0.
func unescaped(c byte) byte {
	switch c {
	case '"', '\'', '\\', '/', '`':
		return c
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}
