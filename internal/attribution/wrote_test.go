package attribution_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// at is a moment of the story, in minutes.
func at(minute int) time.Time { return time.Date(2026, 3, 4, 9, minute, 0, 0, time.UTC) }

// edit reads lines as a unified diff has them; "@" is a gap.
func edit(session string, minute int, diff ...string) attribution.Edit {
	e := attribution.Edit{Session: session, At: at(minute)}
	for _, l := range diff {
		e.Lines = append(e.Lines, attribution.Line{Print: attribution.PrintOf(l[1:]), Kind: l[0]})
	}
	return e
}

// brought reads a commit's diff of a whole file in the same form.
func brought(diff ...string) (f attribution.CommittedFile) {
	f.Added = map[int]bool{}
	for _, l := range diff {
		p := attribution.PrintOf(l[1:])
		if l[0] == '-' {
			f.Removed = append(f.Removed, p)
			continue
		}
		f.Added[len(f.Lines)] = l[0] == '+'
		f.Lines = append(f.Lines, p)
	}
	return f
}

// greet is a function that says something.
var greet = []string{
	"+func Greet(name string) string {", "+\tif name == \"\" {", "+\t\treturn \"hello\"", "+\t}",
	"+\treturn \"hello \" + name", "+}",
}

func all(parts ...[]string) (out []string) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name  string
		file  attribution.CommittedFile
		edits []attribution.Edit
		want  map[string][]int // session → indexes of lines
	}{
		{
			"what one session wrote", brought(all([]string{" package a"}, greet)...),
			[]attribution.Edit{edit("a", 1, greet...)},
			map[string][]int{"a": {1, 2, 3, 4, 5, 6}},
		},
		{
			"what a person added beside it", brought(all(greet, []string{"+// by hand"})...),
			[]attribution.Edit{edit("a", 1, greet...)},
			map[string][]int{"a": {0, 1, 2, 3, 4, 5}},
		},
		{
			"white space aside", brought("+  func   Greet( name string ) string {"),
			[]attribution.Edit{edit("a", 1, greet[0])},
			map[string][]int{"a": {0}},
		},
		{
			"context is not written", brought("+import \"fmt\"", "+import \"os\""),
			[]attribution.Edit{edit("a", 1, " import \"fmt\"", "+import \"os\"")},
			map[string][]int{"a": {1}},
		},
		{
			"two sessions in one file", brought("+alpha one", "+beta two"),
			[]attribution.Edit{edit("a", 1, "+alpha one"), edit("b", 2, "+beta two")},
			map[string][]int{"a": {0}, "b": {1}},
		},
		{
			"the later of two who wrote a line", brought("+alpha one"),
			[]attribution.Edit{edit("b", 2, "+alpha one"), edit("a", 1, "+alpha one")},
			map[string][]int{"b": {0}},
		},
		{
			"who wrote its neighbours, too, before who wrote it later", brought(all(greet, []string{"+x := 1"})...),
			[]attribution.Edit{edit("a", 1, greet...), edit("b", 2, "+\treturn \"hello \" + name", "+}", "+func Other() {")},
			map[string][]int{"a": {0, 1, 2, 3, 4, 5}},
		},
		{
			"a whole file again claims what is new in it", brought("+alpha one", "+beta two"),
			[]attribution.Edit{edit("a", 1, "+alpha one"), whole(edit("b", 2, "+alpha one", "+beta two"))},
			map[string][]int{"a": {0}, "b": {1}},
		},
		{"a brace proves nothing", brought("+}", "+}"), []attribution.Edit{edit("a", 1, "+}", "+}")}, nil},
		{
			"nor do three lines that every function has",
			brought("+if err != nil {", "+return nil, err", "+}", " if err != nil {", " return nil, err", " }"),
			[]attribution.Edit{edit("a", 1, "+if err != nil {", "+return nil, err", "+}")},
			nil,
		},
		{
			"the end of a function is not that of one in front of which it was put",
			brought(" // old text", "+func New() {", "+\tnewThing()", "+}", " func Greet() {", " \tgreeting()", " }"),
			[]attribution.Edit{edit("a", 1, "+func Old() {", "+\toldThing()", "+}", " func Greet() {", " \tgreeting()", " }")},
			nil,
		},
		{
			"what was added before stays so", brought(" alpha one", "+}", " beta two"),
			[]attribution.Edit{edit("a", 1, "+alpha one", "+}", "+beta two")},
			nil,
		},
		{
			"a line like one of an edit that was committed before", brought(" alpha one", " beta two", "+except KeyError:"),
			[]attribution.Edit{edit("a", 1, "+alpha one", "+except KeyError:", "+beta two")},
			nil,
		},
		{
			"an import that a session wrote once, and a person writes again", brought(" package a", "+import \"net/url\""),
			[]attribution.Edit{taken(edit("a", 1, "+import \"net/url\""))},
			nil,
		},
		{
			"an import in another version of the history", brought(" package a", "+import \"net/url\""),
			[]attribution.Edit{commits(edit("a", 1, "+import \"net/url\""), "elsewhere")},
			map[string][]int{"a": {1}},
		},
		{
			"the rest of an edit of which a commit took the beginning",
			brought(all([]string{" package a", " alpha one", " beta two"}, greet)...),
			[]attribution.Edit{taken(edit("a", 1, all([]string{"+alpha one", "+beta two"}, greet)...))},
			map[string][]int{"a": {3, 4, 5, 6, 7, 8}},
		},
		{
			"what the commit moves, of an edit that was committed",
			brought(all(greet, []string{
				" // end", "-func Greet(name string) string {", "-\tif name == \"\" {",
				"-\t\treturn \"hello\"", "-\treturn \"hello \" + name",
			})...),
			[]attribution.Edit{taken(edit("a", 1, greet...))},
			nil,
		},
		{
			"a line out of the middle of what nobody took",
			brought("+func Count() int {", "+\tmu.Lock()", "+\treturn len(all)", "+}"),
			[]attribution.Edit{edit("a", 1, "+func Close() {", "+\tdefer closing()", "+\tmu.Lock()", "+\tdefer mu.Unlock()",
				"+\tdrop(all)", "+}")},
			nil,
		},
		{
			"a line out of the middle, beside the rest", brought(all([]string{
				"+// Close closes.", "+func Shut() {",
				"+\tmu.Lock()", "+\tchanged(by.Hand)",
			}, greet)...),
			[]attribution.Edit{edit("a", 1, all([]string{
				"+func Close() {", "+\tdefer closing()", "+\tmu.Lock()",
				"+\tdefer mu.Unlock()",
			}, greet)...)},
			map[string][]int{"a": {2, 4, 5, 6, 7, 8, 9}},
		},
		{
			"half of what was added", brought("+if token.IsRevoked() {", "+\treturn true // whatever the clock says", "+}"),
			[]attribution.Edit{edit("a", 1, "+if token.Revoked {", "+\treturn true // whatever the clock says", "+}")},
			map[string][]int{"a": {1}},
		},
		{
			"what was put in front of a function ends with its own brace",
			brought("+func First() {", "+\tfirst()", "+}", "+func Middle() {", "+\tmiddle()", "+}", "+func Last() {",
				"+\tlastly()", "+}"),
			[]attribution.Edit{
				edit("a", 1, "+func First() {", "+\tfirst()", "+}", "+func Last() {", "+\tlastly()", "+}"),
				edit("b", 2, " \tfirst()", " }", "+func Middle() {", "+\tmiddle()", "+}", " func Last() {"),
			},
			map[string][]int{"a": {0, 1, 2, 6, 7, 8}, "b": {3, 4, 5}},
		},
		{
			"each line of an edit once", brought("+alpha one", "+middle", "+after it", "+alpha one"),
			[]attribution.Edit{edit("a", 1, "+alpha one", "+middle", "+after it")},
			map[string][]int{"a": {0, 1, 2}},
		},
		{
			"lines beyond a gap are no neighbours", brought("+} else {", "+alpha one"),
			[]attribution.Edit{edit("a", 1, "+} else {", "@", "+alpha one")},
			map[string][]int{"a": {1}},
		},
		{
			"blank lines between two of one edit", brought("+alpha one", "+", "+beta two", "+"),
			[]attribution.Edit{edit("a", 1, "+alpha one", "+beta two")},
			map[string][]int{"a": {0, 1, 2}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := map[string][]int{}
			c.file.IsBehind = func(commit string) bool { return commit == before }
			for _, w := range attribution.Match(c.file, c.edits) {
				got[w.Session] = slices.Sorted(slices.Values(append(got[w.Session], w.Lines...)))
			}
			harness.Equal(t, "lines", c.want, got)
		})
	}
}

