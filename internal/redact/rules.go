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
// Its own detector is not used: that compiles all its rules (14 ms) behind viper (6 ms) for texts that mostly need
// five, runs each rule over the whole text, honours a "gitleaks:allow" comment that anybody can write, and gives lines
// and columns where offsets are needed. The path patterns that some rules carry are not asked: a conversation quotes
// files without naming them.
type ruleset struct {
	once     sync.Once
	table    []rule // gitleaks' and vendors'
	own      []detector
	keywords *searcher
	targets  [][]wakeTarget  // by keyword
	ids      map[string]bool // what may stand in a marker

	secrets     func() []string // asked once
	known       *searcher
	memory      Remembered
	valueFilter *decodeFilter // of which known and remembered values are made
	userAllow   []*regexp.Regexp

	work atomic.Int64 // bytes that were looked at; tests hold it against the size of the text
}

// KnownValue is the rule of values that the machine knows to be secret.
const KnownValue = "known-value"

// keywordHead is the size of the shortest keyword, in bytes. A shorter one is told to the searcher with each byte that
// may follow.
const keywordHead = 3

// wakeTarget is what a keyword of size bytes wakes: i is the number of a rule of the table, or of a detector, which are
// numbered behind these.
type wakeTarget struct{ i, size int }

// detector is a rule of our own: it is woken by a keyword in lower case, and looks at what stands around it.
type detector struct {
	rule     string
	keywords []string
	find     func(s *scanner, at window)
}

// load indexes the rules' keywords, and asks for what the machine knows to be secret.
func (s *ruleset) load() {
	s.once.Do(func() {
		s.ids, s.own = map[string]bool{"unsettled": true, "url-password": true, "discord-bot-token": true, KnownValue: true},
			detectors()
		s.table = slices.Concat(gitleaks, vendorRules())
		all := make([]waking, 0, 5000) // mostly of short keywords
		wakes := func(i int, rule string, keywords []string) {
			s.ids[rule] = true
			for _, k := range keywords {
				if t := (wakeTarget{i, len(k)}); len(k) >= keywordHead {
					all = append(all, waking{k, t})
				} else {
					all = appendLonger(all, k, t)
				}
			}
		}
		for i := range s.table {
			wakes(i, s.table[i].id, s.table[i].keywords)
		}
		for i, d := range s.own {
			wakes(len(s.table)+i, d.rule, d.keywords)
		}
		s.indexKeywords(all)
		if s.known = new(searcher); s.secrets != nil {
			s.known = newSearcher(slices.DeleteFunc(slices.Clone(s.secrets()), Ordinary), minValue)
			s.valueFilter = filterForValues(s.known.words)
		}
		if s.memory != nil { // whose values nobody knows
			s.valueFilter = &decodeFilter{least: minValue, bytes: bytesFrom(0)}
		}
	})
}

// waking is a keyword with one of those that it wakes.
type waking struct {
	word string
	wakeTarget
}

// appendLonger adds a keyword that is too short, with each byte that may follow.
func appendLonger(all []waking, keyword string, t wakeTarget) []waking {
	var text strings.Builder
	for c := range 256 {
		if !isUpper(byte(c)) && (c >= ' ' || c == '\n' || c == '\t') {
			text.WriteString(keyword)
			text.WriteByte(byte(c))
		}
	}
	for rest, size := text.String(), len(keyword)+1; rest != ""; rest = rest[size:] {
		all = append(all, waking{rest[:size], t})
	}
	return all
}

// indexKeywords makes the searcher of the keywords, and says by the number of each what it wakes. Each hook with a
// session pays for it.
func (s *ruleset) indexKeywords(all []waking) {
	slices.SortFunc(all, func(a, b waking) int { return cmp.Or(strings.Compare(a.word, b.word), a.i-b.i) })
	words, targets := make([]string, 0, len(all)), make([]wakeTarget, len(all))
	s.targets = make([][]wakeTarget, 0, len(all))
	for i, w := range all {
		targets[i] = w.wakeTarget
		if i > 0 && all[i-1].word == w.word {
			last := len(s.targets) - 1
			s.targets[last] = targets[i-len(s.targets[last]) : i+1]
			continue
		}
		words = append(words, w.word)
		s.targets = append(s.targets, targets[i:i+1])
	}
	if s.keywords = newSearcher(words, keywordHead); len(s.keywords.words) != len(s.targets) {
		panic("redact: a keyword is too short") // a mistake in a table, which each test finds
	}
}

// rule is one of gitleaks' configuration, or of a vendor's format.
type rule struct {
	id       string
	begins   matchStart
	regex    *lazy.Regexp
	entropy  float64     // which a secret has more of, in bits a byte; 0: any will do
	keywords []string    // lower case, ASCII
	allow    []allowlist // each of which makes a finding none
}

// matchStart is how a match of a rule begins.
type matchStart int

const (
	anywhere matchStart = iota // around the keyword
	withWord                   // with the keyword, which begins a word
	with                       // with the keyword
	named                      // with the keyword, the name of a vendor or a part of it, to which a value is given
)

