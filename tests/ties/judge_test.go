package ties

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// figures count lines at the end of histories.
type figures struct {
	asked                      int // equal to what a session wrote, white space aside
	first, later, wrong, empty int // of these: whether that session was named
	// asked and not counted besides: git's blame gives the line to a commit that did not bring it
	slid                      int
	exact, misled             int // lines that are said to be exactly a session's: rightly, or not
	others, exactly, inferred int // lines of a person or of nobody, and of these: those that a session claims
}

func (f *figures) add(g figures) {
	*f = figures{
		f.asked + g.asked, f.first + g.first, f.later + g.later, f.wrong + g.wrong, f.empty + g.empty, f.slid + g.slid,
		f.exact + g.exact, f.misled + g.misled, f.others + g.others, f.exactly + g.exactly, f.inferred + g.inferred,
	}
}

func share(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// right and fooled are the shares that count, in per cent.
func (f *figures) right() float64  { return share(f.first, f.asked-f.slid) }
func (f *figures) fooled() float64 { return share(f.misled, f.exact+f.misled) }

func (f *figures) String() string {
	return fmt.Sprintf("%6d %6.2f%% %6d %6d %6d %6d %6d %7d %6d %7d %7d %8d",
		f.asked, f.right(), f.first, f.later, f.wrong, f.empty, f.slid, f.exact, f.misled, f.others, f.exactly, f.inferred)
}

// tables are figures by what histories have in common.
type tables struct {
	mu sync.Mutex
	by map[string]*figures

	commits int      // of which it is known who alone stands behind them
	wrong   []string // what was said wrongly of these
	helped  helped
	living  living
}

func (t *tables) addLiving(l living) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.living = living{t.living.asked + l.asked, t.living.followed + l.followed}
}

func (t *tables) addHelped(h helped) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.helped = helped{t.helped.commits + h.commits, t.helped.missing + h.missing, t.helped.wrong + h.wrong}
}

func (t *tables) addCommits(asked int, wrong []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.commits, t.wrong = t.commits+asked, append(t.wrong, wrong...)
}

func (t *tables) add(label string, g figures) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by[label] == nil {
		t.by[label] = &figures{}
	}
	t.by[label].add(g)
}

func (t *tables) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %6s %7s %6s %6s %6s %6s %6s %7s %6s %7s %7s %8s\n", "", "asked", "right", "first", "later",
		"wrong", "empty", "slid",
		"exact", "wrong", "others", "exact", "inferred")
	// what is no kind comes last
	rank := func(label string) int { return (slices.Index(kinds, label) + len(kinds)) % len(kinds) }
	for _, label := range slices.SortedFunc(maps.Keys(t.by),
		func(x, y string) int { return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x, y)) }) {
		fmt.Fprintf(&b, "%-22s %s\n", label, t.by[label])
	}
	return b.String()
}

// named is what `why` says of one line: the sessions, the first first, and those that are exact.
type named struct{ all, exact []string }

// why asks for all lines of a file; sessions are named by the agent's own IDs.
func (a *author) why(path string, native map[string]string) []named {
	a.T.Helper()
	answer := gjson.ParseBytes(a.asks("why", path))
	lines := make([]named, len(a.lines(path))+1)
	for _, r := range answer.Get("results").Array() {
		id := native[r.Get("id").Str]
		each(r.Get("explains.ranges"), func(n int) { lines[n].all = append(lines[n].all, id) })
		each(r.Get("explains.exact"), func(n int) { lines[n].exact = append(lines[n].exact, id) })
	}
	return lines
}

func each(ranges gjson.Result, do func(int)) {
	for _, r := range ranges.Array() {
		for n := r.Get("0").Int(); n <= r.Get("1").Int(); n++ {
			do(int(n))
		}
	}
}

// lines are those of a file of the last commit.
func (a *author) lines(path string) text {
	for _, f := range a.head.tree {
		if f.path == path {
			return f.text
		}
	}
	return nil
}

