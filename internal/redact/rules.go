package redact

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// ruleset is gitleaks' default rules (gitleaks.go) and the detectors of our own, by the keywords that wake them.
//
// Its own detector is not used: that compiles 222 rules (14 ms) behind viper (6 ms) for
// texts that mostly need five, runs each rule over the whole text, honours a
// "gitleaks:allow" comment that anybody can write, and gives lines and columns where
// offsets are needed. The rules and their allowlists are the library's; tests hold gitleaks.go against its configuration.
type ruleset struct {
	once     sync.Once
	rules    []rule
	own      []detector
	keywords *searcher
	users    [][]user        // by keyword
	ids      map[string]bool // what may stand in a marker

	secrets   func() []string // asked once
	known     *searcher
	memory    Remembered
	userAllow []*regexp.Regexp

	allowOnce sync.Once
	allow     []excuse // for secrets of any rule

	work atomic.Int64 // bytes that were looked at; tests hold it against the size of the text
}

// KnownValue is the rule of values that the machine knows to be secret.
const KnownValue = "known-value"

// keywordHead is the size of the shortest keyword, in bytes. A shorter one is told to the searcher with each byte that may follow.
const keywordHead = 3

// user is what a keyword of so many bytes wakes: a rule, or behind the rules a detector.
type user struct{ i, size int }

// detector is a rule of our own: it is woken by a keyword in lower case, and looks at what stands around it.
type detector struct {
	rule     string
	keywords []string
	find     func(s *scanner, at window)
}

// load indexes the rules' keywords, and asks for what the machine knows to be secret.
func (s *ruleset) load() {
	s.once.Do(func() {
		s.ids = map[string]bool{"unsettled": true, KnownValue: true}
		users := map[string][]user{}
		wakes := func(i int, keywords []string) {
			for _, k := range keywords {
				if len(k) >= keywordHead {
					users[k] = append(users[k], user{i, len(k)})
					continue
				}
				for c := range 256 {
					if isUpper(byte(c)) || c < ' ' && c != '\n' && c != '\t' {
						continue
					}
					longer := k + string([]byte{byte(c)})
					users[longer] = append(users[longer], user{i, len(k)})
				}
			}
		}
		s.rules = make([]rule, len(gitleaks))
		for i := range gitleaks {
			r := &s.rules[i]
			r.source = &gitleaks[i]
			s.ids[r.id] = true
			if !superseded(r.id) {
				wakes(i, r.prepare())
			}
		}
		s.own = detectors()
		for i, d := range s.own {
			s.ids[d.rule] = true
			wakes(len(s.rules)+i, d.keywords)
		}
		words := make([]string, 0, len(users))
		for w := range users {
			words = append(words, w)
		}
		s.keywords = newSearcher(words, keywordHead)
		s.users = make([][]user, len(s.keywords.words))
		for i, w := range s.keywords.words {
			s.users[i] = users[w]
		}
		if s.secrets != nil {
			s.known = newSearcher(slices.DeleteFunc(slices.Clone(s.secrets()), Ordinary), minValue)
		}
	})
}