// before is a commit behind the one that is asked about.
const before = "0123456789abcdef"

func taken(e attribution.Edit) attribution.Edit { return commits(e, before) }

func commits(e attribution.Edit, by ...string) attribution.Edit {
	e.Commits = by
	return e
}

func whole(e attribution.Edit) attribution.Edit {
	e.FullContent = true
	return e
}

func TestMatchWhatWent(t *testing.T) {
	got := attribution.Match(brought(" kept line", "-alpha one", "-beta two", "-}"), []attribution.Edit{
		edit("a", 1, "-alpha one", "-}"), edit("b", 3, "-alpha one"),
	})
	harness.Equal(t, "wrote", []attribution.MatchedLines{{Session: "b", Removed: 1, At: at(3)}}, got)
}

// TestMatchTimes: lines that a session wrote at two times are told apart, as two prompts led to them.
func TestMatchTimes(t *testing.T) {
	got := attribution.Match(brought("+alpha one", "+beta two"),
		[]attribution.Edit{edit("a", 1, "+alpha one"), edit("a", 3, "+beta two")})
	harness.Equal(t, "wrote", []attribution.MatchedLines{
		{Session: "a", Lines: []int{0}, At: at(1)},
		{Session: "a", Lines: []int{1}, At: at(3)},
	}, got)
}