// natives are the sessions' own IDs by those that git-rekal gives them.
func (a *author) natives() map[string]string {
	a.T.Helper()
	out := map[string]string{}
	for row := range strings.Lines(string(a.asks("query", "SELECT id, native_id FROM sessions"))) {
		out[gjson.Get(row, "id").Str] = gjson.Get(row, "native_id").Str
	}
	return out
}

// verdict is what came of asking one author for all lines.
type verdict struct {
	all, alone, repeated figures // alone: lines that read like no other hand's; repeated: the others
	mistakes             []mistake
}

// judge asks for every line that an author's clone has.
func (a *author) judge() (v verdict) {
	a.T.Helper()
	native, hands := a.natives(), a.head.hands()
	for _, n := range a.head.tree.numbers() {
		f := a.head.tree[n]
		said := a.why(f.path, native)
		blamed := strings.Split(a.git("blame", "-w", "-s", "-l", "--abbrev=40", "--root", f.path), "\n")
		for i, l := range f.text {
			from := a.head.brought(l)
			g := l.figures(said[i+1], !strings.HasPrefix(blamed[i], from.sha))
			v.all.add(g)
			if len(hands[bare(l.text)]) == 1 {
				v.alone.add(g)
			} else {
				v.repeated.add(g)
			}
			if g.wrong+g.empty+g.misled > 0 {
				v.mistakes = join(v.mistakes, mistake{n, i + 1, i + 1, a.told(f.path, l, from, said[i+1])})
			}
		}
	}
	return v
}

// bare is a line without its white space.
func bare(s string) string { return strings.Join(strings.Fields(s), "") }

// hands are whose lines read how, in all that stands behind a commit.
func (c *commit) hands() map[string]map[*talk]bool {
	out := map[string]map[*talk]bool{}
	for c := range c.past() {
		for _, f := range c.tree {
			for _, l := range f.text {
				if key := bare(l.text); out[key] == nil {
					out[key] = map[*talk]bool{l.by: true}
				} else {
					out[key][l.by] = true
				}
			}
		}
	}
	return out
}

// figures are those of one line.
func (l *line) figures(who named, slid bool) (g figures) {
	right := func(id string) bool { return l.by != nil && l.by.id == id }
	if l.by == nil {
		g.others = 1
	} else {
		g.asked = 1
	}
	switch {
	case l.by == nil && len(who.exact) > 0:
		g.exactly = 1
	case l.by == nil && len(who.all) > 0:
		g.inferred = 1
	case l.by == nil:
	case slid:
		g.slid = 1
	case len(who.all) == 0:
		g.empty = 1
	case right(who.all[0]):
		g.first = 1
	case slices.ContainsFunc(who.all, right):
		g.later = 1
	default:
		g.wrong = 1
	}
	switch {
	case slid || len(who.exact) == 0:
	case slices.ContainsFunc(who.exact, right) && len(who.exact) == 1:
		g.exact = 1
	default:
		g.misled = 1
	}
	return g
}

// mistake is a run of lines of a file that were answered wrongly in the same way.
type mistake struct {
	file, from, to int
	what           string
}

// join adds a mistake, to the last one if it goes on there.
func join(list []mistake, m mistake) []mistake {
	if n := len(list) - 1; n >= 0 && list[n].file == m.file && list[n].to == m.from-1 && list[n].what == m.what {
		list[n].to = m.to
		return list
	}
	return append(list, m)
}

func (m mistake) String() string { return fmt.Sprintf("%d-%d %s", m.from, m.to, m.what) }

// told says what is true of a line, and what was said.
func (a *author) told(path string, l *line, from *commit, who named) string {
	return fmt.Sprintf("of %s in %s's clone: %q by %s, in %.7s; named are %v, exactly %v", path, a.name, l.text, l.how,
		from.sha, a.called(who.all), a.called(who.exact))
}

// called are sessions by the names that a report has for them.
func (h *history) called(ids []string) (out []string) {
	for _, id := range ids {
		for _, a := range h.authors {
			for _, k := range a.all {
				if k.id == id {
					out = append(out, k.name)
				}
			}
		}
	}
	return out
}
