package attribution

import (
	"slices"
	"time"
)

// Candidate is a code commit that a ledger names, and of which the commit in question may be made: by a squash merge, a rebase merge or a
// cherry-pick on a server, where no hook ran.
type Candidate struct {
	Email, Branch string
	When          time.Time // when it was made; zero: unknown
	Files         int       // how many it changed
	Shared        int       // how many of these the commit in question changed, too
	SameFiles     []string  // paths of files that both commits left with the same content
	SamePatch     bool      // both commits have the same patch ID
	AlreadyIn     bool      // the content that it left in a file was in the target branch before
	Here          bool
	LineMatch     LineMatch
	Matched       bool
}

// LineMatch says how many of the distinctive lines that a candidate added the commit in question added, too. All zero: nobody looked.
type LineMatch struct {
	Added         int
	Found         int
	AddedByCommit int  // distinctive lines that the commit in question added to the same files
	Everything    bool // it changed no other files
}

// authorBranch is a branch by its name and its author.
type authorBranch struct{ email, branch string }

func (p *Candidate) authorBranch() authorBranch { return authorBranch{p.Email, p.Branch} }

// MostlyTaken reports whether the commit in question changed most files of the candidate. If not, it is
// hardly made of the candidate.
func (p *Candidate) MostlyTaken() bool { return 4*p.Shared >= 3*p.Files }

const (
	minLinesFound = 3                   // how many lines of a branch must be found in the commit in question
	sameWork      = 14 * 24 * time.Hour // after so long without a commit, a branch of the same name is another one
)

// MatchPatches matches the candidates with the same patch ID. It reports whether there are any: then the commit is a copy of them and of
// nothing else.
func MatchPatches(parts []*Candidate) (found bool) {
	for _, p := range parts {
		p.Matched = p.SamePatch
		found = found || p.Matched
	}
	return found
}

// KeepDistinctive drops SameFiles that prove nothing: whose content stood there before (a revert
// brings it back), or that several branches have (a lock file or a licence). It matches
// candidates that are MostlyTaken and have some left.
func KeepDistinctive(parts []*Candidate, stood func(p *Candidate, path string) bool) {
	lines := map[string]map[authorBranch]bool{}
	for _, p := range parts {
		p.SameFiles = slices.DeleteFunc(p.SameFiles, func(path string) bool { return stood(p, path) })
		for _, path := range p.SameFiles {
			if lines[path] == nil {
				lines[path] = map[authorBranch]bool{}
			}
			lines[path][p.authorBranch()] = true
		}
	}
	for _, p := range parts {
		p.SameFiles = slices.DeleteFunc(p.SameFiles, func(path string) bool { return len(lines[path]) > 1 })
		p.Matched = p.MostlyTaken() && len(p.SameFiles) > 0
	}
}

// MatchLines matches candidates by the lines that they added: two of three must be among those that
// the commit in question added to the same files. A few lines count only if minLinesFound of the same
// branch are found, or if they are all that the commit in question added.
func MatchLines(parts []*Candidate) {
	foundOfBranch := map[authorBranch]int{} // how many lines of a branch the commit in question has
	var likely []*Candidate
	for _, p := range parts {
		a := p.LineMatch
		if p.Matched || a.Found == 0 || 3*a.Found < 2*a.Added {
			continue
		}
		foundOfBranch[p.authorBranch()] += a.Found
		if a.Everything && a.Found == a.Added && a.Found == a.AddedByCommit {
			p.Matched = true
		} else {
			likely = append(likely, p)
		}
	}
	for _, p := range likely {
		p.Matched = foundOfBranch[p.authorBranch()] >= minLinesFound
	}
}

// MatchAncestors matches what comes before a matched candidate: its ancestors if the objects are
// here, as leads tells, else earlier commits of the same branch by the same author. Up to the last candidate of a
// branch that is AlreadyIn, all are; aside are candidates that only tell that.
func MatchAncestors(parts, aside []*Candidate, leads func(from, to *Candidate) (bool, error)) error {
	alreadyInUntil := map[authorBranch]time.Time{}
	for _, p := range slices.Concat(parts, aside) {
		if p.AlreadyIn && p.When.After(alreadyInUntil[p.authorBranch()]) {
			alreadyInUntil[p.authorBranch()] = p.When
		}
	}
	var ends, rest []*Candidate
	for _, p := range parts {
		switch {
		case p.Matched:
			ends = append(ends, p)
		case p.When.After(alreadyInUntil[p.authorBranch()]):
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
			if p.Matched = led || p.isEarlierWork(end); p.Matched {
				ends = append(ends, p)
			}
		}
		rest = slices.DeleteFunc(rest, func(p *Candidate) bool { return p.Matched })
	}
	return nil
}

// isEarlierWork reports whether, by branch and time, a candidate belongs to the work that ended with another one.
func (p *Candidate) isEarlierWork(end *Candidate) bool {
	switch {
	case p.authorBranch() != end.authorBranch(), p.Branch == "HEAD":
		return false
	case len(p.SameFiles) > 0: // it matches though it is not MostlyTaken: a merge of main, with files of others
		return true
	case p.Here && end.Here:
		return false
	}
	return p.MostlyTaken() && !p.When.IsZero() && !p.When.After(end.When) && end.When.Sub(p.When) <= sameWork
}