// superseded names the rules that take any value that is given to the name of a secret, or looks like one: the detectors of our own for
// such names know more of them, and more of what is no value.
func superseded(id string) bool {
	return id == "generic-api-key" || id == "hashicorp-tf-password" || id == "private-key"
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
//
// The path patterns that five rules carry (php, tf, yaml, nuget.config) are not asked:
// a conversation quotes such files without naming them.
type rule struct {
	*source
	expr     string // to be compiled: the source's, or what of it begins with the keyword
	once     sync.Once
	compiled *regexp.Regexp
	excuses  []excuse
	anchored bool // a match begins with the keyword
	assigns  bool // the keyword is in a name that is given a value
	bounded  bool // a match begins a word
}

// A rule that wants a name to be given a value says so in one of two ways: assigning begins it, a word that the name holds follows, and
// then assigned.
var assigning = []string{`(?i)[\w.-]{0,50}?(?:`, `[\w.-]{0,50}?(?i:[\w.-]{0,50}?(?:`} //nolint:gochecknoglobals // read-only

const assigned = `)(?:[ \t\w.-]{0,20})[\s'"]{0,3}`

// prepare finds out how a match begins, so that the expression need not be tried at each byte, and returns the keywords that wake the rule.
func (r *rule) prepare() []string {
	r.expr = r.regex
	for _, begin := range assigning {
		rest, found := strings.CutPrefix(r.regex, begin)
		word, _, ok := strings.Cut(rest, assigned)
		if !found || !ok {
			continue
		}
		r.anchored, r.assigns = true, true
		r.expr = "(?i:(?:" + rest
		if begin == assigning[0] {
			r.expr = "(?i)(?:" + rest
		}
		if words := strings.Split(lower(plainWord.Replace(word)), "|"); !strings.ContainsAny(word, "?+*.") {
			return words
		}
		return r.keywords
	}
	begin := lower(plainWord.Replace(r.regex))
	if slices.IndexFunc(r.keywords, func(k string) bool { return !strings.HasPrefix(begin, k) }) < 0 {
		r.anchored, r.bounded = true, strings.HasPrefix(strings.TrimPrefix(r.regex, "(?i)"), `\b`)
	}
	return r.keywords
}

// rule returns the compiled rule i.
func (s *ruleset) rule(i int) *rule {
	r := &s.rules[i]
	r.once.Do(func() {
		if r.anchored {
			r.expr = "^(?:" + r.expr + ")"
		}
		r.compiled, r.excuses = regexp.MustCompile(r.expr), excusesOf(r.allow) // a test compiles all of them
	})
	return r
}

// plainWord takes the beginning of an expression for what it matches.
var plainWord = strings.NewReplacer( //nolint:gochecknoglobals // read-only
	`(?i)`, "", `(?-i:`, "", `(?:`, "", `\b`, "", `(`, "", `\`, "", `[Aa]`, "a", `[Jj]`, "j", `[Ff]`, "f", `[Ss]`, "s", `[Mm]`, "m", `[Oo]`, "o", `[Kk]`, "k", `[Dd]`, "d")

// wake looks for what a rule finds at a keyword.
func (s *scanner) wake(r *rule, i int, at window) {
	if !r.anchored {
		if r.id != "kubernetes-secret-yaml" || strings.Contains(s.low[max(0, at.lo-12):at.lo], "kind:") {
			s.later(r.id, window{max(0, at.lo-reachOfRule), min(len(s.t), at.hi+reachOfRule)}, func(lo, hi int) {
				s.work += hi - lo
				for _, m := range r.compiled.FindAllStringIndex(s.t[lo:hi], -1) {
					s.match(r, lo+m[0], lo+m[1])
				}
			})
		}
		return
	}
	if at.lo < s.done[i] || r.bounded && at.lo > 0 && isWordByte(s.t[at.lo-1]) || r.assigns && !operatorAhead(s.low, at.hi) {
		return
	}
	hi := min(len(s.t), at.hi+reachOfRule)
	for m := 0; m < longestToken && hi < len(s.t) && s.t[hi] > ' '; m++ {
		hi++
	}
	s.work += hi - at.lo
	if m := r.compiled.FindStringIndex(s.t[at.lo:hi]); m != nil {
		s.done[i] = at.lo + m[1]
		s.match(r, at.lo, at.lo+m[1])
	}
}

const (
	// reachOfRule is how far from its keyword a match reaches, in bytes, but for tokens, which are at most longestToken.
	reachOfRule  = 256
	longestToken = 1 << 13
)

// operatorAhead reports whether a sign that gives a value follows a name of which a keyword ends at i, as assigned says it.
func operatorAhead(low string, i int) bool {
	for end := min(i+48, len(low)); i < end; i++ {
		switch c := low[i]; {
		case isWordByte(c) || strings.IndexByte(".-'\"\t\n\f\r ", c) >= 0:
		default:
			return strings.IndexByte("=>:|?,", c) >= 0
		}
	}
	return false
}

func isWordByte(c byte) bool { return alnumeric(c) || c == '_' }

// match notes what a rule found. It follows detectRule of gitleaks v8.30.1, but for "gitleaks:allow" comments, which are not heeded.
func (s *scanner) match(r *rule, lo, hi int) {
	lo = skip(s.t, lo, "\n")
	hi = lo + len(strings.TrimRight(s.t[lo:max(lo, hi)], "\n"))
	a, b := secretIn(r, s.t[lo:hi])
	c := candidate{secret: s.t[lo+a : lo+b], match: s.t[lo:hi], line: around2(s.t, lo, hi)}
	if r.entropy != 0 && entropy(c.secret) <= r.entropy || c.allowed(s.allowed()) || c.allowed(r.excuses) {
		return
	}
	s.out = append(s.out, span{lo: lo + a, hi: lo + b, rule: r.id, trigger: r.id})
}

// around2 is the line around a match, as far as a rule reaches.
func around2(t string, lo, hi int) string {
	w := lineOf(t, lo, hi, reachOfRule)
	return t[w.lo:w.hi]
}

// secretIn is where the secret stands within a match: the rule's group, else the first
// group that is not empty, else all of it.
func secretIn(r *rule, match string) (int, int) {
	g := r.compiled.FindStringSubmatchIndex(match)
	for i := 1; 2*i+1 < len(g); i++ {
		if wanted := r.group == 0 || r.group == i; wanted && g[2*i] >= 0 && g[2*i] < g[2*i+1] {
			return g[2*i], g[2*i+1]
		}
	}
	return 0, len(match)
}

// excuse is an allowlist that can be asked.
type excuse struct {
	*allowlist
	compiled *lazy.Regexp
}

func excusesOf(lists []allowlist) []excuse {
	out := make([]excuse, len(lists))
	for i := range lists {
		out[i] = excuse{&lists[i], lazy.Expr(lists[i].regex)}
	}
	return out
}

// allowed are the excuses for secrets of any rule.
func (s *ruleset) allowed() []excuse {
	s.allowOnce.Do(func() { s.allow = excusesOf(allowedAnywhere) })
	return s.allow
}

// candidate is a match that an allowlist may still excuse.
type candidate struct{ secret, match, line string }

// allowed follows checkFindingAllowed of gitleaks v8.30.1 for a text without a path or
// a commit.
func (c candidate) allowed(by []excuse) bool {
	return slices.ContainsFunc(by, func(e excuse) bool {
		of := c.secret
		switch e.target {
		case "match":
			of = c.match
		case "line":
			of = c.line
		}
		if of != "" && e.regex != "" && e.compiled.MatchString(of) {
			return true
		}
		low := lower(c.secret)
		return slices.ContainsFunc(e.words, func(w string) bool { return strings.Contains(low, w) })
	})
}

// entropy is Shannon's, in bits a byte, as gitleaks reckons it.
func entropy(s string) float64 {
	var count [256]int
	other := map[rune]int{}
	for _, c := range s {
		if c < 256 {
			count[c]++
		} else {
			other[c]++
		}
	}
	all := count[:]
	for _, n := range other {
		all = append(all, n)
	}
	slices.Sort(all[len(count):]) // a fixed order of summing: the same answer each time
	var bits float64
	for _, n := range all {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// merge joins windows that touch.
func merge(in []window) []window {
	slices.SortFunc(in, func(a, b window) int { return cmp.Compare(a.lo, b.lo) })
	out := in[:0]
	for _, w := range in {
		if n := len(out); n > 0 && w.lo <= out[n-1].hi {
			out[n-1].hi = max(out[n-1].hi, w.hi)
			continue
		}
		out = append(out, w)
	}
	return out
}
