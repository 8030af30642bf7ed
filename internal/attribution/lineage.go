package attribution

import (
	"slices"
	"strings"
)

// Lineage is what amends and rebases made of code commits, as the ledgers say. Each ledger speaks for itself: its
// rewrites lead from what it ties its sessions to, and to nobody else's.
type Lineage struct {
	Was, Is RewriteMap          // to what a commit was before, and became
	ledgers map[string][]string // commit → addresses of those who say something of it
}

// RewriteMap leads from a commit to others, in one ledger.
type RewriteMap map[Commit][]string

// NewLineage is empty.
func NewLineage() Lineage {
	return Lineage{Was: RewriteMap{}, Is: RewriteMap{}, ledgers: map[string][]string{}}
}

// Add adds rewrites; one that is there already stays once.
func (l Lineage) Add(rewrites []Rewrite) {
	for _, r := range rewrites {
		old, now := Commit{r.Email, r.Old}, Commit{r.Email, r.New}
		if slices.Contains(l.Is[old], r.New) {
			continue
		}
		l.Is[old], l.Was[now] = append(l.Is[old], r.New), append(l.Was[now], r.Old)
		for _, sha := range []string{r.Old, r.New} {
			if !slices.Contains(l.ledgers[sha], r.Email) {
				l.ledgers[sha] = append(l.ledgers[sha], r.Email)
			}
		}
	}
}

// Family lists a commit, for any ledger, and what it was and became, in chains, for the ledgers that say so. A
// commit may be given by its beginning.
func (l Lineage) Family(sha string) []Commit {
	anybody := Maker{}
	out := l.From(sha, anybody, l.Was, l.Is)
	for full := range l.ledgers {
		if full != sha && strings.HasPrefix(full, sha) {
			out = append(out, l.From(full, anybody, l.Was, l.Is)...)
		}
	}
	return out
}

// From lists a commit, for any ledger, and where ways lead from it, by the word of who made it.
func (l Lineage) From(sha string, by Maker, along ...RewriteMap) []Commit {
	out := []Commit{{SHA: sha}}
	for _, email := range l.ledgers[sha] {
		if by.Is(email) {
			out = append(out, reached(Commit{email, sha}, along)...)
		}
	}
	return out
}

// Before lists what a commit was immediately before, by the word of who made it.
func (l Lineage) Before(sha string, by Maker) (out []string) {
	for _, email := range l.ledgers[sha] {
		if by.Is(email) {
			out = append(out, l.Was[Commit{email, sha}]...)
		}
	}
	return out
}

// reached lists where ways of a ledger lead from a commit, which comes first.
func reached(start Commit, along []RewriteMap) []Commit {
	out, seen := []Commit{start}, map[string]bool{start.SHA: true}
	for i := 0; i < len(out); i++ {
		for _, w := range along {
			for _, sha := range w[out[i]] {
				if !seen[sha] {
					seen[sha], out = true, append(out, Commit{start.Email, sha})
				}
			}
		}
	}
	return out
}
