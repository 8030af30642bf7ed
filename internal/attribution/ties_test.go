package attribution_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var anns = attribution.Maker{Here: true, Author: "ann@x", Committer: "ann@x", When: at(30)}

// marks stand behind a session for how it is tied: nothing where it wrote.
var marks = map[session.TieKind]string{
	session.TieEdited: "+", session.TieTalked: "~", session.TieMade: "*",
	session.TieInferred: "?", session.TieAlleged: "!",
}

// tie is one that a ledger tells: "ann", "ann+", "ann~" or "ann?".
func tie(email, id string) attribution.Tie {
	out := attribution.Tie{Session: id, SHA: sha, Email: email, Kind: session.TieWrote, Turn: -1}
	for kind, mark := range marks {
		if name, is := strings.CutSuffix(id, mark); is {
			out.Session, out.Kind = name, kind
		}
	}
	out.Checkpoint = "c-" + out.Session
	return out
}

func ties(all []attribution.Tie) string {
	var out []string
	for _, t := range all {
		out = append(out, t.Session+marks[t.Kind])
	}
	return strings.Join(out, " ")
}

func TestMakers(t *testing.T) {
	bens := anns // in ben's clone
	bens.Own = []string{"ben@x"}
	lined := func(t attribution.Tie) attribution.Tie { t.Lines = 3; return t }
	for _, c := range []struct {
		name string
		by   attribution.Maker
		all  []attribution.Tie
		want string
	}{
		{"hers alone", anns, []attribution.Tie{tie("ann@x", "a"), tie("ben@x", "b")}, "a"},
		{"nobody's who made it", anns, []attribution.Tie{tie("ben@x", "b")}, "b?"},
		{"of what is not here", attribution.Maker{}, []attribution.Tie{tie("ann@x", "a"), tie("ben@x", "b")}, "a b"},
		{"nobody's who made it, of an own ledger", bens, []attribution.Tie{tie("ben@x", "b")}, "b?"},
		{"nobody's who made it, by lines of an own ledger", bens, []attribution.Tie{lined(tie("ben@x", "b"))}, "b"},
		{"nobody's who made it, by lines", anns, []attribution.Tie{lined(tie("ben@x", "b"))}, "b?"},
		{"in another case", attribution.Maker{Here: true, Committer: "ANN@x"}, []attribution.Tie{tie("ann@x", "a")}, "a"},
	} {
		harness.Equal(t, c.name, c.want, ties(attribution.CredibleTies(c.all, c.by)))
	}
}

func TestWriter(t *testing.T) {
	wrote := func(email, id string, minute int, lines ...int) attribution.LineRecord {
		return attribution.LineRecord{Session: id, Path: "a.go", Email: email, TS: at(minute), Lines: session.RangesOf(lines)}
	}
	for _, c := range []struct {
		name string
		all  []attribution.LineRecord
		line int
		want string
	}{
		{"the one", []attribution.LineRecord{wrote("ann@x", "a", 10, 1, 2)}, 2, "a"},
		{"nobody", []attribution.LineRecord{wrote("ann@x", "a", 10, 1, 2)}, 3, ""},
		{"the first that is told", []attribution.LineRecord{wrote("ann@x", "a", 20, 1), wrote("ann@x", "b", 10, 1)}, 1, "a"},
		{
			"who made it before others",
			[]attribution.LineRecord{wrote("ben@x", "b", 20, 1), wrote("ann@x", "a", 10, 1)},
			1,
			"a",
		},
		{"others where she says nothing", []attribution.LineRecord{wrote("ben@x", "b", 20, 1)}, 1, "b?"},
		{"an edit after the commit", []attribution.LineRecord{wrote("ann@x", "a", 31, 1)}, 1, ""},
	} {
		makers, others := attribution.CredibleLines(c.all, anns)
		got, _ := attribution.Writer(makers, "a.go", c.line)
		if w, _ := attribution.Writer(others, "a.go", c.line); got == "" && w != "" {
			got = w + "?"
		}
		harness.Equal(t, c.name, c.want, got)
	}
	bens := anns // in ben's clone, which compared the lines
	bens.Own = []string{"ben@x"}
	makers, _ := attribution.CredibleLines([]attribution.LineRecord{
		wrote("ben@x", "b", 20, 1, 2),
		wrote("ann@x", "a", 10, 1),
	}, bens)
	hers, _ := attribution.Writer(makers, "a.go", 1)
	his, _ := attribution.Writer(makers, "a.go", 2)
	harness.Equal(t, "who made it before who compared it", "a b", hers+" "+his)
	harness.Equal(t, "each line is one's", map[string]int{"a": 1, "b": 1}, attribution.CountLines(makers))
	harness.Equal(t, "too many", map[string]int(nil), attribution.CountLines(slices.Repeat([]attribution.LineRecord{
		{Session: "a", Path: "a.go", Lines: session.Ranges{{1, session.MaxLine}}},
	}, 2)))
}

