package redact

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLongKeywordInEveryMatch proves what windows rest on: each match of a rule that looks at windows lies within one, and
// holds one of the rule's keywords. It walks the rule's automaton beside
// the keywords' and looks for a way to the end on which no keyword was read.
func TestLongKeywordInEveryMatch(t *testing.T) {
	var s ruleset
	s.load()
	proved := 0
	for i := range s.rules {
		r := s.rule(i)
		if len(r.keywords) == 0 {
			t.Errorf("%s: no keyword, so no text wakes it", r.id)
		}
		if looksAtAll(r.id) {
			continue
		}
		if !inWindow(t, r.regex) {
			t.Errorf("%s: a match may reach beyond a window: name it in looksAtAll", r.id)
		}
		if !keywordInEveryMatch(t, r.regex, r.keywords) {
			t.Errorf("%s: a match without any of %q: name it in looksAtAll", r.id, r.keywords)
		}
		proved++
	}
	t.Logf("%d rules proved", proved)
	if proved < 200 {
		t.Errorf("only %d of %d rules have windows", proved, len(s.rules))
	}
}

func TestKeywordProofCanFail(t *testing.T) {
	tests := []struct {
		name, regex string
		keywords    []string
		want        bool
	}{
		{"literal", `tok_[a-z]{3}`, []string{"tok_"}, true},
		{"other case", `(?i)TOK_[a-z]{3}`, []string{"tok_"}, true},
		{"factored alternation", `\b(?:AKIA|ASIA)[A-Z]{4}`, []string{"akia", "asia"}, true},
		{"one alternative without", `\b(?:AKIA|ABIA)[A-Z]{4}`, []string{"akia"}, false},
		{"optional", `(?:tok_)?[a-z]{3}`, []string{"tok_"}, false},
		{"across a class", `to[k]_[a-z]{3}`, []string{"tok_"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := keywordInEveryMatch(t, tt.regex, tt.keywords); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// keywordInEveryMatch treats assertions as always true, which only adds ways.
func keywordInEveryMatch(t *testing.T, regex string, keywords []string) bool {
	t.Helper()
	re, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	type state struct {
		pc   uint32
		read string // the longest end of what was read that begins a keyword
	}
	seen := map[state]bool{}
	todo := []state{{uint32(prog.Start), ""}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		in := &prog.Inst[at.pc]
		switch in.Op {
		case syntax.InstMatch:
			return false
		case syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, state{in.Out, at.read}, state{in.Arg, at.read})
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			todo = append(todo, state{in.Out, at.read})
		default: // reads a rune; one stands for all outside ASCII
			for _, c := range append(ascii(), 'é', '中') {
				if !reads(in, c) {
					continue
				}
				if next, whole := advance(keywords, at.read, c); !whole {
					todo = append(todo, state{in.Out, next})
				}
			}
		}
	}
	return true
}

func reads(in *syntax.Inst, c rune) bool {
	switch in.Op {
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return c != '\n'
	}
	return in.MatchRune(c)
}

func ascii() []rune {
	out := make([]rune, 128)
	for i := range out {
		out[i] = rune(i)
	}
	return out
}

func advance(keywords []string, read string, c rune) (next string, whole bool) {
	read += strings.ToLower(string(c))
	for ; read != ""; read = read[1:] {
		for _, k := range keywords {
			if strings.HasPrefix(read, k) || strings.HasSuffix(read, k) {
				return "", true
			}
		}
		for _, k := range keywords {
			if strings.HasPrefix(k, read) {
				return read, false
			}
		}
	}
	return "", false
}

// inWindow reports whether each match has no white space but at its end, or at most margin bytes, behind which more may follow
// without white space.
func inWindow(t *testing.T, regex string) bool {
	t.Helper()
	re, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	if last := len(parts) - 1; last > 0 && longestMatch(parts[last]) <= utf8.UTFMax {
		parts = parts[:last]
	}
	last := len(parts) - 1
	size := 0
	for _, p := range parts[:last] {
		size += longestMatch(p)
	}
	if spaceless(parts[last]) {
		return size <= margin || !slices.ContainsFunc(parts, func(p *syntax.Regexp) bool { return !spaceless(p) })
	}
	return size+longestMatch(parts[last]) <= margin
}

// endless is more than any margin, and may be added up.
const endless = 1 << 20

// longestMatch is the size of the longest match in bytes, at least endless if it has no bound.
func longestMatch(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune))
	case syntax.OpCharClass:
		return widest(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		return endless
	case syntax.OpRepeat:
		if re.Max < 0 {
			return endless
		}
		return longestMatch(re.Sub[0]) * re.Max
	}
	sum, most := 0, 0
	for _, sub := range re.Sub { // none in assertions and the empty match
		n := longestMatch(sub)
		sum, most = sum+n, max(most, n)
	}
	if re.Op == syntax.OpAlternate {
		return most
	}
	return sum
}

func spaceless(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpLiteral:
		return !strings.ContainsAny(string(re.Rune), spaces)
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if strings.ContainsFunc(spaces, func(r rune) bool { return re.Rune[i] <= r && r <= re.Rune[i+1] }) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !spaceless(sub) })
}

// widest is the longest UTF-8 form within a class. The letters that fold to ASCII are
// passed over: they are made plain before.
func widest(class []rune) int {
	n := 1
	for i := 0; i+1 < len(class); i += 2 {
		if class[i] == class[i+1] && strings.ContainsRune("\u017f\u212a", class[i]) {
			continue
		}
		n = max(n, utf8.RuneLen(class[i+1]))
	}
	return n
}

// TestQuickLooksLoseNothing proves what the quick look at rules that assign rests on: the word
// before the operator holds a keyword, and is short enough for the operator to be looked for.
func TestQuickLooksLoseNothing(t *testing.T) {
	var s ruleset
	s.load()
	proved := 0
	for _, r := range gitleaks {
		if !quickOf(r.id, r.regex).assigns {
			continue
		}
		words, _, _ := strings.Cut(strings.TrimPrefix(r.regex, nameThenWord), operator)
		re, err := syntax.Parse("(?i)(?:"+words+")", syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if far := longestMatch(re); far+23 > maxName {
			t.Errorf("%s: the operator can stand %d bytes behind", r.id, far+23)
		}
		if !keywordInEveryMatch(t, "(?i)(?:"+words+")", r.keywords) {
			t.Errorf("%s: %q without any of %q", r.id, words, r.keywords)
		}
		proved++
	}
	if proved < 80 {
		t.Errorf("only %d rules assign", proved)
	}
}