// isNamed holds the rules that go by a name as well as by a form.
var isNamed = sync.OnceValue(func() map[string]bool { //nolint:gochecknoglobals // read-only
	out := map[string]bool{}
	for _, r := range slices.Concat(gitleaks, vendorRules()) {
		if r.begins == named {
			out[r.id] = true
		}
	}
	return out
})

// allowlist says which findings are none: regex matches, or one of the words stands in the secret. What asks for a
// path, a line or a commit is left out: there are none here.
type allowlist struct {
	inMatch bool // regex is asked of the match, else of the secret
	regex   *lazy.Regexp
	words   []string // lower case
}

const (
	// reachOfRule is how far from its keyword a match reaches, in bytes, but for tokens, which are at most longestToken.
	reachOfRule  = 256
	longestToken = 1 << 13
)

// runRule looks for what a rule finds at a keyword.
func (s *scanner) runRule(r *rule, i int, at window) {
	if r.begins == anywhere {
		if r.id == "kubernetes-secret-yaml" && !strings.Contains(s.low[max(0, at.lo-12):at.lo], "kind:") {
			return
		}
		s.searchLater(r.id, window{max(0, at.lo-reachOfRule), min(len(s.t), at.hi+reachOfRule)}, func(lo, hi int) {
			s.work += hi - lo
			for _, m := range r.regex.FindAllStringIndex(s.t[lo:hi], -1) {
				s.addMatch(r, lo+m[0], lo+m[1])
			}
		})
		return
	}
	if at.lo < s.done[i] || r.begins == withWord && at.lo > 0 && isWordByte(s.t[at.lo-1]) ||
		r.begins == named && !isAssignedTo(s.t, at.hi) {
		return
	}
	hi := min(len(s.t), at.hi+reachOfRule)
	for end := min(len(s.t), hi+longestToken); hi < end && s.t[hi] > ' '; {
		hi++
	}
	s.work += hi - at.lo
	if m := r.regex.FindStringIndex(s.t[at.lo:hi]); m != nil {
		s.done[i] = at.lo + m[1]
		s.addMatch(r, at.lo, at.lo+m[1])
	}
}

// isAssignedTo reports whether a sign with which gitleaks' rules have a name be given a value follows i, as near as
// they want it.
func isAssignedTo(t string, i int) bool {
	const most = 40 // bytes: the rest of the name
	end := min(len(t), i+most)
	for i < end && (isWordByte(t[i]) || strings.IndexByte(" \t.-", t[i]) >= 0) {
		i++
	}
	i = skip(t, i, "\"'` \t\n")
	return i < len(t) && strings.IndexByte("=:>|?,", t[i]) >= 0
}

// isIDOfVendor reports whether a named rule found an ID, a hash or a word, and no name before it says that it gives
// access.
func (s *scanner) isIDOfVendor(nameLo, lo, hi int) bool {
	v := s.t[lo:hi]
	if isInLockFileHash(s.t, lo) || isPlaceholder(v) || Wordy(v) && !hasDigit(v) {
		return true
	}
	name := s.t[runStart(s.t, nameLo, maxWordBefore, "_-."):lo]
	return (isHashOrID(v) || isUUID(v)) && !hasNameWord(name) && !strings.Contains(lower(name), "client") &&
		!strings.Contains(lower(name), "login")
}

// maxWordBefore is how much of a name before a vendor's is looked at, in bytes.
const maxWordBefore = 50

// addMatch notes what a rule found. It follows detectRule of gitleaks v8.30.1, but for "gitleaks:allow" comments, which
// are not heeded.
func (s *scanner) addMatch(r *rule, lo, hi int) {
	lo = skip(s.t, lo, "\n")
	match := strings.TrimRight(s.t[lo:max(lo, hi)], "\n")
	a, b := 0, len(match)
	if m := r.regex.FindStringSubmatchIndex(match); m != nil {
		a, b = firstGroup(m)
	}
	secret := match[a:b]
	if r.begins == named && s.isIDOfVendor(lo, lo+a, lo+b) ||
		a == 0 && r.begins != anywhere && !hasDigit(secret) && Wordy(secret) {
		return
	}
	if (r.entropy == 0 || entropy(secret) > r.entropy) && !isAllowed(allowedAnywhere, match, secret) &&
		!isAllowed(r.allow, match, secret) {
		s.out = append(s.out, span{lo: lo + a, hi: lo + b, rule: r.id, trigger: r.id})
	}
}

// firstGroup is where the first group of a match stands that is not empty; the match itself where none is.
func firstGroup(m []int) (lo, hi int) {
	for i := 2; i < len(m); i += 2 {
		if m[i] < m[i+1] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// isAllowed follows checkFindingAllowed of gitleaks v8.30.1 for a text without a path or a commit.
func isAllowed(by []allowlist, match, secret string) bool {
	return slices.ContainsFunc(by, func(a allowlist) bool {
		of := secret
		if a.inMatch {
			of = match
		}
		return a.regex != nil && of != "" && a.regex.MatchString(of) ||
			slices.ContainsFunc(a.words, func(w string) bool { return strings.Contains(lower(secret), w) })
	})
}

// entropy is Shannon's, in bits a byte, as gitleaks reckons it.
func entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var count [256]uint32
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 1 {
			sum += float64(n) * math.Log2(float64(n))
		}
	}
	return math.Log2(float64(len(s))) - sum/float64(len(s))
}
