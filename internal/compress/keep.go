package compress

import (
	"strings"
	"unicode"
)

// What is kept at most until the end, whatever the length of the input. A result has some 8 KB, so this is plenty.
const (
	maxGroups   = 2000
	maxBytes    = 512 << 10 // of all lines together
	maxDetails  = 40        // lines that explain one head
	maxRuns     = 5000
	headLines   = 5
	tailLines   = 10
	maxAsked    = 200 // lines that speak of the instruction
	maxTotals   = 12
	smallLines  = 20 // an output of so many and so many bytes stays whole
	smallBytes  = 600
	smallFailed = 1000 // the same with failures and errors
)

// entry is a line that may be shown.
type entry struct {
	seq     int
	text    string
	mute    int  // lines right before it that say nothing
	hasText bool // it says something
	depth   int  // of a detail: how far it stands behind its head
}

// withOwnText is an entry whose text is its own; see blockSize.
func withOwnText(e entry) entry {
	e.text = strings.Clone(e.text)
	return e
}

// group is lines of one kind and form.
type group struct {
	kind    kind
	members []groupLine
	n       int          // lines, members and all
	extra   []foldedLine // the lines beyond the members
	texts   map[uint64]bool
}

// groupLine is a line of a group with what belongs to it.
type groupLine struct {
	entry
	heading *entry
	details []entry
}

// foldedLine is a line of which only what differs from the first of its group is kept.
type foldedLine struct {
	heading *entry
	differs string
}

// similarRun is lines of one shape that follow each other.
type similarRun struct {
	from, n int
	text    string // the first; of one that ended, what commonBeginning leaves of it
	shape   uint64
}

// keeper holds what matters of the lines so far.
type keeper struct {
	seq        int // of the next line
	mute       int // lines right before it that say nothing
	bytes      int // kept
	groups     []*group
	byForm     map[uint64]*group
	at         *groupLine // whose details follow; nil: nobody's
	inDetails  bool       // the line before is at, or explains it
	heading    *entry
	head       []entry
	tail       [tailLines]entry // a ring
	ends       int              // lines that went through it
	small      string           // all lines, while there are few
	asked      []entry
	totals     []entry
	tests      bool // a tool of tests gave a sum
	overBudget bool // not everything that matters fits
	now        similarRun
	runs       []similarRun // that ended
}

func newKeeper() keeper { return keeper{byForm: map[uint64]*group{}} }

// add takes in a line.
func (k *keeper) add(text string, lineKind kind, s scanned) {
	e := entry{seq: k.seq, text: text, mute: k.mute, hasText: s.hasText && (!s.needsClean || hasContent(text))}
	k.seq++
	if k.mute++; e.hasText {
		k.mute = 0
	}
	k.keepEndsAndRuns(e, s)
	if s.signals&saysAsked != 0 && len(k.asked) < maxAsked && k.reserveBytes(text) {
		k.asked = append(k.asked, withOwnText(e))
	}
	k.addOfKind(e, lineKind)
}

// addOfKind keeps a line by its kind.
func (k *keeper) addOfKind(e entry, lineKind kind) {
	switch lineKind {
	case noise:
	case ordinary:
		k.at = nil
	case detail:
		k.addDetail(e)
	case heading:
		h := withOwnText(e)
		k.heading, k.at = &h, nil
	case total:
		k.at = nil
		if k.totals = append(k.totals, withOwnText(e)); len(k.totals) > maxTotals {
			k.totals = append(k.totals[:1], k.totals[2:]...)
		}
	default:
		k.group(e, lineKind)
	}
	k.inDetails = k.at != nil && (lineKind != noise || k.inDetails && !e.hasText)
}

// keepEndsAndRuns keeps the beginning, the end, and runs of lines that are alike.
func (k *keeper) keepEndsAndRuns(e entry, s scanned) {
	if e.text != "" {
		if len(k.head) < headLines {
			k.head = append(k.head, withOwnText(e))
		}
		k.tail[k.ends%tailLines] = e
		k.ends++
	}
	if k.seq <= smallLines {
		k.small += truncate(e.text, longestShown) + "\n"
	}
	if k.now.n > 0 && k.now.shape == s.shape {
		k.now.n++
		return
	}
	k.endRun()
	k.now = similarRun{e.seq, 1, e.text, s.shape}
}

// endRun keeps what the lines of a run are like, if there are enough of them.
func (k *keeper) endRun() {
	if k.now.n >= leastAlike && len(k.runs) < maxRuns {
		k.now.text = strings.Clone(commonBeginning(k.now.text))
		k.runs = append(k.runs, k.now)
	}
}

func (k *keeper) reserveBytes(text string) bool {
	if k.bytes+len(text) > maxBytes {
		return false
	}
	k.bytes += len(text)
	return true
}

