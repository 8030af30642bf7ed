package redact

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// ruleset is gitleaks' default rules (gitleaks.go) and the detectors of our own, by the keywords that wake them.
//
// Its own detector is not used: that compiles 222 rules (14 ms) behind viper (6 ms) for
// texts that mostly need five, runs each rule over the whole text, honours a
// "gitleaks:allow" comment that anybody can write, and gives lines and columns where
// offsets are needed. The rules and their allowlists are the library's; tests hold gitleaks.go against
// its configuration, and what is found here against its detector.
type ruleset struct {
	once     sync.Once
	rules    []rule
	keywords keywords        // users are indexes of the rules, then of the detectors
	ids      map[string]bool // what may stand in a marker
	own      []detector

	secrets   func() []string // asked once
	known     known
	userAllow []*regexp.Regexp

	allowOnce sync.Once
	allow     []excuse // for secrets of any rule
}

// source is a rule as gitleaks' configuration says it.
type source struct {
	id, regex string
	group     int         // of regex, which is the secret; 0: the first that is not empty
	entropy   float64     // which a secret has more of, in bits a byte; 0: any will do
	keywords  []string    // lower case, ASCII
	allow     []allowlist // each of which makes a finding none
}

// allowlist says which findings are none: regex matches, or one of the words stands in the secret. What asks for a path or a
// commit is left out: there are none here.
type allowlist struct {
	target string   // what regex is asked of: "match", "line", or "" for the secret
	regex  string   // "": none
	words  []string // lower case
}

// rule is a source that is compiled when a text first wakes it.
type rule struct {
	*source
	quick    quick
	once     sync.Once
	compiled *regexp.Regexp
	reach    reach
	excuses  []excuse
}

// load indexes the rules' keywords, and asks for what the machine knows to be secret.
func (s *ruleset) load() {
	s.once.Do(func() {
		s.rules = make([]rule, len(gitleaks))
		s.ids = map[string]bool{"unsettled": true, KnownValue: true}
		s.own = detectors()
		for i := range gitleaks {
			r := &gitleaks[i]
			s.ids[r.id] = true
			s.rules[i].source, s.rules[i].quick = r, quickOf(r.id, r.regex)
			s.keywords.add(i, r.keywords)
		}
		for i, d := range s.own {
			s.ids[d.id] = true
			s.keywords.add(len(s.rules)+i, d.keywords)
		}
		if s.secrets != nil {
			s.known = newKnown(s.secrets())
		}
	})
}

// rule returns the compiled rule i.
//
// The path patterns that five rules carry (php, tf, yaml, nuget.config) are not asked:
// a conversation quotes such files without naming them.
func (s *ruleset) rule(i int) *rule {
	r := &s.rules[i]
	r.once.Do(func() {
		re, err := syntax.Parse(r.regex, syntax.Perl)
		if err != nil {
			panic(err) // a test compiles all of them
		}
		r.compiled, r.excuses, r.reach = regexp.MustCompile(r.regex), excusesOf(r.allow), reachOf(re)
		if keywordElsewhere(r.id) {
			r.reach = unbounded
		}
	})
	return r
}

// excuse is an allowlist that can be asked.
type excuse struct {
	*allowlist
	compiled *lazy.Regexp
	words    keywords
}

func excusesOf(lists []allowlist) []excuse {
	out := make([]excuse, len(lists))
	for i := range lists {
		out[i].allowlist, out[i].compiled = &lists[i], lazy.Expr(lists[i].regex)
		out[i].words.add(0, lists[i].words)
	}
	return out
}

// allowed are the excuses for secrets of any rule.
func (s *ruleset) allowed() []excuse {
	s.allowOnce.Do(func() { s.allow = excusesOf(allowedAnywhere) })
	return s.allow
}

// keywordElsewhere names the rules whose matches need not hold one of their keywords,
// which may stand anywhere in the text. A test proves the others.
func keywordElsewhere(id string) bool {
	switch id {
	case "airtable-personnal-access-token", "facebook-access-token", "sidekiq-sensitive-url",
		"slack-config-access-token", "slack-webhook-url", "sourcegraph-access-token":
		return true
	}
	return false
}

// reach bounds the matches of a regular expression: at most bytes bytes, and beside
// them at most runs stretches of any length that hold no ASCII white space.
type reach struct {
	bytes, runs int
	endless     bool // no such bound
}

var unbounded = reach{endless: true} //nolint:gochecknoglobals // read-only

func reachOf(re *syntax.Regexp) reach {
	switch re.Op {
	case syntax.OpLiteral:
		return reach{bytes: len(string(re.Rune))}
	case syntax.OpCharClass:
		return reach{bytes: widest(re.Rune)}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return reach{bytes: utf8.UTFMax}
	case syntax.OpCapture, syntax.OpQuest:
		return reachOf(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return endlessOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Max < 0 {
			return endlessOf(re.Sub[0])
		}
		r := reachOf(re.Sub[0])
		return reach{r.bytes * re.Max, r.runs * re.Max, r.endless}
	case syntax.OpConcat, syntax.OpAlternate:
		return reachOfAll(re)
	}
	return reach{} // assertions and the empty match
}

func reachOfAll(re *syntax.Regexp) reach {
	var sum, most reach
	for _, sub := range re.Sub {
		r := reachOf(sub)
		if r.endless {
			return unbounded
		}
		sum.bytes, sum.runs = sum.bytes+r.bytes, sum.runs+r.runs
		most.bytes, most.runs = max(most.bytes, r.bytes), max(most.runs, r.runs)
	}
	if re.Op == syntax.OpConcat {
		return sum
	}
	return most
}

// endlessOf is the reach of re repeated without end.
func endlessOf(re *syntax.Regexp) reach {
	if spaceless(re) {
		return reach{runs: 1}
	}
	return unbounded
}

func spaceless(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpLiteral:
		return !strings.ContainsAny(string(re.Rune), spaces)
	case syntax.OpCharClass:
		return !strings.ContainsFunc(spaces, func(r rune) bool { return inClass(re.Rune, r) })
	}
	for _, sub := range re.Sub {
		if !spaceless(sub) {
			return false
		}
	}
	return true
}

// inClass reports whether a character class, a list of ranges, holds r.
func inClass(class []rune, r rune) bool {
	for i := 0; i+1 < len(class); i += 2 {
		if class[i] <= r && r <= class[i+1] {
			return true
		}
	}
	return false
}

// widest is the longest UTF-8 form within a class. The letters that fold to ASCII are
// passed over: texts that hold one are never cut into windows.
func widest(class []rune) int {
	n := 1
	for i := 0; i+1 < len(class); i += 2 {
		if class[i] == class[i+1] && strings.ContainsRune(foldsToASCII, class[i]) {
			continue
		}
		n = max(n, utf8.RuneLen(class[i+1]))
	}
	return n
}
