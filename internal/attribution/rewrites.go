package attribution

// What became of code commits. The rewrites of a ledger count only for commits that the ledger names itself, and for
// those that these became. They move only the ties of the ledger's own sessions. If the ledger's owner did not make the
// commit, such a tie is inferred and comes last; why leaves it out. The rewrites of a ledger are a graph with chains,
// forks and, if somebody means harm, cycles. Resolve follows it once, so that no question has to: each rewrite then
// names the family of its commits and the latest commit.

// Commit is a code commit as one ledger names it.
type Commit struct{ Email, SHA string } // the address in lower case; "" for any ledger

// Rewrite is the record of a ledger that an amend or a rebase made another code commit of one.
type Rewrite struct {
	Email, Old, New string
	Named           bool // the ledger names Old

	// Set by Resolve, from all rewrites of the ledger.
	Root   string // names the family: the smallest SHA among its commits
	Latest string // the commit that Old became in the end
}

// maxFamily is how many code commits a family has at most; rewrites that would make it larger are left out. A branch of
// a hundred commits that was rebased forty times, and then squashed, is one family of 4,000.
const maxFamily = 4096

// Resolve keeps the rewrites of one ledger that count (RewritesThatCount), each once, and sets their Root and Latest.
// all is in the order of the ledger: if a commit became several others, the last one counts for Latest.
func Resolve(all []Rewrite) []Rewrite {
	var out []Rewrite
	families, now := families{up: map[string]string{}, size: map[string]int{}, least: map[string]string{}},
		map[string]string{}
	for _, r := range RewritesThatCount(all) {
		if families.join(r.Old, r.New) {
			out = append(out, r)
			now[r.Old] = r.New
		}
	}
	ends := latestPaths(out, now)
	for i, r := range out {
		out[i].Root, out[i].Latest = families.least[families.rootOf(r.Old)], followPath(ends, r.Old)
	}
	return out
}

// RewritesThatCount keeps the rewrites of commits that the ledger names, and of the commits that these became, each
// once.
func RewritesThatCount(all []Rewrite) (out []Rewrite) {
	next := map[string][]string{}
	var reached []string
	is := map[string]bool{}
	reach := func(sha string) {
		if !is[sha] {
			is[sha], reached = true, append(reached, sha)
		}
	}
	for _, r := range all {
		next[r.Old] = append(next[r.Old], r.New)
		if r.Named {
			reach(r.Old)
		}
	}
	for i := 0; i < len(reached); i++ {
		for _, sha := range next[reached[i]] {
			reach(sha)
		}
	}
	seen := map[[2]string]bool{}
	for _, r := range all {
		if pair := [2]string{r.Old, r.New}; is[r.Old] && r.Old != r.New && !seen[pair] {
			seen[pair] = true
			out = append(out, r)
		}
	}
	return out
}

// families are sets of commits, as a disjoint-set forest (union by size).
type families struct {
	up    map[string]string // commit → another one of its family, nearer to the root
	size  map[string]int    // root → how many there are
	least map[string]string // root → the smallest SHA of the family, which does not depend on the order of joins
}

// rootOf is the root of the family of a commit; a new commit is its own.
func (f *families) rootOf(sha string) string {
	if f.up[sha] == "" {
		f.up[sha], f.size[sha], f.least[sha] = sha, 1, sha
	}
	return followPath(f.up, sha)
}

// join makes one family of the families of two commits. It reports false if that would be larger than maxFamily.
func (f *families) join(a, b string) bool {
	a, b = f.rootOf(a), f.rootOf(b)
	if a == b {
		return true
	}
	if f.size[a]+f.size[b] > maxFamily {
		return false
	}
	if f.size[a] < f.size[b] {
		a, b = b, a
	}
	f.up[b], f.size[a], f.least[a] = a, f.size[a]+f.size[b], min(f.least[a], f.least[b])
	return true
}

// followPath is the end of the path that begins at a commit. It shortens the path (path halving).
func followPath(steps map[string]string, sha string) string {
	for {
		next, ok := steps[sha]
		if !ok || next == sha {
			return sha
		}
		if beyond, ok := steps[next]; ok {
			steps[sha] = beyond
		}
		sha = next
	}
}

// latestPaths are the paths from each commit to what it became in the end. A step that would close a cycle is left out.
func latestPaths(rewrites []Rewrite, now map[string]string) map[string]string {
	way := map[string]string{}
	for _, r := range rewrites {
		if now[r.Old] == r.New && followPath(way, r.New) != r.Old {
			way[r.Old] = r.New
		}
	}
	return way
}
