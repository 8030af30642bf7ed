package compress

import "strings"

// eslint knows the stylish form, in which a file's name stands above its findings.
type eslint struct{ file bool }

func (e *eslint) line(text string, _ scanned, _ *keeper) (kind, bool) {
	switch {
	case text == "":
		return noise, e.file
	case !indented(text):
		e.file = looksLikeFile(text) && !strings.ContainsAny(text, " :(")
		return heading, e.file
	}
	bare := strings.TrimLeft(text, " ")
	n := countDigits(bare)
	if !e.file || n == 0 || len(bare) == n || bare[n] != ':' {
		return ordinary, false
	}
	bare = strings.TrimLeft(bare[n+1+countDigits(bare[n+1:]):], " ")
	switch {
	case startsWithAny(bare, "error", "✖"):
		return fault, true
	case startsWithAny(bare, "warning", "⚠"):
		return warning, true
	}
	return ordinary, false
}
