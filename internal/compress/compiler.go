package compress

import (
	"strconv"
	"strings"
)

// compiler knows what names its place at the beginning of a line: gcc, clang, go build and vet, tsc, and others of
// that form; and make, cmake and ninja, which run them.
type compiler struct {
	afterError bool // the lines before are an error or warning
	inPackage  bool // "# package" of go build was read
	makeLevel  int  // of the make that failed last: 2 in "make[2]: *** "
}

func (c *compiler) line(text string, s scanned, _ *keeper) (kind, bool) {
	if text == "" {
		return ordinary, false
	}
	if s.signals&saysPlace != 0 {
		if lineKind := c.kindOfPlaced(text, s); lineKind != ordinary {
			c.afterError = lineKind != detail || c.afterError
			return lineKind, true
		}
	}
	switch {
	case strings.HasPrefix(text, "# ") && !strings.Contains(text[2:], " "):
		c.inPackage = true
		return heading, true
	case startsWithAny(text, "make: ***", "gmake: ***", "make[", "gmake["):
		return c.kindOfMakeLine(text), true
	case startsWithAny(text, "make: ", "gmake: ", "ninja: build stopped"):
		return total, true
	case startsWithAny(text, "FAILED: ", "CMake Error", "collect2: ", "ninja: error", "clang: error", "gcc: error",
		"g++: error", "cc1: "), s.signals&saysError != 0 && strings.Contains(text, "undefined reference to "):
		c.afterError = true
		return fault, true
	case strings.HasPrefix(text, "Dockerfile:"), strings.HasPrefix(text, " > [") && endsWithByteOf(text, ":"):
		return fault, true // docker build
	case strings.HasPrefix(text, "CMake Warning"):
		return warning, true
	case text == "Errors  Files":
		return noise, true // tsc counts them again
	case c.afterError && indented(text), c.afterError && countDigits(text) > 0 && s.signals&saysSum == 0:
		return detail, true
	case c.afterError && (strings.ContainsAny(text, "{};(") && s.signals == 0):
		return detail, true // clang shows the line as it stands
	}
	c.afterError = false
	return ordinary, false
}

// kindOfPlaced is the kind of a line that begins with a place, "a.go:12:7: …"; ordinary for other lines.
func (c *compiler) kindOfPlaced(text string, s scanned) kind {
	numbers, rest := readPlace(strings.TrimPrefix(strings.TrimPrefix(text, "vet: "), "./"))
	if numbers == 0 {
		return ordinary
	}
	rest = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(rest, " "), "- "), " ")
	switch {
	case startsWithAny(rest, "note:", "required from", "required by", "in instantiation"),
		strings.HasSuffix(rest, "required from here"):
		return detail
	case startsWithAny(rest, "warning"):
		return warning
	case startsWithAny(rest, "error", "fatal error", "undefined reference", "multiple definition"):
		return fault
	case numbers > 0 && len(rest) > 1 && strings.IndexByte("CIRW", rest[0]) >= 0 &&
		(rest[1] == ':' || countDigits(rest[1:]) > 0):
		return warning // the grades of pylint and rubocop below an error
	case numbers == 2 && rest != "", c.inPackage && rest != "":
		return fault
	case s.signals&saysThrown != 0, s.signals&saysError != 0 && s.signals&saysZero == 0:
		return fault
	case s.signals&saysWarning != 0:
		return warning
	}
	return ordinary
}

// kindOfMakeLine is the kind of a line that make says of itself. It is noise where a make fails, with status 2, because
// a make that it ran did.
func (c *compiler) kindOfMakeLine(text string) kind {
	switch {
	case strings.Contains(text, ": *** "):
		level, before := 0, c.makeLevel
		if _, rest, ok := strings.Cut(text, "make["); ok {
			level, _ = strconv.Atoi(rest[:countDigits(rest)])
		}
		if c.makeLevel = level; 0 < level && level < before && strings.HasSuffix(text, "] Error 2") {
			return noise
		}
		return fault
	case strings.Contains(text, "Entering directory"), strings.Contains(text, "Leaving directory"),
		strings.Contains(text, "Nothing to be done"):
		return noise
	}
	return ordinary
}
