package attribution

// What became of code commits. A ledger's rewrites say so of commits that it names itself, and of what it says
// that these became; they tie nothing but the ledger's own sessions. A tie by the word of somebody who did not make the commit
// is inferred, and comes last; why leaves it out. Together they are a graph of the ledger's own,
// in chains, forks and, where somebody means harm, rings. It is resolved once, so that no question
// has to follow it: each rewrite that counts says which family of commits it belongs to and what its commit became
// at last.

// Commit is a code commit as the ledger of an author speaks of it.
type Commit struct{ Email, SHA string } // the address in lower case; "" for any ledger

// Rewrite says that a code commit became another, as the ledger of an author says.
type Rewrite struct {
	Email, Old, New string
	Named           bool // the ledger names Old

	// What it comes to with the other rewrites of the ledger; see Resolve.
	Root string // the least of the commits that rewrites lead to from here, in either direction
	Last string // what Old became at last
}

// maxFamily is how many code commits amends and rebases tie together at most; of what is more, the rest is left
// out. A branch of a hundred commits that was rebased forty times, and then squashed, is one family of 4,000.
const maxFamily = 4096

// Resolve keeps the rewrites of one ledger that count, each once, and tells what they come to. All are in the order
// of the ledger: of several that a commit became, the last one counts as what it is now.
func Resolve(all []Rewrite) []Rewrite {
	var out []Rewrite
	families, now := families{up: map[string]string{}, size: map[string]int{}, least: map[string]string{}}, map[string]string{}
	for _, r := range Counting(all) {
		if families.join(r.Old, r.New) {
			out = append(out, r)
			now[r.Old] = r.New
		}
	}
	ends := endsOf(out, now)
	for i, r := range out {
		out[i].Root, out[i].Last = families.least[families.of(r.Old)], followPath(ends, r.Old)
	}
	return out
}

// Counting keeps the rewrites of commits that the ledger names, and of those that these became, each once.
func Counting(all []Rewrite) (out []Rewrite) {
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
	up    map[string]string // commit → one of its family that is nearer to the root
	size  map[string]int    // root → how many there are
	least map[string]string // root → the least of them, which names the family whatever the order was
}

// of is the root of a commit's family.
func (f *families) of(sha string) string {
	if f.up[sha] == "" {
		f.up[sha], f.size[sha], f.least[sha] = sha, 1, sha
	}
	return followPath(f.up, sha)
}

// join makes one family of two commits' families. It reports false where that would be too large.
func (f *families) join(a, b string) bool {
	a, b = f.of(a), f.of(b)
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

// followPath goes on from a commit to the end, and shortens the way (path halving).
func followPath(way map[string]string, sha string) string {
	for {
		next, ok := way[sha]
		if !ok || next == sha {
			return sha
		}
		if beyond, ok := way[next]; ok {
			way[sha] = beyond
		}
		sha = next
	}
}

// endsOf are ways from each commit to what it became at last. What would close a ring is left out.
func endsOf(rewrites []Rewrite, now map[string]string) map[string]string {
	way := map[string]string{}
	for _, r := range rewrites {
		if now[r.Old] == r.New && followPath(way, r.New) != r.Old {
			way[r.Old] = r.New
		}
	}
	return way
}