func TestOwned(t *testing.T) {
	o := attribution.FileOwners{
		{Checkpoint: "c-a", Session: "a", Path: "a.go"}: session.TieEdited,
		{Checkpoint: "c-a", Session: "a", Path: "d.go"}: session.TieMade,
		{Checkpoint: "c-b", Session: "b", Path: "b.go"}: session.TieEdited,
	}
	told := func(all []attribution.Claim) string {
		var out []string
		for _, c := range all {
			out = append(out, c.Session+marks[c.Kind])
		}
		return strings.Join(out, " ")
	}
	three := []attribution.Tie{tie("x", "a"), tie("x", "b"), tie("x", "talk")}
	for _, c := range []struct {
		name, path string
		ties       []attribution.Tie
		want       string // whose it is
	}{
		{"hers", "a.go", three, "a+"},
		{"made by her shell", "d.go", three, "a*"},
		{"by content", "b.go", []attribution.Tie{tie("x", "b?")}, "b?"},
		{"nobody's", "c.go", three, ""},
		{"tied twice", "a.go", []attribution.Tie{tie("x", "a?"), tie("x", "a")}, "a+"},
	} {
		harness.Equal(t, c.name, c.want, told(o.OwnersOf(c.ties, c.path)))
	}
}

func TestAsked(t *testing.T) {
	old, other := strings.Repeat("0", 39)+"1", strings.Repeat("0", 39)+"2"
	at := func(sha string, t attribution.Tie, lines int) attribution.Tie {
		t.SHA, t.Lines = sha, lines
		return t
	}
	family := []attribution.Commit{{SHA: sha}, {Email: "ann@x", SHA: old}, {Email: "ben@x", SHA: other}}
	for _, c := range []struct {
		name string
		by   attribution.Maker
		ties []attribution.Tie // the first is asked about
		want string
	}{
		{"her own", anns, []attribution.Tie{tie("ann@x", "a")}, "wrote"},
		{"her talk", anns, []attribution.Tie{tie("ann@x", "a~")}, "talked"},
		{"imported", anns, []attribution.Tie{tie("ann@x", "a?")}, "inferred"},
		{"what it was before", anns, []attribution.Tie{at(old, tie("ann@x", "a"), 0)}, "wrote"},
		{"what others say that it was", anns, []attribution.Tie{at(other, tie("ben@x", "b"), 0)}, "alleged"},
		{"somebody else's checkpoint of it", anns, []attribution.Tie{tie("ben@x", "b")}, "alleged"},
		{"whose lines are in it", anns, []attribution.Tie{at(sha, tie("ben@x", "b"), 3)}, "inferred"},
		{
			"whose lines are in it, and she says whose it is", anns,
			[]attribution.Tie{at(sha, tie("ben@x", "b"), 3), tie("ann@x", "a")},
			"alleged",
		},
		{"of another one", anns, []attribution.Tie{at(strings.Repeat("9", 40), tie("ann@x", "a"), 0)}, "none"},
		{
			"of one that is gone, who is tied to it",
			attribution.Maker{},
			[]attribution.Tie{at(old, tie("ann@x", "a"), 0), tie("ann@x", "a")},
			"wrote",
		},
		{
			"of one that is gone, others",
			attribution.Maker{},
			[]attribution.Tie{at(other, tie("ben@x", "b"), 0), tie("ann@x", "a")},
			"alleged",
		},
	} {
		a := attribution.NewRevision(sha, c.by, family)
		a.Judge(c.ties)
		got := "none"
		if s, ok := a.TieKind(c.ties[0]); ok {
			got = []string{"", "wrote", "edited", "made", "named", "inferred", "alleged", "talked"}[s]
		}
		harness.Equal(t, c.name, c.want, got)
	}
}
