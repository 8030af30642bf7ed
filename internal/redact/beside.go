package redact

import (
	"regexp"
	"strings"
	"unicode"
)

const digitSet = "0123456789"

// beside finds the values that stand beside the name of a secret, in whatever syntax: given to it by a
// sign, handed over with it, below it in a table, on the next line, in the same sentence.
func beside(named func(t string, at window) (name, bool)) func(t string, at window) []window {
	return func(t string, at window) []window {
		n, ok := named(t, at)
		if !ok {
			return nil
		}
		for _, place := range []func(string, name) (int, int){behind, asValue, ahead} {
			if lo, hi := place(t, n); lo < hi {
				return []window{{lo, hi}}
			}
			if n.weak {
				return nil
			}
		}
		return below(t, n)
	}
}

// behind is the value behind a name.
func behind(t string, n name) (int, int) {
	end := bold(t, n.end)
	i := skip(t, end, "\"'`])")
	named := i > end || n.lo > 0 && t[n.lo-1] == '<' // the name was quoted, or is a tag's
	i = skipTags(t, i)
	j := skip(t, i, " \t")
	if j >= len(t) {
		return 0, 0
	}
	if m := attributes.FindStringIndex(t[i:min(len(t), i+80)]); m != nil && named {
		return given(t, n, i+m[1])
	}
	if k := skip(t, j, "\n "); k > j && k-j < 8 && k+1 < len(t) && strings.IndexByte("=:", t[k]) >= 0 && strings.IndexByte(" \n", t[k+1]) >= 0 {
		j = k
	}
	if k := sign(t, j); k > j {
		return given(t, n, k)
	}
	switch c := t[j]; {
	case n.weak:
	case c == ',' && (named || quoteAt(t, skip(t, j+1, " \t"))):
		return literal(t, j+1, n.written)
	case j == i && (c == '(' || c == '[' || c == '{' && quoteAt(t, j+1) || c == '.' && named):
		if lo, hi := literal(t, j, n.written); lo < hi || c == '.' {
			return lo, hi
		}
		if lo, hi, _ := value(t, j+1); unsayable(t[lo:hi]) && !dotted.MatchString(t[lo:hi]) {
			return lo, hi
		}
		return 0, 0
	case c == '\n' && heads(t, n):
		return nextLine(t, j, n)
	case c == '|' && (around(t, n.lo) == "|" || n.lo > 0 && t[n.lo-1] == '['), j > i && t[j-1] == '\t':
		if lo, hi := cell(t, j, n); lo < hi {
			return lo, hi
		}
	case i > n.end && t[i-1] == '>':
		return given(t, n, i)
	}
	return spoken(t, n, i)
}

// sign is the end of the sign at i that gives a name its value; i when there is none.
func sign(t string, i int) int {
	j := skip(t, i, "?|+~<-")
	if k := skip(t, j, "=:>"); j-i <= 2 && k > j && k-j <= 3 && !strings.HasPrefix(t[j:], "://") && t[i] != '<' {
		return k
	}
	for _, s := range []string{"<-", "- ", ". \"", "→", "–", "—", "：", "＝", "＞"} {
		if strings.HasPrefix(t[i:], s) {
			return i + len(strings.TrimSuffix(s, "\""))
		}
	}
	return i
}

// given is the value behind the sign that ends at i: at once, in the rest of the statement, or on the
// next line.
func given(t string, n name, i int) (int, int) {
	j := tagged(t, skip(t, skipTags(t, bold(t, i)), " \t"))
	if lo, hi, _ := value(t, j); lo > j && n.password && phrase(t[lo:hi]) {
		return lo, hi
	}
	if lo, hi, quoted := valueWithin(t, j, around(t, n.lo)); lo < hi {
		if v := t[lo:hi]; n.can(judged(v)) || quoted && !n.weak && inQuotes(v) || n.password && sure(v) && (quoted || clear(t, i, lo, hi)) {
			return lo, hi
		}
	}
	if lo, hi := bare(t, j); lo < hi && n.can(judged(t[lo:hi])) {
		return lo, hi
	}
	if lo, hi := nextLine(t, j, n); lo < hi {
		return lo, hi
	}
	if j < len(t) && t[j] == '{' { // what belongs to the name, and is not its value
		return 0, 0
	}
	return literal(t, i, n.written)
}

// clear reports whether the value behind a sign that ends at i is written as such, and is no name of code.
func clear(t string, i, lo, hi int) bool {
	if quoteAt(t, lo-1) {
		return true
	}
	if hi < len(t) && strings.IndexByte(" \t\r\n\"'`&<", t[hi]) < 0 && (t[hi] != ';' || i < lo) {
		return false
	}
	return t[i-1] == '=' && i == lo || t[i-1] != '=' && !dotted.MatchString(t[lo:hi]) || !identifier.MatchString(t[lo:hi])
}

// identifier is a name of code, with a number at its end perhaps.
var identifier = regexp.MustCompile(`^[A-Za-z_.]+\d?$`)

// tagged passes over a tag or an anchor of YAML.
func tagged(t string, i int) int {
	if n := yamlTag.FindStringIndex(t[i:min(len(t), i+40)]); n != nil {
		return i + n[1]
	}
	return i
}

var yamlTag = regexp.MustCompile(`^[!&][\w!-]* `)

// skipTags passes over tags of HTML or XML, and white space between them.
func skipTags(t string, i int) int {
	for i < len(t) && t[i] == '<' {
		m := tag.FindStringIndex(t[i:min(len(t), i+80)])
		if m == nil {
			return i
		}
		i += m[1]
	}
	return i
}

