package ties

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestPatch holds the patches that the made-up transcripts tell against what they are of.
func TestPatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	made := func(s string) *line { return written(s, nil, "") }
	for range 300 {
		old := text(nil).become(tongues[0].beginning(rng, 3), made)
		lines := old.lines()
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(lines))
			lines = change{at, min(len(lines), at+rng.IntN(4)), tongues[0].statement(rng)}.of(lines)
		}
		now := old.become(lines, made)
		harness.Equal(t, "the text", lines, now.lines())
		before, after := applied(old, patch(old, now))
		harness.Equal(t, "what the patch makes", shownAll(now.lines()), after)
		harness.Equal(t, "what the patch is of", shownAll(old.lines()), before)
	}
}

func shownAll(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, shown(l))
	}
	return out
}

// applied are the two texts that a patch tells of, with what it leaves out.
func applied(old text, hunks []hunk) (before, after []string) {
	at := 0
	for _, h := range hunks {
		same := shownAll(old.lines()[at : h.OldStart-1])
		before, after = append(before, same...), append(after, same...)
		if h.NewStart != len(after)+1 {
			return nil, nil
		}
		for _, l := range h.Lines {
			if l[0] != '+' {
				before = append(before, l[1:])
			}
			if l[0] != '-' {
				after = append(after, l[1:])
			}
		}
		at = h.OldStart - 1 + h.OldLines
	}
	same := shownAll(old.lines()[at:])
	return append(before, same...), append(after, same...)
}

func TestMerged(t *testing.T) {
	made := func(s string) *line { return written(s, nil, "") }
	base := text(nil).become([]string{"a", "b", "c", "d"}, made)
	to := func(s string) text { return base.become(strings.Fields(s), made) }
	left := to("a x b c d")
	for _, tt := range []struct {
		name         string
		ours, theirs text
		want         string // empty: a conflict
	}{
		{"other places", left, to("a b c y d"), "a x b c y d"},
		{"one side", left, base, "a x b c d"},
		{"the same lines", left, left, "a x b c d"},
		{"lines that read the same", left, to("a x b c d"), ""},
		{"one goes, another comes", to("a c d"), to("a b c d y"), "a c d y"},
		{"the same place", left, to("a y b c d"), ""},
		{"side by side", to("a x c d"), to("a b y d"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := merged(base, tt.ours, tt.theirs)
			if ok != (tt.want != "") || ok && !slices.Equal(got.lines(), strings.Fields(tt.want)) {
				t.Errorf("%q, %v, want %q", got.lines(), ok, tt.want)
			}
		})
	}
}

func TestFigures(t *testing.T) {
	k, other := &talk{id: "k"}, &talk{id: "other"}
	ids := strings.Fields
	for _, tt := range []struct {
		name string
		by   *talk
		who  named
		slid bool
		want figures
	}{
		{"first", k, named{all: ids("k other")}, false, figures{asked: 1, first: 1}},
		{"exact", k, named{all: ids("k"), exact: ids("k")}, false, figures{asked: 1, first: 1, exact: 1}},
		{"later", k, named{all: ids("other k")}, false, figures{asked: 1, later: 1}},
		{"another", k, named{all: ids("other"), exact: ids("other")}, false, figures{asked: 1, wrong: 1, misled: 1}},
		{"two at once", k, named{all: ids("k other"), exact: ids("k other")}, false, figures{asked: 1, first: 1, misled: 1}},
		{"none", k, named{}, false, figures{asked: 1, empty: 1}},
		{"git errs", other, named{all: ids("k"), exact: ids("k")}, true, figures{asked: 1, slid: 1}},
		{"a person's", nil, named{}, false, figures{others: 1}},
		{"a person's, claimed", nil, named{all: ids("k")}, false, figures{others: 1, inferred: 1}},
		{
			"a person's, claimed as exact", nil,
			named{all: ids("k"), exact: ids("k")},
			false,
			figures{others: 1, exactly: 1, misled: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := written("x", tt.by, "").figures(tt.who, tt.slid); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
