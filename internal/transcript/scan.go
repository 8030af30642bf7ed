package transcript

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxDepth is how deep a record may nest. Real ones stay below 20; the bound keeps a
// hostile one from exhausting the stack of the parsers behind this scan.
const maxDepth = 512

// eachMember calls visit with the raw key and value of each member of the JSON object that
// is all of b, and reports whether it is one. It looks at structure only, copies
// nothing and does not recurse, so that a line that is not wanted costs little.
func eachMember(b []byte, visit func(key, value []byte)) bool {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i = skipSpace(b, i+1); i < len(b) && b[i] == '"'; {
		end := endOfString(b, i)
		if end < 0 {
			return false
		}
		key := b[i+1 : end-1]
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return false
		}
		i = skipSpace(b, i+1)
		if end = endOfValue(b, i); end < 0 {
			return false
		}
		visit(key, b[i:end])
		if i = skipSpace(b, end); i < len(b) && b[i] == ',' {
			if i = skipSpace(b, i+1); i < len(b) && b[i] != '"' {
				return false
			}
			continue
		}
		break
	}
	return i < len(b) && b[i] == '}' && skipSpace(b, i+1) == len(b)
}

// takeMembers takes the members of such an object that are asked for by name, as raw values.
func takeMembers(b []byte, into map[string]*[]byte) bool {
	return eachMember(b, func(key, value []byte) {
		if m := into[string(key)]; m != nil {
			*m = value
		}
	})
}

// parseObject parses the JSON object that is all of b.
func parseObject(b []byte) (gjson.Result, bool) {
	if !eachMember(b, func(_, _ []byte) {}) || !gjson.ValidBytes(b) {
		return gjson.Result{}, false
	}
	return gjson.ParseBytes(b), true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// endOfString is the offset behind the string that begins at b[i], or -1.
func endOfString(b []byte, i int) int {
	for j := i + 1; ; j++ {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			return -1
		}
		j += n
		slashes := 0
		for b[j-1-slashes] == '\\' { // ends at the latest at the opening quote
			slashes++
		}
		if slashes%2 == 0 {
			return j + 1
		}
	}
}

// endOfValue is the offset behind the value that begins at b[i], or -1.
func endOfValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = endOfString(b, i); i < 0 {
				return -1
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return -1
			}
			i++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return -1
			}
			i++
		default:
			if depth > 0 {
				i++
				continue
			}
			if n := bytes.IndexAny(b[i:], ",}] \t\r\n"); n > 0 { // a number or word
				return i + n
			}
			return -1
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

// stringOf is the string that a raw JSON value holds; empty for any other value.
func stringOf(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return validText(string(raw[1 : len(raw)-1]))
	}
	return validText(gjson.ParseBytes(raw).String())
}

// joinTexts joins the texts of a content: a text, or a list of them. What stands for an image is none.
func joinTexts(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var kept []string
	content.ForEach(func(_, block gjson.Result) bool {
		s := block.Str + block.Get("text").Str
		if s != "" && !strings.HasPrefix(s, "<image name=") && s != "</image>" {
			kept = append(kept, s)
		}
		return true
	})
	return strings.Join(kept, "\n")
}

// beginsWithAny reports whether a text begins with one of some others.
func beginsWithAny(s string, with ...string) bool {
	return slices.ContainsFunc(with, func(begin string) bool { return strings.HasPrefix(s, begin) })
}

// ledgerName makes text a tool's name, a branch or an ID as the ledger takes it: of bounded length,
// valid, and without control characters, each of which becomes U+FFFD.
func ledgerName(s string) string {
	return truncate(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, s), maxName)
}

// validText makes text valid: what is not UTF-8, and NUL, becomes U+FFFD.
func validText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

// truncate shortens s to at most n bytes, at the border of a rune.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
