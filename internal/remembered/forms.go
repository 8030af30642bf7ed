package remembered

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// writtenForms are the ways in which a value of at least headSize bytes is written, itself first.
func writtenForms(v string) []string {
	all := []string{v, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v)))}
	all = append(all, inBase64(v)...)
	for _, escaped := range []string{url.QueryEscape(v), url.PathEscape(v)} {
		all = append(all, escaped, lowerEscapes(escaped))
	}
	if quoted, err := json.Marshal(v); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	var out []string
	for _, form := range all {
		if len(form) >= headSize && !slices.Contains(out, form) {
			out = append(out, form)
		}
	}
	return out
}

// inBase64 are the parts of an encoding that v alone decides, whatever stands before and behind it.
func inBase64(v string) (out []string) {
	for shift := range 3 {
		padded := append(make([]byte, shift), v...)
		from, to := (shift*8+5)/6, len(padded)*8/6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString(padded)[from:to])
		}
	}
	return out
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			b.WriteString(strings.ToLower(s[i : i+3]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// continued ends a line that goes on in the next one, in a shell.
const continued = "\\\n"

// joinContinuedLines is a text without the ends of lines that go on, and where a byte of it stands in the text; "" for
// a text without such.
func joinContinuedLines(text string) (joined string, at func(int) int) {
	if !strings.Contains(text, continued) {
		return "", nil
	}
	parts := strings.Split(text, continued)
	at = func(i int) int {
		from := 0 // of the part, in the text
		for _, p := range parts {
			if i < len(p) {
				return from + i
			}
			from, i = from+len(p)+len(continued), i-len(p)
		}
		return len(text)
	}
	return strings.Join(parts, ""), at
}
