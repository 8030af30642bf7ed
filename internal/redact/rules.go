package redact

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// ruleset is gitleaks' default configuration, read once and compiled rule by rule.
//
// Its own detector is not used: that compiles 222 rules (14 ms) behind viper (6 ms) for
// texts that mostly need five, runs each rule over the whole text, honours a
// "gitleaks:allow" comment that anybody can write, and gives lines and columns where
// offsets are needed. The rules, their allowlists and their translation are the
// library's; a test holds what is found here against the library's detector.
type ruleset struct {
	once     sync.Once
	err      error
	raw      config.ViperConfig
	rules    []rule
	keywords keywords        // users are indexes of the rules, then of the detectors
	ids      map[string]bool // what may stand in a marker
	own      []detector

	secrets   func() []string // asked once
	known     known
	userAllow []*regexp.Regexp

	allowOnce sync.Once
	allow     []*config.Allowlist // global; for secrets of any rule
	allowErr  error
}

type rule struct {
	once sync.Once
	err  error
	config.Rule
	reach reach
	quick quick
}

// load reads the rules and indexes their keywords.
func (s *ruleset) load() error {
	s.once.Do(func() { s.err = s.read() })
	return s.err
}

func (s *ruleset) read() error {
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &s.raw); err != nil {
		return fmt.Errorf("read gitleaks' default rules: %w", err)
	}
	s.rules = make([]rule, len(s.raw.Rules))
	s.ids = map[string]bool{"unsettled": true, KnownValue: true}
	s.own = detectors()
	for i, r := range s.raw.Rules {
		if r.Regex == "" {
			continue // names files by their path; there are no files here
		}
		s.ids[r.ID] = true
		s.rules[i].quick = quickOf(r.ID, r.Regex)
		s.keywords.add(i, r.Keywords)
	}
	for i, d := range s.own {
		s.ids[d.id] = true
		s.keywords.add(len(s.rules)+i, d.keywords)
	}
	if s.secrets != nil {
		s.known = newKnown(s.secrets())
	}
	return nil
}

// rule returns the compiled rule i.
//
// The path patterns that five rules carry (php, tf, yaml, nuget.config) are not asked:
// a conversation quotes such files without naming them.
func (s *ruleset) rule(i int) (*rule, error) {
	r := &s.rules[i]
	r.once.Do(func() {
		raw := s.raw.Rules[i]
		one := config.ViperConfig{Rules: s.raw.Rules[i : i+1]}
		c, err := one.Translate()
		if err != nil {
			r.err = fmt.Errorf("compile rule %q: %w", raw.ID, err)
			return
		}
		re, err := syntax.Parse(raw.Regex, syntax.Perl)
		if err != nil {
			r.err = fmt.Errorf("parse rule %q: %w", raw.ID, err)
			return
		}
		r.Rule, r.reach = c.Rules[raw.ID], reachOf(re)
		if keywordElsewhere(raw.ID) {
			r.reach = unbounded
		}
	})
	return r, r.err
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

// allowlists returns the global allowlists, without their paths.
func (s *ruleset) allowlists() ([]*config.Allowlist, error) {
	s.allowOnce.Do(func() {
		//nolint:staticcheck // deprecated, but gitleaks 8's own default rules still use it
		global := config.ViperConfig{AllowList: s.raw.AllowList, Allowlists: s.raw.Allowlists}
		c, err := global.Translate()
		s.allow, s.allowErr = c.Allowlists, err
	})
	return s.allow, s.allowErr
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
