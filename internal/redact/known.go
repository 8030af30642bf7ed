package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// known finds values that the machine knows to be secret: as they are, in base64 at any of
// the three places in which it can begin, and in hex. The zero value finds none.
type known struct{ forms needles }

// newKnown leaves out what is ordinary.
func newKnown(values []string) known {
	var all []string
	for _, v := range values {
		if Ordinary(v) {
			continue
		}
		all = append(all, v, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))))
		all = append(all, inBase64Of(v)...)
	}
	return known{newNeedles(all)}
}

// inBase64Of are the parts of an encoding that v alone decides, whatever stands before and
// behind it.
func inBase64Of(v string) []string {
	var out []string
	for shift := range 3 {
		padded := append(make([]byte, shift), v...)
		from, to := (shift*8+5)/6, len(padded)*8/6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString(padded)[from:to])
		}
	}
	return out
}

func (k known) scan(t string) []span {
	var out []span
	k.forms.each(t, func(lo, hi int) {
		if w := (window{lo, hi}); !insideNumber(t, w) {
			out = append(out, span{lo: lo, hi: hi, rule: KnownValue, trigger: "known value"})
		}
	})
	return out
}

// insideNumber reports whether a number of digits alone is part of a longer one.
func insideNumber(t string, w window) bool {
	isDigit := func(i int) bool { return i >= 0 && i < len(t) && '0' <= t[i] && t[i] <= '9' }
	if strings.Trim(t[w.lo:w.hi], digitSet) != "" {
		return false
	}
	return isDigit(w.lo-1) || isDigit(w.hi)
}
