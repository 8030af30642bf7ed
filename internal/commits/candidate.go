package commits

import (
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
)

// candidate is a code commit that a ledger names, and of which the commit in question may be made. Paths are the files
// that both changed.
type candidate struct {
	db.CodeCommit
	when       time.Time    // when it was made; zero: unknown
	present    []git.Commit // itself and what it became by amends and rebases, as far as it is here
	sameFiles  []string     // paths of files that both commits left with the same content
	sameChange bool         // both are one change of Jujutsu's
	alreadyIn  bool         // the content that it left in a file was in the target branch before
	lines      lineMatch
	matched    bool
}

// lineMatch says how many of the distinctive lines that a candidate added the commit in question added, too. All zero:
// nobody looked.
type lineMatch struct {
	added         int
	found         int
	addedByCommit int  // distinctive lines that the commit in question added to the same files
	everything    bool // it changed no other files
}

// authorBranch is a branch by its name and its author.
type authorBranch struct{ email, branch string }

func (k *candidate) authorBranch() authorBranch { return authorBranch{k.Email, k.Branch} }

func (k *candidate) isHere() bool { return len(k.present) > 0 }

// isMostlyTaken reports whether the commit in question changed most files of the candidate. If not, it is
// hardly made of the candidate.
func (k *candidate) isMostlyTaken() bool { return 4*len(k.Paths) >= 3*k.Files }

const (
	minLinesFound = 3                   // how many lines of a branch must be found in the commit in question
	sameWork      = 14 * 24 * time.Hour // after so long without a commit, a branch of the same name is another one
)

// newCandidate is a candidate before its objects are looked for.
func (s *squash) newCandidate(c db.CodeCommit) *candidate {
	k := &candidate{CodeCommit: c, when: c.TS.Truncate(time.Second)}
	for i, p := range c.Paths {
		if b := c.Blobs[i]; b == s.keys[p] && b != 0 && b != emptyBlob {
			k.sameFiles = append(k.sameFiles, p)
		}
	}
	return k
}

// matchPatches matches the candidates with the same patch ID. It reports whether there are any: then the commit is a
// copy of them and of nothing else.
func (s *squash) matchPatches() (found bool) {
	for _, k := range s.candidates {
		k.matched = k.SamePatch
		found = found || k.matched
	}
	return found
}

// matchFiles drops sameFiles that prove nothing: whose content stood there before (a revert
// brings it back), or that several branches have (a lock file or a licence). It matches
// candidates that are mostly taken and have some left.
func (s *squash) matchFiles() {
	branches := map[string]map[authorBranch]bool{} // by path
	for _, k := range s.candidates {
		k.sameFiles = slices.DeleteFunc(k.sameFiles, func(path string) bool {
			return s.wasInBranch(path, s.blobs[path], k.when)
		})
		for _, path := range k.sameFiles {
			if branches[path] == nil {
				branches[path] = map[authorBranch]bool{}
			}
			branches[path][k.authorBranch()] = true
		}
	}
	for _, k := range s.candidates {
		k.sameFiles = slices.DeleteFunc(k.sameFiles, func(path string) bool { return len(branches[path]) > 1 })
		k.matched = k.isMostlyTaken() && len(k.sameFiles) > 0
	}
}

// matchLines matches candidates by the lines that they added: two of three must be among those that
// the commit in question added to the same files. A few lines count only if minLinesFound of the same
// branch are found, or if they are all that the commit in question added.
func (s *squash) matchLines() {
	foundOfBranch := map[authorBranch]int{} // how many lines of a branch the commit in question has
	var likely []*candidate
	for _, k := range s.candidates {
		a := k.lines
		if k.matched || a.found == 0 || 3*a.found < 2*a.added {
			continue
		}
		foundOfBranch[k.authorBranch()] += a.found
		if a.everything && a.found == a.added && a.found == a.addedByCommit {
			k.matched = true
		} else {
			likely = append(likely, k)
		}
	}
	for _, k := range likely {
		k.matched = foundOfBranch[k.authorBranch()] >= minLinesFound
	}
}

// matchAncestors matches what comes before a matched candidate: its ancestors if the objects are
// here, else earlier commits of the same branch by the same author. Up to the last candidate of a
// branch that is alreadyIn, all are; others only tell that.
func (s *squash) matchAncestors() error {
	alreadyInUntil := map[authorBranch]time.Time{}
	for _, k := range slices.Concat(s.candidates, s.others) {
		if k.alreadyIn && k.when.After(alreadyInUntil[k.authorBranch()]) {
			alreadyInUntil[k.authorBranch()] = k.when
		}
	}
	var ends, rest []*candidate
	for _, k := range s.candidates {
		switch {
		case k.matched:
			ends = append(ends, k)
		case k.when.After(alreadyInUntil[k.authorBranch()]):
			rest = append(rest, k)
		}
	}
	for len(ends) > 0 && len(rest) > 0 {
		end := ends[0]
		ends = ends[1:]
		for _, k := range rest {
			led, err := s.leadsTo(k, end)
			if err != nil {
				return err
			}
			if k.matched = led || k.isEarlierWork(end); k.matched {
				ends = append(ends, k)
			}
		}
		rest = slices.DeleteFunc(rest, func(k *candidate) bool { return k.matched })
	}
	return nil
}

// leadsTo reports whether one candidate is an ancestor of another one, as far as both are here.
func (s *squash) leadsTo(from, to *candidate) (bool, error) {
	for _, c := range from.present {
		for _, e := range to.present {
			if ok, err := s.repo.IsAncestor(c.OID, e.OID); ok || err != nil {
				return ok, err
			}
		}
	}
	return false, nil
}

// isEarlierWork reports whether, by branch and time, a candidate belongs to the work that ended with another one.
func (k *candidate) isEarlierWork(end *candidate) bool {
	switch {
	case k.authorBranch() != end.authorBranch(), k.Branch == "HEAD":
		return false
	case len(k.sameFiles) > 0: // it matches though it is not mostly taken: a merge of main, with files of others
		return true
	case k.isHere() && end.isHere():
		return false
	}
	return k.isMostlyTaken() && !k.when.IsZero() && !k.when.After(end.when) && end.when.Sub(k.when) <= sameWork
}
