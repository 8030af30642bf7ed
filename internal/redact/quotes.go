package redact

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// quotedAt is the content of the string that begins at i, and whether it ends on its line.
func quotedAt(t string, i int) (lo, hi int, closed bool) {
	if lo, hi := raw(t, i); lo < hi {
		return lo, hi, true
	}
	for j := i + 1; j < len(t) && t[j] != '\n' && j-i < 4096; j++ {
		if t[j] == t[i] {
			return i + 1, j, j > i+1
		}
	}
	return i, i, false
}

// value is what stands at i: in quotes, or up to white space and what ends a value in code.
func value(t string, i int) (lo, hi int, quoted bool) {
	if i < len(t) && (quoteAt(t, i) || strings.IndexByte("q%", t[i]) >= 0) {
		if lo, hi, closed := quotedAt(t, i); closed {
			return lo, hi, strings.IndexByte(t[lo:hi], ' ') < 0
		}
		i += skip(t[i:i+1], 0, "\"'`")
	}
	return i, grow(t, i, pieceEnd(t, i), pieceEnd), false
}

// raw is a string in three quotes, or in Perl's and Ruby's own, that begins at i.
func raw(t string, i int) (int, int) {
	if i >= len(t) || strings.IndexByte("'\"q%~", t[i]) < 0 {
		return 0, 0
	}
	open := rawString.FindString(t[i:min(len(t), i+4)])
	end := open
	if n := strings.IndexAny(open, "{([|<"); n >= 0 {
		end = "})]|>"[strings.IndexByte("{([|<", open[n]):][:1]
	}
	i += len(open)
	return i, i + strings.Index(t[i:min(len(t), i+maxReach)], end)
}

var rawString = lazy.Expr("^(?:'''|\"\"\"|(?:qq?|%[qQ]|~[sS])[{(\\[|<])")

// isIndex reports whether the byte at i opens an index, and not a list.
func isIndex(t string, i int) bool {
	return i > 0 && t[i] == '[' && (alnumeric(t[i-1]) || strings.IndexByte("_)]", t[i-1]) >= 0)
}

// maxTags is how many tags stand between a name and its value.
const maxTags = 2

// skipTags passes over tags of HTML or XML, and white space between them.
func skipTags(t string, i int) int {
	for n := 0; n < maxTags && i < len(t) && t[i] == '<'; n++ {
		m := tag.FindStringIndex(t[i:min(len(t), i+80)])
		if m == nil {
			return i
		}
		i += m[1]
	}
	return i
}

// attributes are the rest of a tag.
var attributes = lazy.Expr(`^[^<>\n]*>`)

var tag = lazy.Expr(`^(?:<!\[CDATA\[|</?[a-zA-Z][^<>\n]{0,60}>\s*)`)

func quoteAt(t string, i int) bool {
	return i >= 0 && i < len(t) && strings.IndexByte("\"'`", t[i]) >= 0
}

func skip(t string, i int, set string) int {
	for i < len(t) && strings.IndexByte(set, t[i]) >= 0 {
		i++
	}
	return i
}
