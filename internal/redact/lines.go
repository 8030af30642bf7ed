package redact

import (
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// A line tells what its words are: a sentence, a directive of a file of settings, a part of a section or of an account, or a
// heading of the lines below.

// inSentence reports whether a name stands in one: its line has words around it, and no sign of code.
func inSentence(t string, lo, hi int) bool {
	w := lineOf(t, lo, hi)
	line := strings.TrimSpace(t[w.lo:w.hi])
	for i := range len(line) {
		if inCode[line[i]] || line[i] == '(' && i > 0 && alnumeric(line[i-1]) {
			return false
		}
	}
	return strings.Count(line, " ") > 2
}

// inCode are the signs that sentences don't have.
var inCode = bytesIn("={}[]<>|\\\t;") //nolint:gochecknoglobals // read-only

// lineOf is the line around a part of a text, as far as a name reaches.
func lineOf(t string, lo, hi int) window {
	from, to := max(0, lo-maxReach), min(len(t), hi+maxReach)
	from += strings.LastIndexByte(t[from:lo], '\n') + 1
	if n := strings.IndexByte(t[hi:to], '\n'); n >= 0 {
		to = hi + n
	}
	return window{from, to}
}

// ofAccount reports whether a name gives a value next to the name of a user or a host, in the same syntax.
func ofAccount(t string, n name) bool {
	sign := skip(t, n.end, "\"'")
	if sign >= len(t) || strings.IndexByte(":=", t[sign]) < 0 {
		return false
	}
	before := t[max(0, n.lo-maxReach):n.lo]
	m := accountName.FindAllStringSubmatch(before, -1)
	return m != nil && m[len(m)-1][1][0] == t[sign]
}

// accountName is the name of a user or a host, and the sign that gives it.
var accountName = lazy.Expr(`(?i)(?:user|username|user_name|login|host|hostname|email|uid)["']?\s?([:=])`)

// beside finds the strings on the line of a name that nothing but a password looks like.
func beside(t string, n name) []window {
	line := lineOf(t, n.lo, n.end)
	var out []window
	for i := line.lo; i < line.hi; i++ {
		if !quoteAt(t, i) {
			continue
		}
		lo, hi, closed := quotedAt(t, i)
		if !closed {
			continue
		}
		if v := t[lo:hi]; (lookOf(v, true) >= odd || mixed(v) && lookOf(v, true) == marked) &&
			!isSumForm(v) && unsaid(v) && hi-lo <= maxMadeUp {
			out = append(out, window{lo, hi})
		}
		i = hi
	}
	return out
}

// heads reports whether a line holds nothing but a name.
func heads(line string) bool {
	return len(line) < 40 && strings.IndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(" #<>*-_/.'\"`", r) }) < 0
}

// nextLine is the only word of the line behind the one that ends at i, or begins a block there.
func nextLine(t string, i int, n name) (int, int) {
	rest := t[i:min(len(t), i+maxReach)]
	if strings.Contains(strings.ToLower(t[max(0, n.lo-12):n.lo]), "user") {
		i += len(userLine.FindString(rest))
		rest = t[i:min(len(t), i+maxReach)]
	}
	m := block.FindStringSubmatchIndex(rest)
	if m == nil {
		return 0, 0
	}
	lo, hi := i+m[2], i+m[3]
	lo += len(userBefore.FindString(t[lo:hi]))
	v := t[lo:hi]
	if strings.ContainsAny(v, "(,:=") || lookOf(v, false) < max(least[n.kind][given], marked) {
		return 0, 0
	}
	return lo, hi
}

// prompt stands before a command, whose output follows.
var prompt = lazy.Expr(`^(?:[^\n]{0,40}[$%>]|\S[^\n]{0,40}#) `)

// userLine is one with a user's name alone.
var userLine = lazy.Expr(`^>?[ \t]*\n[ \t]*[\w.@-]{2,40}`)

var block = lazy.Expr("^[ \\t]*(?:[|>][-+]?|<<[~-]?[\"']?\\w+[\"']?|\"\"\"|```\\w*)?[ \\t]*\\n[>\\s]{0,40}(?:\\w+: [|>]-?\\n\\s{0,40})?(?:```\\w*\\n|[-*>] |\\w{1,12}: )?[\"'`]?([^\\s\"'`]{6,})[\"'`]*[ \\t]*(?:\\n|$)")

// directs reports whether the line around a value is a directive of a file of settings: nothing but words, of which the
// name and the value are the last.
func (w *walk) directs(lo, hi int) bool {
	if w.comma || w.kind >= numeral || hi < len(w.t) && w.t[hi] != '\n' {
		return false
	}
	line := lineOf(w.t, w.lo, w.end)
	return directive.MatchString(w.t[line.lo:w.lo]) && !declaration.MatchString(w.t[line.lo:w.end]) && ofDirective.MatchString(w.t[w.end:lo])
}

// inSection reports whether the line around i is in a section of a file of settings, where nothing is quoted.
func inSection(t string, i int) bool {
	before := t[max(0, i-4*maxReach):i]
	head := strings.LastIndex(before, "]\n")
	if head < 0 {
		return false
	}
	start := strings.LastIndexByte(before[:head], '\n') + 1
	return before[start] == '[' && !strings.ContainsAny(before[start+1:], "[(\"'{;")
}

var (
	// directive begins one, and ofDirective stands between its name and its value.
	directive   = lazy.Expr(`^\s*(?:[a-z][a-z\d_-]* |[\d./]+ ){0,7}[a-z\d_/-]*$`)
	ofDirective = lazy.Expr(`^[a-z_-]* (?:\d |ascii-text )?$`)
	// declaration begins one of code.
	declaration = lazy.Expr(`^\s*(?:var|let|const|val|type|func|def|fn|class|struct|case|return|new|import|package|use|using|static|final|public|private|extern|typedef|enum) `)
)
