package redact

import (
	"regexp"
	"sync"

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
	memory    Remembered
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
		r.compiled, r.excuses = regexp.MustCompile(r.regex), excusesOf(r.allow) // a test compiles all of them
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

// looksAtAll names the rules whose matches may be long and hold spaces, or need not hold one of their keywords. A test proves
// the others.
func looksAtAll(id string) bool {
	switch id {
	case "airtable-personnal-access-token", "facebook-access-token", "sidekiq-sensitive-url",
		"slack-config-access-token", "slack-webhook-url", "sourcegraph-access-token",
		"curl-auth-header", "curl-auth-user", "freemius-secret-key", "jwt-base64", "kubernetes-secret-yaml", "nuget-config-password", "private-key":
		return true
	}
	return false
}
