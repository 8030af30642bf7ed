package redact

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// A value without quotes may hold signs that end it elsewhere: "&", ",", "|" and ";" stand in
// passwords, in queries, lists, tables and shells alike. What stands directly behind such a sign
// belongs to the value, unless it is something of its own: the next name, a command, an entity.

// separators are these signs.
const separators = ",;&|"

// maxPieces is how many pieces of up to maxTail bytes together are added to a value. A password
// has no more, and texts built of separators must cost little.
const (
	maxPieces = 8
	maxTail   = 256
)

// grow moves the end of the value at lo from hi beyond separators. end is where a piece ends that begins at an index.
func grow(t string, lo, hi int, end func(t string, i int) int) int {
	all := hi
	for pieces := 0; lo < all && all-hi < maxTail && pieces < maxPieces; pieces++ {
		n := separator(t[all:])
		if n == 0 {
			break
		}
		next := end(t, all+n)
		if next == all+n || t[all+n] == '\\' || ofItsOwn(t[all:], t[all+n:next]) {
			break
		}
		all = next
	}
	if all > hi && (tells(t[lo:hi]) || !listed(t[lo:hi], t[lo:all])) {
		return all
	}
	return hi
}

// judged is the part of a value that tells whether it is a secret: its first piece if that is one by
// itself, else all of it.
func judged(v string) string {
	n := strings.IndexAny(v, separators)
	if n <= 0 || strings.ContainsAny(v, spaces) || !tells(v[:n]) {
		return v
	}
	return v[:n]
}

// tells reports whether the first piece of a value is a secret by itself.
func tells(v string) bool {
	l := lookOf(v, false)
	return l >= odd || l == marked && twoDigits.MatchString(v)
}

// firstPiece is where the judged part of a value without quotes ends. That part is looked for
// elsewhere, too: a shell or a query may have ended the value there.
func firstPiece(t string, lo, hi int) int {
	if lo > 0 && strings.IndexByte("\"'`", t[lo-1]) >= 0 {
		return hi
	}
	return lo + len(judged(t[lo:hi]))
}

// separator is the size of the separators at the start of t: one, two, or one that HTML wrote out.
func separator(t string) int {
	if strings.HasPrefix(t, "&amp;") {
		return len("&amp;")
	}
	n := skip(t, 0, separators)
	if n > 2 || n == 2 && t[0] == t[1] && t[0] != '&' && t[0] != '|' || n > 0 && t[0] == '&' && entity.MatchString(t) {
		return 0
	}
	return n
}

var (
	entity = lazy.Expr(`^&(?:[a-zA-Z]{2,8}|#\d{2,5}|#x[\da-fA-F]{2,4});`)
	// nextName is the name of the next value: in a query, a list, an object, or with spaces in a
	// connection string.
	nextName = lazy.Expr(`^(?:[,;&|]+|&amp;)[\pL_$@][\pL\w.$%\[\]-]{0,60}\s{0,2}[=:]|^;[A-Za-z]\w*(?: \w+){1,2}\s?=`)
)

// ofItsOwn reports whether the piece behind the separators at the start of rest is no part of
// the value before them.
func ofItsOwn(rest, piece string) bool {
	if rest[0] == rest[1] && Wordy(piece) { // && and || of code and shells
		return true
	}
	rest = rest[:min(len(rest), 100)]
	return strings.ContainsAny(rest, "=:") && nextName.MatchString(rest)
}

// listed reports whether a value with separators, of which the first piece is no secret by itself,
// is a list, alternatives or an expression of code rather than a password.
func listed(first, v string) bool {
	if placeholder(first) || strings.ContainsAny(v, "/\\") && !random(v) || strings.Contains(v, "&&") || strings.Contains(v, "||") {
		return true
	}
	alike := true
	for p := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if ofCode.MatchString(p) || plainForm.MatchString(p) {
			return true
		}
		alike = alike && listItem.MatchString(p)
	}
	return strings.ContainsAny(v, ",;|") && alike && (strings.ToLower(v) == v || strings.Count(v, ",") > 1 || !strings.Contains(v, ","))
}

var (
	// ofCode is what lists and expressions hold, and passwords don't: a number as code writes it, a field.
	ofCode = lazy.Expr(`^(?:0[xX][\da-fA-F_]+|[A-Za-z_]\w{1,}(?:\.[A-Za-z_]\w{1,})+)$`)
	// listItem has capitals and small letters in one only where words begin.
	listItem = lazy.Expr(`^(?:[a-z\d_.-]+|[A-Z\d_.-]+|[A-Z]?[a-z_-]+\d*|[a-z]+(?:[A-Z][a-z]+)+)$`)
)

// pieceEnd is the end of what stands at i up to white space, a separator or what closes it.
func pieceEnd(t string, i int) int {
	from := i
	for i < len(t) && i-from < 4096 && (strings.IndexByte(" \t\r\n\"'`<>)]}"+separators, t[i]) < 0 || t[i] == ')' && i+1 < len(t) && alnumeric(t[i+1]) && strings.IndexByte(t[from:i], '(') > 0) {
		i++
	}
	return i
}
