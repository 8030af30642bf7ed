package compress

import (
	"path"
	"slices"
	"strings"
)

// What a result names at most.
const (
	maxTerms = 64
	maxPaths = 50
)

// withTerms fills in Terms and Paths.
func (r Result) withTerms() Result {
	for line := range strings.Lines(r.Text) {
		if strings.HasPrefix(line, "… ") && !strings.Contains(line, "like it: ") {
			continue
		}
		for word := range strings.FieldsFuncSeq(line,
			func(r rune) bool { return strings.ContainsRune(" \t\n\"'`‘’“”()<>,;=|│", r) }) {
			word = trimBrackets(word)
			p := pathOf(word)
			if p != "" && len(r.Paths) < maxPaths && !slices.Contains(r.Paths, p) {
				r.Paths = append(r.Paths, p)
			}
			for _, t := range termsOf(word, p) {
				if len(r.Terms) < maxTerms && !slices.Contains(r.Terms, t) {
					r.Terms = append(r.Terms, t)
				}
			}
		}
	}
	return r
}

// trimBrackets is a word without the signs around it, and without brackets that have no counterpart in it.
func trimBrackets(word string) string {
	word = strings.TrimLeft(strings.Trim(word, ".:!?{}*"), "[")
	open, end := strings.IndexByte(word, '['), strings.IndexByte(word, ']')
	switch {
	case end >= 0 && open < 0:
		word = word[:end]
	case open >= 0 && end < open:
		word = word[:open]
	}
	return word
}

// termsOf are the names in a word: of one that begins with a path the ID of a test of pytest, of "error[E0308]" the
// code.
func termsOf(word, path string) (out []string) {
	switch {
	case strings.Contains(word, "…"):
	case path != "" && strings.Contains(word, "::"):
		return []string{word}
	case path == "":
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '[' || r == ']' }) {
			if isTerm(part) {
				out = append(out, part)
			}
		}
	}
	return out
}

// pathOf is the file that a word names, without a line number or a test behind it; "" where it names none.
func pathOf(word string) string {
	if i := strings.Index(word, "::"); i > 0 { // a test of pytest
		word = word[:i]
	}
	for range 2 {
		if i := strings.LastIndexByte(word, ':'); i > 0 && countDigits(word[i+1:]) == len(word)-i-1 {
			word = word[:i]
		}
	}
	if strings.ContainsAny(word, "*$%?&{}@:#[]") || len(word) > 200 || !looksLikeFile(word) ||
		strings.Contains(word, "//") {
		return ""
	}
	if !strings.ContainsRune(word, '/') && !hasFileExtension(word) {
		return ""
	}
	return path.Clean(word)
}

// hasFileExtension reports whether a word without a slash is a file's name and not a symbol ("fmt.Printf", "e.g."): its
// extension is one that files have.
func hasFileExtension(word string) bool {
	ext := strings.ToLower(path.Ext(word))
	return len(ext) > 1 && strings.Contains(extensions, ext+" ")
}

const extensions = ".go .py .js .mjs .cjs .ts .tsx .jsx .rs .c .cc .cpp .h .hpp .java .kt .rb .php .cs .swift .json .yaml .yml .toml .xml .html .css .scss .md .txt .log .sh .sql .proto .tf .lock .mod .sum .csv .ini .cfg .conf .vue .o .so .a .jar .gradle .mk .cmake "

// redacted begins what stands for a secret, without its bracket.
const redacted = "REDACTED:"

// isTerm reports whether a word is a name and no ordinary word: it has a capital behind a small letter, an underscore,
// or letters beside digits.
func isTerm(word string) bool {
	if len(word) < 3 || len(word) > 120 || strings.Contains(word, "…") || strings.HasPrefix(word, redacted) {
		return false
	}
	var kinds uint8
	inner := false // a capital behind a small letter, or a sign between others
	for i := range len(word) {
		c := word[i]
		if kinds |= classes[c]; classes[c]&highByte != 0 || classes[c] == 0 && c != ':' && c != '@' || c == '\\' {
			return false
		}
		inner = inner || i > 0 && (c == '_' || c == ':' && i < len(word)-1 ||
			'A' <= c && c <= 'Z' && strings.ContainsAny(word[:i], "abcdefghijklmnopqrstuvwxyz"))
	}
	return kinds&letterByte != 0 && (inner || kinds&digitByte != 0 && word[0] > '9')
}
