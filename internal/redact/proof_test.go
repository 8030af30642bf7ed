package redact

import (
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

// TestLongKeywordInEveryMatch proves what windows rest on: each match of a rule with a
// finite reach holds one of the rule's keywords. It walks the rule's automaton beside
// the keywords' and looks for a way to the end on which no keyword was read.
func TestLongKeywordInEveryMatch(t *testing.T) {
	var s ruleset
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	proved := 0
	for i, raw := range s.raw.Rules {
		if raw.Regex == "" {
			continue
		}
		r, err := s.rule(i)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Keywords) == 0 {
			t.Errorf("%s: no keyword, so no text wakes it", raw.ID)
		}
		if r.reach.endless {
			continue
		}
		if !keywordInEveryMatch(t, raw.Regex, r.Keywords) {
			t.Errorf("%s: a match without any of %q: name it in keywordElsewhere", raw.ID, r.Keywords)
		}
		proved++
	}
	t.Logf("%d rules proved", proved)
	if proved < 200 {
		t.Errorf("only %d of %d rules have windows", proved, len(s.raw.Rules))
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

// TestRulesAreTheLibrarys holds the quick reading of the rules against the library's own.
func TestRulesAreTheLibrarys(t *testing.T) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		t.Fatal(err)
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		t.Fatal(err)
	}
	want, err := raw.Translate()
	if err != nil {
		t.Fatal(err)
	}
	var s ruleset
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	got := 0
	for i, raw := range s.raw.Rules {
		if raw.Regex == "" {
			continue
		}
		got++
		r, err := s.rule(i)
		if err != nil {
			t.Fatal(err)
		}
		w := want.Rules[raw.ID]
		if diff := cmp.Diff(ruleView(w), ruleView(r.Rule)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw.ID, diff)
		}
	}
	if got != len(want.Rules)-1 {
		t.Errorf("%d rules of %d: all but pkcs12-file are for text", got, len(want.Rules))
	}
	global, err := s.allowlists()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(listViews(want.Allowlists), listViews(global)); diff != "" {
		t.Errorf("global allowlists (-want +got):\n%s", diff)
	}
	for _, k := range s.raw.Rules {
		for _, w := range k.Keywords {
			if strings.ContainsFunc(w, func(c rune) bool { return c > 127 }) {
				t.Errorf("%s: keyword %q is not ASCII, which lower relies on", k.ID, w)
			}
		}
	}
}

type ruleFields struct {
	ID, Regex string
	Entropy   float64
	Group     int
	Keywords  []string
	Lists     []listFields
}

type listFields struct {
	And                int
	Target             string
	Regexes, Paths     []string
	StopWords, Commits int
}

func ruleView(r config.Rule) ruleFields {
	return ruleFields{r.RuleID, r.Regex.String(), r.Entropy, r.SecretGroup, r.Keywords, listViews(r.Allowlists)}
}

func listViews(lists []*config.Allowlist) []listFields {
	var out []listFields
	for _, a := range lists {
		v := listFields{And: int(a.MatchCondition), Target: a.RegexTarget, StopWords: len(a.StopWords), Commits: len(a.Commits)}
		for _, re := range a.Regexes {
			v.Regexes = append(v.Regexes, re.String())
		}
		for _, re := range a.Paths {
			v.Paths = append(v.Paths, re.String())
		}
		out = append(out, v)
	}
	return out
}

// TestQuickLooksLoseNothing proves what the quick look at rules that assign rests on: the word
// before the operator holds a keyword, and is short enough for the operator to be looked for.
func TestQuickLooksLoseNothing(t *testing.T) {
	var s ruleset
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	proved := 0
	for _, raw := range s.raw.Rules {
		if !quickOf(raw.ID, raw.Regex).assigns {
			continue
		}
		words, _, _ := strings.Cut(strings.TrimPrefix(raw.Regex, nameThenWord), operator)
		re, err := syntax.Parse("(?i)(?:"+words+")", syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if r := reachOf(re); r.endless || r.runs > 0 || r.bytes+23 > maxName {
			t.Errorf("%s: the operator can stand %d bytes behind", raw.ID, r.bytes+23)
		}
		if !keywordInEveryMatch(t, "(?i)(?:"+words+")", raw.Keywords) {
			t.Errorf("%s: %q without any of %q", raw.ID, words, raw.Keywords)
		}
		proved++
	}
	if proved < 80 {
		t.Errorf("only %d rules assign", proved)
	}
}
