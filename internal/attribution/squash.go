package attribution

import (
	"slices"
	"time"
)

// Part is a code commit of a ledger that another commit may be made of: a squash merge, a rebase merge or a cherry-pick, which
// ran no hook. Others of the same branches only tell what else came of them.
type Part struct {
	Email, Branch string
	When          time.Time // it was made; zero where nothing tells it
	Files         int       // how many it changed
	Shared        int       // how many of them the commit in question changed
	Same          []string  // those that it left as the commit in question did
	SamePatch     bool      // the commit in question is a copy of it
	Arrived       bool      // what it left in a file came into the branch earlier
	Here          bool
	LineMatch     LineMatch
	Matched       bool
}

// LineMatch says how many of the telling lines that a part added stand in the commit in question. All zero where nobody looked.
type LineMatch struct {
	Added   int
	Found   int
	Brought int  // that the commit in question brought into the same files
	All     bool // these are all of its files
}

// line is the branch of a person, where it has a name.
type line struct{ email, branch string }

func (p *Part) line() line { return line{p.Email, p.Branch} }

// MostlyTaken reports whether the commit in question changed most of a part's files: one that
// does much else is not of it.
func (p *Part) MostlyTaken() bool { return 4*p.Shared >= 3*p.Files }

const (
	tellingLines = 3                   // so many lines of a branch must be found again
	sameWork     = 14 * 24 * time.Hour // without a commit for so long, a branch's name is in new use
)

// MatchPatches matches the parts with the same patch, and reports whether there are any: then the commit is a copy of them and of
// nothing else.
func MatchPatches(parts []*Part) (found bool) {
	for _, p := range parts {
		p.Matched = p.SamePatch
		found = found || p.Matched
	}
	return found
}

// KeepDistinctive keeps of the content that parts share with the commit in question what tells
// something: it was not there before (a revert brings back what was), and only one person's
// branch has it (a lock file or a licence is the same in many).
func KeepDistinctive(parts []*Part, stood func(p *Part, path string) bool) {
	lines := map[string]map[line]bool{}
	for _, p := range parts {
		p.Same = slices.DeleteFunc(p.Same, func(path string) bool { return stood(p, path) })
		for _, path := range p.Same {
			if lines[path] == nil {
				lines[path] = map[line]bool{}
			}
			lines[path][p.line()] = true
		}
	}
	for _, p := range parts {
		p.Same = slices.DeleteFunc(p.Same, func(path string) bool { return len(lines[path]) > 1 })
		p.Matched = p.MostlyTaken() && len(p.Same) > 0
	}
}

// MatchLines matches parts by the lines that they added: most of them must be
// among those that the commit in question brought into the same files, and that were not
// there since. Few lines count where others of the branch are found again, too, or where they are
// all that the commit in question brought.
func MatchLines(parts []*Part) {
	again := map[line]int{} // how many lines of a branch are found again
	var likely []*Part
	for _, p := range parts {
		a := p.LineMatch
		if p.Matched || a.Found == 0 || 3*a.Found < 2*a.Added {
			continue
		}
		again[p.line()] += a.Found
		if a.All && a.Found == a.Added && a.Found == a.Brought {
			p.Matched = true
		} else {
			likely = append(likely, p)
		}
	}
	for _, p := range likely {
		p.Matched = again[p.line()] >= tellingLines
	}
}

// MatchAncestors matches what comes before a matched part: its ancestors where the objects are
// here, which leads tells, else earlier commits of the same branch by the same person. Parts up to one that
// arrived earlier did so, too; those aside only tell that.
func MatchAncestors(parts, aside []*Part, leads func(from, to *Part) (bool, error)) error {
	done := map[line]time.Time{}
	for _, p := range slices.Concat(parts, aside) {
		if p.Arrived && p.When.After(done[p.line()]) {
			done[p.line()] = p.When
		}
	}
	var ends, rest []*Part
	for _, p := range parts {
		switch {
		case p.Matched:
			ends = append(ends, p)
		case p.When.After(done[p.line()]):
			rest = append(rest, p)
		}
	}
	for len(ends) > 0 && len(rest) > 0 {
		end := ends[0]
		ends = ends[1:]
		for _, p := range rest {
			led, err := leads(p, end)
			if err != nil {
				return err
			}
			if p.Matched = led || p.before(end); p.Matched {
				ends = append(ends, p)
			}
		}
		rest = slices.DeleteFunc(rest, func(p *Part) bool { return p.Matched })
	}
	return nil
}

// before reports whether a part belongs to the work that another one ends, as far as branch and time tell.
func (p *Part) before(end *Part) bool {
	switch {
	case p.line() != end.line(), p.Branch == "HEAD":
		return false
	case len(p.Same) > 0: // a merge of main, among whose files are many that are not the branch's
		return true
	case p.Here && end.Here:
		return false
	}
	return p.MostlyTaken() && !p.When.IsZero() && !p.When.After(end.When) && end.When.Sub(p.When) <= sameWork
}
