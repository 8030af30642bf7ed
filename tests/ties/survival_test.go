package ties

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// living counts the lines of HEAD that are exactly a session's: as `why` says of each, and as `stats --survival` found
// them by following all lines forward.
type living struct{ asked, followed int }

func (l living) hold(t *testing.T) {
	t.Helper()
	t.Logf("of %d lines that are exactly a session's, %d live by following them", l.asked, l.followed)
	if off := max(l.asked-l.followed, l.followed-l.asked); share(off, l.asked) > .5 {
		t.Error("want as many, but for 0.5 %")
	}
}

// judgeSurvival counts in an author's clone. Blank lines do not count.
func (a *author) judgeSurvival() (l living) {
	a.T.Helper()
	native := a.natives()
	for _, f := range a.head.tree {
		for n, said := range a.why(f.path, native)[1:] {
			if len(said.exact) > 0 && strings.TrimSpace(f.text[n].text) != "" {
				l.asked++
			}
		}
	}
	l.followed = int(gjson.GetBytes(a.asks("stats", "--survival", "--json"), "total.live").Int())
	return l
}