// addDetail adds a detail to the head before it, unless it says nothing: an underline, a closing brace.
func (k *keeper) addDetail(e entry) {
	if k.at == nil || !e.hasText || len(k.at.details) == maxDetails || !k.reserveBytes(e.text) {
		return
	}
	e.depth = len(k.at.details) + 1
	k.at.details = append(k.at.details, withOwnText(e))
}

// hasContent reports whether a line is more than decoration: one of signs, with a letter or digit among eight at most,
// does not.
func hasContent(text string) bool {
	letters, signs := 0, 0
	for i := range len(text) {
		if kind := classes[text[i]]; kind == letterByte || kind == digitByte {
			if letters++; 7*letters > len(text) {
				return true // whatever the rest is
			}
		}
	}
	letters = 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			letters++
		case r != ' ' && r != '\t':
			signs++
		}
	}
	return 7*letters > signs
}

// keptLinesPerGroup is how many lines of a group are kept as they are; of the rest stands what differs.
func keptLinesPerGroup(lineKind kind) int {
	switch lineKind {
	case failure:
		return 30
	case fault:
		return 6
	}
	return 3
}

// group adds a line to those of its form.
func (k *keeper) group(e entry, lineKind kind) {
	key := (formHash(e.text) ^ uint64(lineKind)) * hashPrime
	g := k.byForm[key]
	k.at = nil
	if g == nil {
		if len(k.groups) == maxGroups || !k.reserveBytes(e.text) {
			return
		}
		g = &group{kind: lineKind, texts: map[uint64]bool{}}
		k.byForm[key] = g
		k.groups = append(k.groups, g)
	}
	g.n++
	sum := mixText(hashStart, e.text)
	if k.heading != nil {
		sum ^= mixText(0, k.heading.text)
	}
	switch {
	case g.texts[sum]: // it stands there
		if strings.HasPrefix(e.text, pythonTrace) { // but other frames follow
			k.at = &g.members[len(g.members)-1]
		}
	case len(g.members) < keptLinesPerGroup(lineKind) && k.reserveBytes(e.text):
		g.members = append(g.members, groupLine{entry: withOwnText(e), heading: k.heading})
		k.at = &g.members[len(g.members)-1]
		g.texts[sum] = true
	default:
		k.fold(g, e.text, sum)
	}
}

// nextWord is the first word of a text, and whether it names something: it has a digit, a slash or quotes. What stands
// in quotes is part of the word; an apostrophe is no quote.
func nextWord(text string) (first string, names bool, rest string) {
	for text != "" && classes[text[0]] == spaceByte {
		text = text[1:]
	}
	n := 0
	for n < len(text) && classes[text[n]] != spaceByte {
		c, closing := text[n], text[n:n+1]
		n++
		names = names || classes[c]&(digitByte|slashByte) != 0
		switch {
		case c != '\'' && c != '"' && c != '`' && c != 0xe2, n > 1 && wordByte(text[n-2]):
			continue
		case strings.HasPrefix(text[n-1:], "‘"):
			closing = "’"
		case strings.HasPrefix(text[n-1:], "“"):
			closing = "”"
		case c == 0xe2:
			continue
		}
		if end := strings.Index(text[n:], closing); end >= 0 {
			n, names = n+end+len(closing), true
		}
	}
	return text[:n], names, text[n:]
}

// formHash is equal for findings of one kind: they differ in words that name something only.
func formHash(text string) uint64 {
	h := uint64(hashStart)
	for w, names, rest := nextWord(text); w != ""; w, names, rest = nextWord(rest) {
		if !names && (w[0] < 0x80 || hasContent(w)) { // or it is a rule, of any length
			h = mixText(h, w)
		}
		h *= hashPrime
	}
	return h
}

// splitWords are the words of a text.
func splitWords(text string) (out []string) {
	for w, _, rest := nextWord(text); w != ""; w, _, rest = nextWord(rest) {
		out = append(out, w)
	}
	return out
}

// fold keeps of a line what differs from the first of its group.
func (k *keeper) fold(g *group, text string, sum uint64) {
	if len(g.texts) > maxGroups || k.bytes == maxBytes {
		return
	}
	differs := differingPart(g.members[0].text, text)
	if !k.reserveBytes(differs) {
		k.bytes = maxBytes // there will hardly be room for another
		return
	}
	g.texts[sum] = true
	g.extra = append(g.extra, foldedLine{k.heading, differs})
}

// differingPart is the words of text that differ from the words of first. If no word differs, because only the heading
// does, it is the first word.
func differingPart(first, text string) string {
	had := splitWords(first)
	var out []string
	for i, w := range splitWords(text) {
		if _, names, _ := nextWord(w); (i >= len(had) || had[i] != w) && (names || hasContent(w)) {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		out = strings.Fields(text)[:1]
	}
	return strings.Clone(strings.Join(out, " ")) // of one word Join gives that
}