var (
	tag = regexp.MustCompile(`^</?[a-zA-Z][^<>\n]{0,60}>\s*`)
	// attributes are the rest of a tag.
	attributes = regexp.MustCompile(`^(?: [\w:-]+=["'][^"'<>\n]*["'])+>`)
)

// bold passes over the end of bold type in Markdown: "**Password:** …", "**Password**: …".
func bold(t string, i int) int {
	if strings.HasPrefix(t[i:], "[0m") { // what is left of a terminal's escape
		return i + len("[0m")
	}
	if strings.HasPrefix(t[i:], "**") || strings.HasPrefix(t[i:], "__") {
		return i + 2
	}
	return i
}

// maxStatement is how far a statement is followed, in bytes.
const maxStatement = 240

// literal is the first string in the rest of the statement at i that can be a secret. What stands
// in an index is a name.
func literal(t string, i int, can func(string) bool) (int, int) {
	depth := 0
	for end := min(len(t), i+maxStatement); i < end; i++ {
		switch c := t[i]; c {
		case ',', ';', '\n':
			if depth <= 0 {
				return 0, 0
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '\'', '`':
			n := strings.IndexAny(t[i+1:min(len(t), i+4096)], string(c)+"\n")
			if n < 0 || t[i+1+n] == '\n' {
				continue
			}
			if v := t[i+1 : i+1+n]; !isIndex(t, i-1) && !strings.Contains(v, " ") && v != "" && can(judged(v)) {
				return i + 1, i + 1 + n
			}
			i += 1 + n
		}
	}
	return 0, 0
}

// isIndex reports whether the byte at i opens an index, and not a list.
func isIndex(t string, i int) bool {
	return i > 0 && t[i] == '[' && (alnumeric(t[i-1]) || strings.IndexByte("_)]", t[i-1]) >= 0)
}

// heads reports whether a name has its line for itself.
func heads(t string, n name) bool {
	line := t[strings.LastIndexByte(t[:n.lo], '\n')+1 : n.end]
	return len(line) < 40 && strings.IndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(" #*-_/.", r) }) < 0
}

// nextLine is the only word of the line behind the one that ends at i, or begins a block there.
func nextLine(t string, i int, n name) (int, int) {
	m := block.FindStringSubmatchIndex(t[i:min(len(t), i+maxStatement)])
	if m == nil {
		return 0, 0
	}
	lo, hi := i+m[2], i+m[3]
	lo += len(userBefore.FindString(t[lo:hi]))
	v := t[lo:hi]
	told := n.can(judged(v)) && strict(v) || quoteAt(t, lo-1) && n.written(v)
	if !told || strings.ContainsAny(v, "@(,:") {
		return 0, 0
	}
	return lo, hi
}

var block = regexp.MustCompile("^[ \\t]*(?:[|>][-+]?|<<[~-]?[\"']?\\w+[\"']?|\"\"\"|```\\w*)?[ \\t]*\\n\\s{0,40}(?:```\\w*\\n|[-*>] |\\w{1,12}: )?[\"'`]?([^\\s\"'`]{8,})[\"'`]*[ \\t]*(?:\\n|$)")

// asValue is the value of a name that is itself a value: {"name": "DB_PASSWORD", "value": "…"}.
func asValue(t string, n name) (int, int) {
	rest := t[n.end:min(len(t), n.end+120)]
	if i := strings.IndexByte(rest, '}'); i >= 0 {
		rest = rest[:i]
	}
	if !strings.Contains(rest, "alue") && !strings.Contains(rest, "efault") && !strings.Contains(rest, "with") {
		return 0, 0
	}
	m := valueKey.FindStringIndex(rest)
	if m == nil || strings.Contains(rest[:m[0]], "name") {
		return 0, 0
	}
	lo, hi, _ := value(t, n.end+m[1])
	if !n.can(judged(t[lo:hi])) {
		return 0, 0
	}
	return lo, hi
}

var valueKey = regexp.MustCompile(`(?i)(?:(?:value|default|, with)["']?\s*[:=]|--value)\s*`)

// value is what stands at i: in quotes, or up to white space and what ends a value in code.
func value(t string, i int) (lo, hi int, quoted bool) { return valueWithin(t, i, "") }

// valueWithin is a value among others that the separators in outer keep apart.
func valueWithin(t string, i int, outer string) (lo, hi int, quoted bool) {
	if lo, hi := raw(t, i); lo < hi {
		return lo, hi, true
	}
	if i < len(t) && strings.IndexByte("\"'`", t[i]) >= 0 {
		for j := i + 1; j < len(t) && t[j] != '\n' && j-i < 4096; j++ {
			if t[j] == t[i] {
				return i + 1, j, strings.IndexByte(t[i+1:j], ' ') < 0
			}
		}
		i++
	}
	return i, grow(t, i, pieceEnd(t, i), outer, pieceEnd), false
}

// raw is a string in three quotes, or in Perl's and Ruby's own, that begins at i.
func raw(t string, i int) (int, int) {
	if i >= len(t) || strings.IndexByte("'\"q%", t[i]) < 0 {
		return 0, 0
	}
	open := rawString.FindString(t[i:min(len(t), i+4)])
	end := open
	if n := strings.IndexAny(open, "{([|<"); n >= 0 {
		end = "})]|>"[strings.IndexByte("{([|<", open[n]):][:1]
	}
	i += len(open)
	return i, i + strings.Index(t[i:min(len(t), i+maxStatement)], end)
}

var rawString = regexp.MustCompile("^(?:'''|\"\"\"|(?:qq?|%[qQ])[{(\\[|<])")

func quoteAt(t string, i int) bool { return i < len(t) && strings.IndexByte("\"'`", t[i]) >= 0 }

func skip(t string, i int, set string) int {
	for i < len(t) && strings.IndexByte(set, t[i]) >= 0 {
		i++
	}
	return i
}
