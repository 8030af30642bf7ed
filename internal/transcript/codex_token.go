package transcript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// scriptToken is a name, a text or a sign of JavaScript.
type scriptToken struct {
	kind scriptKind
	text string
}

type scriptKind int

const (
	scriptSign scriptKind = iota
	scriptName
	scriptText
)

func (t scriptToken) is(sign string) bool { return t.kind == scriptSign && t.text == sign }

func (t scriptToken) isAnyName(names ...string) bool {
	return t.kind == scriptName && slices.Contains(names, t.text)
}

// scriptTokens takes a script apart. Comments are left out; what a template computes is left as it is written.
func scriptTokens(text string) (tokens []scriptToken) {
	for i := 0; i < len(text); {
		c := text[i]
		from := i
		switch {
		case c == '"' || c == '\'' || c == '`':
			i = endOfScriptText(text, i)
			tokens = append(tokens, scriptToken{scriptText, scriptString(text[from:i])})
		case strings.HasPrefix(text[i:], "//"):
			i += len(firstLine(text[i:]))
		case strings.HasPrefix(text[i:], "/*"):
			if end := strings.Index(text[i:], "*/"); end >= 0 {
				i += end + len("*/")
			} else {
				i = len(text)
			}
		case isNameByte(c):
			for i < len(text) && isNameByte(text[i]) {
				i++
			}
			tokens = append(tokens, scriptToken{scriptName, text[from:i]})
		default:
			if i++; c > ' ' {
				tokens = append(tokens, scriptToken{scriptSign, text[from:i]})
			}
		}
	}
	return tokens
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// endOfScriptText is the offset behind the text that begins at an offset with its quote; one that is not closed ends
// with the script.
func endOfScriptText(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[at]:
			return i + 1
		}
	}
	return len(text)
}

// scriptString is what a text between quotes says. JSON reads most escapes as JavaScript does.
func scriptString(quoted string) string {
	body := quoted[1:]
	if n := len(body); n > 0 && body[n-1] == quoted[0] {
		body = body[:n-1]
	}
	if quoted[0] == '"' && gjson.Valid(quoted) {
		return gjson.Parse(quoted).Str
	}
	var out strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' || i+1 == len(body) {
			out.WriteByte(body[i])
			continue
		}
		i++
		switch body[i] {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case '\n': // a line that goes on
		case 'u', 'x':
			r, n := scriptRune(body[i:])
			out.WriteRune(r)
			i += n - 1
		default:
			out.WriteByte(body[i])
		}
	}
	return out.String()
}

// scriptRune reads an escape behind its backslash: u2026, u{1f600}, x41. What is none is its first letter.
func scriptRune(escape string) (r rune, size int) {
	digits, size := "", 0
	switch {
	case strings.HasPrefix(escape, "u{"):
		if end := strings.IndexByte(escape, '}'); end > 0 {
			digits, size = escape[2:end], end+1
		}
	case escape[0] == 'u' && len(escape) >= 5:
		digits, size = escape[1:5], 5
	case escape[0] == 'x' && len(escape) >= 3:
		digits, size = escape[1:3], 3
	}
	n, err := strconv.ParseUint(digits, 16, 21)
	if err != nil {
		return rune(escape[0]), 1
	}
	return rune(n), size
}
