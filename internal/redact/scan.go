package redact

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

const (
	spaces = "\t\n\v\f\r "
	// margin is how far from a keyword a match reaches, in bytes, but for what has no white space.
	margin = 256
	// longRun is how far a window follows a stretch without white space, in bytes,
	// before it takes in the whole text. It bounds the work on texts that are one
	// long word full of keywords.
	longRun = 1 << 10
)

// span is the part of a text that a rule found.
type span struct {
	lo, hi int
	rule   string
	value  string // as it reads with everything undone; "": as it stands
	// trigger is what made the rule look: a name, a prefix.
	trigger string
}

// window is a part of a text that a rule has to look at.
type window struct{ lo, hi int }

// scanAll looks for secrets in every text.
func (r *Redactor) scanAll(ctx context.Context, todo []*text, public map[string]bool) (*findings, error) {
	r.rules.load()
	spans := make([][]span, len(todo))
	err := each(ctx, todo, func(i int) error {
		spans[i] = r.rules.scanForms(*todo[i].at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	f := &findings{spans: map[*string][]span{}, values: map[string]string{}, ids: r.rules.ids, memory: r.memory, public: public, allow: r.rules.allows}
	for i, t := range todo {
		f.add(t, spans[i])
	}
	return f, nil
}

// scan returns what the rules find in t, in the order of the rules.
//
// A rule looks only at windows around its keywords, wide enough for any of its matches. A match that overlaps a window holds
// a keyword itself, so the window holds all of it: the windows give exactly what the whole text would.
func (s *ruleset) scan(t string) []span {
	out := s.known.scan(t)
	if s.memory != nil {
		for _, p := range s.memory.Find(t) {
			out = append(out, span{lo: p.Lo, hi: p.Hi, rule: p.Rule, trigger: "remembered"})
		}
	}
	hits := s.wake(t)
	if len(hits) == 0 {
		return out
	}
	for i := range s.rules {
		at := hits[i]
		if len(at) == 0 {
			continue
		}
		r := s.rule(i)
		wide := []window{{0, len(t)}}
		if !looksAtAll(r.id) {
			wide = windows(t, at)
		}
		for _, w := range wide {
			out = s.match(out, t, w, r)
		}
	}
	return s.detect(out, t, hits)
}

// detect appends what the detectors of our own find at their keywords.
func (s *ruleset) detect(out []span, t string, hits map[int][]window) []span {
	for i, d := range s.own {
		broad := strings.HasPrefix(d.id, "generic")
		for _, at := range hits[len(s.rules)+i] {
			if inMarker(t, at.lo) {
				continue
			}
			for _, f := range d.find(t, at) {
				if broad && isSum(t, f.lo) || inBlob(t, at) {
					continue
				}
				out = append(out, span{lo: f.lo, hi: f.hi, rule: d.id, trigger: t[at.lo:at.hi]})
				if n := firstPiece(t, f.lo, f.hi); n < f.hi && broad {
					out = append(out, span{lo: f.lo, hi: n, rule: d.id, trigger: t[at.lo:at.hi]})
				}
			}
		}
	}
	return out
}

// inMarker reports whether what stands at i is a part of a marker.
func inMarker(t string, i int) bool {
	before := t[max(0, i-40):i]
	return strings.LastIndex(before, "[REDACTED:") > strings.LastIndexByte(before, ']')
}

// wake returns, by rule, where its keywords stand in t.
func (s *ruleset) wake(t string) map[int][]window {
	hits := map[int][]window{}
	low := lower(t)
	s.keywords.each(low, func(n int, at window) {
		for _, i := range s.keywords.users[n] {
			if i >= len(s.rules) || s.rules[i].quick.passes(low, at) {
				hits[i] = append(hits[i], at)
			}
		}
	})
	return hits
}

// lower is t with the letters of ASCII in lower case. Others that fold to them are made plain before (see narrow).
func lower(t string) []byte {
	b := []byte(t)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// windows are the parts of t, in order and apart, around the keywords at hits: so much on each side that they hold every match of a
// rule, and what stands there without white space, however long it is.
func windows(t string, hits []window) []window {
	out := make([]window, 0, len(hits))
	for _, h := range hits {
		lo, hi := h.lo-margin, h.hi+margin
		a, b := before(t, lo), after(t, hi)
		if lo-a >= longRun || b-hi >= longRun {
			return []window{{0, len(t)}}
		}
		out = append(out, window{runeStart(t, a-utf8.UTFMax), runeStart(t, b+utf8.UTFMax)}) // one rune more, for assertions such as \b
	}
	return merge(out)
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

// before is the end of the last white space before i, at most longRun bytes back.
func before(t string, i int) int {
	i = max(i, 0)
	from := max(i-longRun, 0)
	if n := strings.LastIndexAny(t[from:i], spaces); n >= 0 {
		return from + n
	}
	return from
}

// after is the first white space from i on, at most longRun bytes ahead.
func after(t string, i int) int {
	i = min(i, len(t))
	to := min(i+longRun, len(t))
	if n := strings.IndexAny(t[i:to], spaces); n >= 0 {
		return i + n
	}
	return to
}

// runeStart is the nearest start of a rune at or before i, within t.
func runeStart(t string, i int) int {
	i = min(max(i, 0), len(t))
	for i > 0 && i < len(t) && !utf8.RuneStart(t[i]) {
		i--
	}
	return i
}

// match appends what r finds in the window w of t. It follows detectRule of gitleaks
// v8.30.1, but for "gitleaks:allow" comments, which are not heeded.
func (s *ruleset) match(out []span, t string, w window, r *rule) []span {
	for _, m := range r.compiled.FindAllStringIndex(t[w.lo:w.hi], -1) {
		lo := skip(t, w.lo+m[0], "\n")
		hi := lo + len(strings.TrimRight(t[lo:max(lo, w.lo+m[1])], "\n"))
		a, b := secretIn(r, t[lo:hi])
		c := candidate{secret: t[lo+a : lo+b], match: t[lo:hi], line: lineAround(t, lo, hi)}
		if r.entropy != 0 && entropy(c.secret) <= r.entropy {
			continue
		}
		if c.allowed(s.allowed()) || c.allowed(r.excuses) || anywhere(r.id) && lookOf(c.secret, true) < marked ||
			strings.HasPrefix(r.id, "generic") && (isSum(t, lo+a) || plainForm.MatchString(c.secret) || ofCodeItself(c.secret)) {
			continue
		}
		out = append(out, span{lo: lo + a, hi: lo + b, rule: r.id, trigger: r.id})
	}
	return out
}

// isSum reports whether what stands at i is a sum of a lock file, or within one: it may stand behind
// the name of a package such as "oauth2" or "api", and hold a name by chance.
func isSum(t string, i int) bool {
	from := i
	for from > 0 && i-from < longestSum && (alnumeric(t[from-1]) || strings.IndexByte("+/=-_", t[from-1]) >= 0) {
		from--
	}
	return sumAt(t, i) || sumAt(t, from)
}

// inBlob reports whether a keyword stands by chance in what base64 made of something: in a run of 100
// letters and more.
func inBlob(t string, at window) bool {
	lo, hi := at.lo, at.hi
	for lo > 0 && at.lo-lo < minBlob && inBase64(t[lo-1]) {
		lo--
	}
	for hi < len(t) && hi-at.hi < minBlob && inBase64(t[hi]) {
		hi++
	}
	return hi-lo >= minBlob && at.lo-lo > minEncoded && hi-at.hi > minEncoded && strings.Trim(t[at.lo:at.hi], base64Signs) == ""
}

const (
	minBlob     = 100
	base64Signs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/="
)

// longestSum is SHA-512 in hexadecimal digits.
const longestSum = 128

func sumAt(t string, i int) bool {
	from := max(0, i-16)
	m := sum.FindStringIndex(t[from:min(len(t), i+8)])
	return m != nil && from+m[0] <= i && from+m[1] >= i
}

// sum is the kind of a sum that follows.
var sum = lazy.Expr("(?i)(?:h1|md5|sha\\d{1,3})[:=-][ `\"'\\\\]*")

// anywhere names a rule that gitleaks asks of .tf files alone, and that takes any string that is
// given to a password. Here no file is known, so words that code gives to one are left.
func anywhere(rule string) bool { return rule == "hashicorp-tf-password" }

// secretIn is where the secret stands within a match: the rule's group, else the first
// group that is not empty, else all of it.
func secretIn(r *rule, match string) (int, int) {
	g := r.compiled.FindStringSubmatchIndex(match)
	for i := 1; 2*i+1 < len(g); i++ {
		wanted := r.group == 0 || r.group == i
		if wanted && g[2*i] >= 0 && g[2*i] < g[2*i+1] {
			return g[2*i], g[2*i+1]
		}
	}
	return 0, len(match)
}

func lineAround(t string, lo, hi int) string {
	from := strings.LastIndexByte(t[:lo], '\n') + 1
	if n := strings.IndexByte(t[hi:], '\n'); n >= 0 {
		return t[from : hi+n]
	}
	return t[from:]
}

// candidate is a match that an allowlist may still excuse.
type candidate struct{ secret, match, line string }

// allowed follows checkFindingAllowed of gitleaks v8.30.1 for a text without a path or
// a commit.
func (c candidate) allowed(by []excuse) bool {
	return slices.ContainsFunc(by, func(e excuse) bool { return e.holds(c) })
}

func (e excuse) holds(c candidate) bool {
	of := c.secret
	switch e.target {
	case "match":
		of = c.match
	case "line":
		of = c.line
	}
	named := of != "" && e.regex != "" && e.compiled.MatchString(of)
	if !named {
		e.words.each(lower(c.secret), func(int, window) { named = true })
	}
	return named
}

// entropy is Shannon's, in bits a byte, as gitleaks reckons it.
func entropy(s string) float64 {
	count := map[rune]int{}
	for _, c := range s {
		count[c]++
	}
	runes := make([]int, 0, len(count))
	for _, n := range count {
		runes = append(runes, n)
	}
	slices.Sort(runes) // a fixed order of summing: the same answer each time
	var bits float64
	for _, n := range runes {
		p := float64(n) / float64(len(s))
		bits -= p * math.Log2(p)
	}
	return bits
}
