package redact

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// span is the part of a text that a rule found.
type span struct {
	lo, hi  int
	rule    string
	value   string // as it reads with everything undone; "": as it stands
	trigger string // what made the rule look: a name, a prefix
}

// window is a part of a text.
type window struct{ lo, hi int }

// scanner looks for secrets in one reading of a text.
type scanner struct {
	*ruleset
	t, low string
	limit  int // beyond which no value can begin that is named in the part, nor end
	out    []span
	wide   map[string]*delayedSearch
	work   int // see ruleset

	// What was looked at already, so that no byte is looked at for each keyword around it.
	done     map[int]int      // by rule: the end of the last match
	key      int              // the end of the last private key
	cookie   int              // the end of the last header of cookies
	line     window           // from a name to its end
	seed     int              // the end of the last words of a wallet
	lastName int              // the end of the last name
	args     []window         // of the last command
	runs     [2]window        // the last values without quotes; the second began in ASCII
	joined   map[int]int      // by a separator in a value: the value's end
	grades   map[uint64]grade // by a value's place, and whether it is delimited
}

// scanAll looks for secrets in every text.
func (r *Redactor) scanAll(ctx context.Context, todo []*text, published map[string]bool) (*findings, error) {
	r.rules.load()
	spans := make([][]span, len(todo))
	err := eachText(ctx, todo, func(i int) (err error) {
		spans[i], err = r.rules.scanReadings(ctx, *todo[i].at)
		return err
	})
	if err != nil {
		return nil, err
	}
	f := &findings{Redactor: r, spans: map[*text][]span{}, values: map[string]string{}, published: published}
	for i, t := range todo {
		f.add(t, spans[i])
	}
	return f, nil
}