// TestMatchManyLines: an edit of the largest size against a file of the largest size, all lines alike, ends soon.
func TestMatchManyLines(t *testing.T) {
	lines := strings.Split(strings.Repeat("+return nil, err\n", 20_000), "\n")
	lines = lines[:len(lines)-1]
	if got := attribution.Match(brought(lines...), []attribution.Edit{
		edit("a", 1, lines...),
		edit("b", 1, lines...),
	}); len(got) > 0 {
		t.Errorf("of lines that tell nothing: %v", got)
	}
}

func TestReplace(t *testing.T) {
	for _, c := range []struct{ name, old, now, want string }{
		{
			"a line in the middle", "one line,two line,three line", "one line,new line,three line",
			" one line,-two line,+new line, three line",
		},
		{"nothing before", "", "one line", "+one line"},
		{"nothing after", "one line", "", "-one line"},
		{"the same", "one line", "one line", " one line"},
		{
			"some stay", "aaaa b,cccc d,eeee f", "cccc d,new line,eeee f,more line",
			"-aaaa b, cccc d,+new line, eeee f,+more line",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			prints := func(s string) []attribution.Print {
				if s == "" {
					return nil
				}
				return attribution.Prints(strings.Split(s, ","))
			}
			want := edit("", 0, strings.Split(c.want, ",")...).Lines
			harness.Equal(t, "lines", want, attribution.Replace(prints(c.old), prints(c.now)))
		})
	}
}

func TestPrintOf(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"a = 1", "\ta=1\r", true},
		{"a = 1", "a = 2", false},
		{"", " \t\u00a0", true},
		{"}", "{", false},
	} {
		if got := attribution.PrintOf(c.a) == attribution.PrintOf(c.b); got != c.same {
			t.Errorf("%q and %q: the same print is %v, want %v", c.a, c.b, got, c.same)
		}
	}
}
