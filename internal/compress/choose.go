package compress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/tokens"
)

// How much of a line is shown, in characters: of any, and of one that explains another, or of any where not everything
// fits.
const (
	longestShown  = 300
	longestDetail = 160
)

// What is shown besides what matters: a share of the input's bytes, and never less than so many.
const (
	share      = 0.06
	leastBytes = 250
)

// piece is something that may stand in the result.
type piece struct {
	seq   int
	text  string
	mute  int      // see entry
	rank  int      // the smaller, the sooner
	mark  []string // of a mark, what it names; it stands behind the line with that seq
	needs int      // seq of the line without which it makes no sense; -1 for none
	free  bool
}

// The ranks. Right behind each come the marks of what is folded, the first of every kind of finding before the second
// of any.
const (
	rankTotal   = 1
	rankFailure = 1000 * iota
	rankFault
	rankTrivial
	rankAsked
	rankLandmark
	rankWarning
	rankReason // the lines right behind a failure
	rankEnds
	rankDetail
)

// result chooses and prints.
func (k *keeper) result(opt Options, size int64) Result {
	k.endRun()
	r := Result{Lines: k.seq, Bytes: size}
	for _, g := range k.groups {
		switch g.kind {
		case failure:
			r.Failed += g.n
		case fault, trivial:
			r.Errors += g.n
		}
	}
	r.Tests = k.tests || r.Failed > 0
	if k.seq <= smallLines && (size <= smallBytes || size <= smallFailed && r.Failed+r.Errors > 0) {
		if r.Text = strings.TrimRight(k.small, "\n"); r.Text != "" {
			r.Text += "\n"
		}
		if r.Shown = strings.Count(r.Text, "\n"); tokens.Count(r.Text) <= opt.Budget {
			return r.withTerms()
		}
	}
	free := max(leastBytes, int(share*float64(size)))
	if left := k.fitBudget(&r, opt, free); left < rankAsked {
		k.overBudget = true
		k.fitBudget(&r, opt, free)
	}
	return r.withTerms()
}

// pieces lists what may be shown; where it is tight, of each group one line whole, and of each line its beginning.
func (k *keeper) pieces() []piece {
	var out []piece
	ranks, longest := map[kind]int{
		failure: rankFailure, fault: rankFault, trivial: rankTrivial, landmark: rankLandmark, warning: rankWarning,
	}, longestShown
	if k.overBudget {
		longest = longestDetail
	}
	add := func(e entry, rank int, free bool) {
		out = append(out, piece{seq: e.seq, text: truncate(e.text, longest), mute: e.mute, rank: rank, needs: -1, free: free})
	}
	for _, e := range k.totals {
		add(e, rankTotal, false)
	}
	for _, g := range k.groups {
		rank := ranks[g.kind]
		whole := len(g.members)
		if k.overBudget || g.kind < fault && len(g.extra) > 0 {
			whole = 1
		}
		for _, m := range g.members[:whole] {
			add(m.entry, rank, false)
			if m.heading != nil {
				add(*m.heading, rank, false)
			}
			for _, d := range m.details {
				detail := piece{seq: d.seq, text: truncate(d.text, longestDetail), mute: d.mute, rank: rankReason, needs: m.seq}
				// the first lines behind each failure come before further ones of any
				if g.kind < fault || d.depth > 4 && !saysValue(d.text) && !isPythonFrame(strings.TrimLeft(d.text, " |")) {
					detail.rank, detail.free = rankDetail+d.depth, true
				}
				out = append(out, detail)
			}
		}
		out = append(out, g.foldMarks(rank, whole)...)
	}
	for _, e := range k.asked {
		add(e, rankAsked, true)
	}
	for i, e := range k.headAndTail() {
		if i == 0 && len(k.totals) == 0 { // what a tool says last is what came of it
			add(e, rankTotal, false)
		}
		add(e, rankEnds+i/4, true)
	}
	return out
}

// saysValue reports whether a line that explains a failure is the value of an assertion: a line of a diff of what was
// wanted and what came, which pytest has behind an E, or either of both under its name.
func saysValue(text string) bool {
	text = strings.TrimLeft(strings.TrimPrefix(text, "E "), " \t|")
	if len(text) > 1 && (text[0] == '-' || text[0] == '+') && (text[1] == ' ' || text[1] == '\t') {
		return hasContent(text)
	}
	name, _, found := strings.Cut(strings.ToLower(text), ":")
	return found && slices.Contains(valueNames, strings.TrimSpace(name))
}

// valueNames are what runners of tests call both sides of an assertion.
var valueNames = []string{"expected", "actual", "received", "got", "want", "wanted", "left", "right", "but was"} //nolint:gochecknoglobals // read-only

// headAndTail are the first and last lines, the last first.
func (k *keeper) headAndTail() (out []entry) {
	for i := range min(tailLines, k.ends) {
		out = append(out, k.tail[(k.ends-1-i)%tailLines])
	}
	for _, e := range k.head {
		if !isLibrary(e.text) {
			out = append(out, e)
		}
	}
	return out
}