// scanReadings returns what the rules find in t as it stands, and as it reads with something undone. A rule that wants
// a quote or a word's beginning before a secret does not see it behind \" or \n, as in tool input or output that was
// quoted into a turn.
func (s *ruleset) scanReadings(ctx context.Context, t string) ([]span, error) {
	found, err := findInParts(ctx, t, readableBytes, func(r reading, part window) (out []span) {
		low := lower(r.text)
		for _, w := range r.changedLines(part) {
			out = append(out, s.scan(r.text, low, w)...)
		}
		for i := range out {
			out[i] = r.toText(out[i])
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	known, err := s.findKnownValues(ctx, t)
	return slices.DeleteFunc(append(found, known...), func(p span) bool {
		return slices.ContainsFunc(s.userAllow, func(re *regexp.Regexp) bool { return re.MatchString(t[p.lo:p.hi]) })
	}), err
}

// findKnownValues finds the values that the machine knows to be secret, and those that were found before, however t
// writes them.
func (s *ruleset) findKnownValues(ctx context.Context, t string) (out []span, err error) {
	if len(s.known.words) == 0 && s.memory == nil {
		return nil, nil
	}
	return findInParts(ctx, t, s.valueFilter, func(r reading, part window) (out []span) {
		s.known.each(r.text, part, func(w, at int) {
			if hi := at + len(s.known.words[w]); !insideNumber(r.text, at, hi) {
				out = append(out, r.toText(span{lo: at, hi: hi, rule: KnownValue, trigger: "known value"}))
			}
		})
		if s.memory != nil {
			for _, p := range s.memory.Find(r.text) {
				out = append(out, r.toText(span{lo: p.Lo, hi: p.Hi, rule: p.Rule, trigger: "remembered"}))
			}
		}
		return out
	})
}

// insideNumber reports whether a number of digits alone is part of a longer one.
func insideNumber(t string, lo, hi int) bool {
	return onlyDigits(t[lo:hi]) && (lo > 0 && isDigit(t[lo-1]) || hi < len(t) && isDigit(t[hi]))
}

// scan returns what the rules find in a part of t, of which low has small letters. Each looks at its keywords, and at
// most a fixed number of bytes around them, which may lie outside the part.
func (s *ruleset) scan(t, low string, part window) []span {
	const reach = 8*maxReach + longestValue + 1
	c := &scanner{
		ruleset: s, t: t, low: low, limit: min(len(t), part.hi+reach), work: part.hi - part.lo,
		done: map[int]int{}, wide: map[string]*delayedSearch{},
	}
	inside := markers(t, part, s.ids)
	s.keywords.each(low, part, func(w, at int) {
		for len(inside) > 0 && inside[0].hi <= at {
			inside = inside[1:]
		}
		if len(inside) > 0 && inside[0].lo <= at {
			return
		}
		for _, u := range s.targets[w] {
			if u.i < len(s.table) {
				c.runRule(&s.table[u.i], u.i, window{at, at + u.size})
			} else {
				s.own[u.i-len(s.table)].find(c, window{at, at + u.size})
			}
		}
	})
	for _, rule := range slices.Sorted(maps.Keys(c.wide)) {
		for _, w := range merge(c.wide[rule].windows) {
			c.wide[rule].look(runeStart(t, w.lo), runeStart(t, w.hi))
		}
	}
	c.findPrefixedTokens(part)
	c.findURLPasswords(part)
	c.findBotTokens(part)
	s.work.Add(int64(c.work))
	return c.out
}

// delayedSearch is where a rule looks of which the matches don't begin with a keyword: once all of these are known, so
// that no byte is looked at for each of them.
type delayedSearch struct {
	windows []window
	look    func(lo, hi int)
}

// searchLater has a rule search a window once all keywords are known.
func (s *scanner) searchLater(rule string, at window, look func(lo, hi int)) {
	w := s.wide[rule]
	if w == nil {
		w = &delayedSearch{look: look}
		s.wide[rule] = w
	}
	w.windows = append(w.windows, at)
}

// addFound notes what a detector found.
func (s *scanner) addFound(lo, hi int, rule string, at window) {
	if lo >= hi || isGeneric(rule) && (isInLockFileHash(s.t, lo) || inBlob(s.t, at)) {
		return
	}
	s.out = append(s.out, span{lo: lo, hi: hi, rule: rule, trigger: s.t[at.lo:at.hi]})
}

// lower is t with the letters of ASCII in lower case, so that each byte keeps its place.
func lower(t string) string {
	if !hasUpper(t) {
		return t
	}
	b := []byte(t)
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func lowerByte(c byte) byte { return lowerBytes[c] }

// lowerBytes is a table, as no processor foresees which letters of a token are capitals.
var lowerBytes = func() (out [256]byte) { //nolint:gochecknoglobals // read-only
	for c := range out {
		out[c] = byte(c)
		if isUpper(byte(c)) {
			out[c] += 'a' - 'A'
		}
	}
	return out
}()

// merge joins windows that touch.
func merge(in []window) []window {
	slices.SortFunc(in, func(a, b window) int { return a.lo - b.lo })
	out := in[:0]
	for _, w := range in {
		if n := len(out); n > 0 && w.lo <= out[n-1].hi {
			out[n-1].hi = max(out[n-1].hi, w.hi)
		} else {
			out = append(out, w)
		}
	}
	return out
}

// runeStart is the nearest start of a rune at or before i, within t.
func runeStart(t string, i int) int {
	for i > 0 && i < len(t) && !utf8.RuneStart(t[i]) {
		i--
	}
	return i
}

// lineOf is the line around a part of a text, at most so many bytes on each side.
func lineOf(t string, lo, hi, reach int) window {
	from, to := max(0, lo-reach), min(len(t), hi+reach)
	from += strings.LastIndexByte(t[from:lo], '\n') + 1
	if n := strings.IndexByte(t[hi:to], '\n'); n >= 0 {
		to = hi + n
	}
	return window{from, to}
}

// isInLockFileHash reports whether what stands at i is a hash of a lock file, or within one: a hash may stand behind
// the name of a package such as "oauth2" or "api", and hold a name by chance.
func isInLockFileHash(t string, i int) bool {
	const longest = 128 // SHA-512 in hexadecimal digits
	return isHashAt(t, i) || isHashAt(t, runStart(t, i, longest, "-_"))
}

// runStart is where a run of base64 or one of some more signs begins before i, at most so many bytes.
func runStart(t string, i, most int, more string) int {
	from := i
	for from > 0 && i-from < most && (isBase64Byte(t[from-1]) || strings.IndexByte(more, t[from-1]) >= 0) {
		from--
	}
	return from
}

// isHashAt reports whether the name of a kind of hash, and a sign, end at i or begin there.
func isHashAt(t string, i int) bool {
	if n := strings.IndexAny(t[i:min(len(t), i+8)], ":=-"); n > 0 {
		i += n + 1
	}
	before := strings.TrimRight(t[max(0, i-16):i], " `\"'\\")
	n := len(before) - 1
	return n > 0 && strings.IndexByte(":=-", before[n]) >= 0 && isDigit(before[n-1]) && sumName.MatchString(before[:n])
}

var sumName = lazy.Expr(`(?i)(?:h1|md5|sha(?:1|256|384|512))$`)

// inBlob reports whether a keyword stands by chance in what base64 made of something: in a run of 100 letters and more.
func inBlob(t string, at window) bool {
	const least = 100
	lo, hi := runStart(t, at.lo, least, ""), at.hi
	for hi < len(t) && hi-at.hi < least && isBase64Byte(t[hi]) {
		hi++
	}
	return hi-lo >= least && min(at.lo-lo, hi-at.hi) > readableBytes.least
}
