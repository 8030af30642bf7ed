package attribution

import (
	"slices"
	"strings"
)

// Lineage says which code commits became which others by amends and rebases. Each ledger speaks for itself: a
// rewrite that one ledger records never leads to a commit in another ledger.
type Lineage struct {
	Predecessors, Successors RewriteMap // from a commit to those that it was before, and to those that it became
	// by SHA: the addresses of the ledgers that record a rewrite from or to the commit
	emailsOf map[string][]string
}

// RewriteMap leads from a commit, as one ledger records it, to the SHAs of others in the same ledger.
type RewriteMap map[Commit][]string

// NewLineage is empty.
func NewLineage() Lineage {
	return Lineage{Predecessors: RewriteMap{}, Successors: RewriteMap{}, emailsOf: map[string][]string{}}
}

// Add adds rewrites, each once.
func (l Lineage) Add(rewrites []Rewrite) {
	for _, r := range rewrites {
		old, now := Commit{r.Email, r.Old}, Commit{r.Email, r.New}
		if slices.Contains(l.Successors[old], r.New) {
			continue
		}
		l.Successors[old], l.Predecessors[now] = append(l.Successors[old], r.New), append(l.Predecessors[now], r.Old)
		for _, sha := range []string{r.Old, r.New} {
			if !slices.Contains(l.emailsOf[sha], r.Email) {
				l.emailsOf[sha] = append(l.emailsOf[sha], r.Email)
			}
		}
	}
}

// Family lists a commit, with no ledger's address, and then all commits that it was before or became, directly or not,
// with the address of the ledger that says so. sha may be the beginning of an OID.
func (l Lineage) Family(sha string) []Commit {
	anybody := Maker{}
	out := l.Follow(sha, anybody, l.Predecessors, l.Successors)
	for full := range l.emailsOf {
		if full != sha && strings.HasPrefix(full, sha) {
			out = append(out, l.Follow(full, anybody, l.Predecessors, l.Successors)...)
		}
	}
	return out
}

// Follow lists a commit, with no ledger's address, and then all commits to which the directions lead from it in the
// ledgers of those who made it.
func (l Lineage) Follow(sha string, by Maker, directions ...RewriteMap) []Commit {
	out := []Commit{{SHA: sha}}
	for _, email := range l.emailsOf[sha] {
		if by.Made(email) {
			out = append(out, followInLedger(Commit{email, sha}, directions)...)
		}
	}
	return out
}

// DirectPredecessors lists the commits from which a commit was rewritten in one step, as the ledgers of those who made
// it say.
func (l Lineage) DirectPredecessors(sha string, by Maker) (out []string) {
	for _, email := range l.emailsOf[sha] {
		if by.Made(email) {
			out = append(out, l.Predecessors[Commit{email, sha}]...)
		}
	}
	return out
}

// followInLedger lists start and then all commits to which the directions lead from it.
func followInLedger(start Commit, directions []RewriteMap) []Commit {
	out, seen := []Commit{start}, map[string]bool{start.SHA: true}
	for i := 0; i < len(out); i++ {
		for _, w := range directions {
			for _, sha := range w[out[i]] {
				if !seen[sha] {
					seen[sha], out = true, append(out, Commit{start.Email, sha})
				}
			}
		}
	}
	return out
}