// foldMarks are marks that name the lines of a group that are not shown whole, some in each mark.
func (g *group) foldMarks(rank, whole int) (out []piece) {
	final, first := g.members[whole-1], g.members[0].text
	var extra []foldedLine
	for _, m := range g.members[whole:] {
		extra = append(extra, foldedLine{m.heading, differingPart(first, m.text)})
	}
	extra = append(extra, g.extra...)
	var part []string
	size, under := 0, final.heading
	for i, e := range extra {
		e.differs = truncate(e.differs, longestShown)
		size += len(e.differs)
		if e.heading != nil && e.heading != under {
			under, e.differs = e.heading, strings.TrimSpace(e.heading.text)+" "+e.differs
		}
		if part = append(part, e.differs); len(part) == 16 || size > 600 || i == len(extra)-1 {
			out = append(out, piece{
				seq: final.seq, text: foldMark(part), rank: rank + 1 + len(out), mark: part,
				needs: final.seq,
			})
			part, size, under = nil, 0, nil // each mark may stand without those before
		}
	}
	return out
}

func foldMark(items []string) string {
	return "… " + session.Counted(len(items), "line") + " like it: " + braced(items)
}

// braced joins texts, with what they begin and end with alike said once: "src/{a, b}.ts".
func braced(items []string) string {
	head, tail := items[0], items[0]
	for _, s := range items {
		for !strings.HasPrefix(s, head) {
			head = head[:len(head)-1]
		}
		for !strings.HasSuffix(s, tail) {
			tail = tail[1:]
		}
	}
	short := len(slices.MinFunc(items, func(a, b string) int { return len(a) - len(b) }))
	head = strings.TrimRight(strings.ToValidUTF8(head, ""), "0123456789") // a number stays whole
	tail = strings.TrimLeft(tail, "0123456789")
	for len(tail) > 0 && (!utf8.RuneStart(tail[0]) || len(head)+len(tail) > short) {
		tail = tail[1:]
	}
	if len(items) == 1 || len(head)+len(tail) < 4 {
		return strings.Join(items, "; ")
	}
	middle := make([]string, len(items))
	for i, s := range items {
		middle[i] = s[len(head) : len(s)-len(tail)]
	}
	return head + "{" + strings.Join(middle, ", ") + "}" + tail
}

// fitBudget fills in what fits the budget, and tells the rank of the first that does not. Marks between what was chosen
// weigh, too.
func (k *keeper) fitBudget(r *Result, opt Options, free int) (left int) {
	pieces := k.pieces()
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.seq, b.seq))
	})
	for over, room := 1, opt.Budget; over > 0 && room > 0; room -= over {
		var chosen []piece
		chosen, left = chooseWithin(pieces, room, free)
		r.Text, r.Shown = k.print(chosen)
		over = tokens.Count(r.Text) - opt.Budget
	}
	return left
}

// chooseWithin takes pieces by rank while there is room. It takes free pieces only up to free bytes of all, and an
// explaining piece only if no other piece says the same. left is the rank of the first piece for which there is no
// room.
func chooseWithin(pieces []piece, room, free int) (out []piece, left int) {
	taken, told := map[int]bool{}, map[string]bool{}
	bytes, left := 0, rankDetail
	for _, p := range pieces {
		if p.mark == nil && taken[p.seq] || p.needs >= 0 && (!taken[p.needs] || p.mark == nil && told[p.text]) ||
			p.free && bytes+len(p.text) > free {
			continue
		}
		cost := tokens.Count(p.text) + 1
		for cost > room && len(p.mark) > 1 { // the half of it may
			left = min(left, p.rank)
			p.mark = p.mark[:len(p.mark)/2]
			p.text = foldMark(p.mark)
			cost = tokens.Count(p.text) + 1
		}
		if cost > room {
			left = min(left, p.rank)
			continue
		}
		room -= cost
		bytes += len(p.text) + 1
		taken[p.seq], told[p.text] = true, true
		out = append(out, p)
	}
	return out, left
}

// print puts the pieces in their order, with a mark for each gap; where it is tight, one for all.
func (k *keeper) print(chosen []piece) (text string, shown int) {
	pieces := slices.Clone(chosen)
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.seq, b.seq) })
	var b strings.Builder
	next := 0
	for _, p := range pieces {
		if p.mark == nil {
			if !k.overBudget {
				k.writeGap(&b, next, p.seq, p.mute)
				next = p.seq
			}
			next++
			shown++
		}
		b.WriteString(p.text)
		b.WriteByte('\n')
	}
	k.writeGap(&b, next, k.seq, k.mute)
	return b.String(), shown
}

// leastAlike is how many lines are worth saying what they are like.
const leastAlike = 10

// writeGap writes how many lines are left out, and what most of them are like. The last mute lines carry no
// information: if no other line is left out, it writes nothing.
func (k *keeper) writeGap(b *strings.Builder, from, to, mute int) {
	if to-from <= mute {
		return
	}
	b.WriteString("… " + session.Counted(to-from, "line"))
	var most similarRun
	for _, r := range k.runs {
		if n := min(to, r.from+r.n) - max(from, r.from); n > most.n {
			most = r
			most.n = n
		}
	}
	if most.n >= leastAlike && 2*most.n > to-from && most.text != "" {
		fmt.Fprintf(b, " like %q", most.text)
	}
	b.WriteByte('\n')
}

// commonBeginning is the beginning of a line, up to what differs; "" where that is nothing but a bracket.
func commonBeginning(text string) string {
	var out []string
	for i, w := range strings.Fields(text) {
		if strings.ContainsAny(w, "0123456789/") && i > 0 {
			break
		}
		out = append(out, w)
	}
	s := strings.TrimSuffix(truncate(strings.Join(out, " "), 40), "…")
	if strings.Trim(s, "[(- ") == "" {
		return ""
	}
	return s + " …"
}

// truncate leaves the first characters of a line, and an ellipsis where it had more.
func truncate(text string, longest int) string {
	if len(text) <= longest || utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest]) + "…"
}
