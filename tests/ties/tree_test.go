package ties

import "slices"

// file is a file under the name that it has in one tree.
type file struct {
	path string
	text text
}

// tree holds files by a number, which stays when they are renamed.
type tree map[int]file

// commit is one of git's, with what the model knows to be in it.
type commit struct {
	sha     string
	n       int // they are numbered as they come into being
	parents []*commit
	tree    tree
	has     map[*line]bool // the roots of its lines
}

// with is the tree with a file set to something else.
func (t tree) with(number int, f file) tree {
	out := tree{}
	for n, f := range t {
		out[n] = f
	}
	out[number] = f
	return out
}

// numbers are the files in order.
func (t tree) numbers() []int {
	var out []int
	for n := range t {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (f file) equal(g file) bool { return f.path == g.path && slices.Equal(f.text, g.text) }

func (t tree) equal(u tree) bool {
	for n, f := range t {
		if !f.equal(u[n]) {
			return false
		}
	}
	return len(t) == len(u)
}

// mergedTrees is merged for whole trees. A file without a name is none.
func mergedTrees(base, ours, theirs tree) (tree, bool) {
	out := tree{}
	for _, from := range []tree{ours, theirs} {
		for n := range from {
			b, o, t := base[n], ours[n], theirs[n]
			f := file{path: o.path}
			if o.path == b.path {
				f.path = t.path
			}
			var ok bool
			if f.text, ok = merged(b.text, o.text, t.text); !ok || t.path != b.path && o.path != b.path && o.path != t.path {
				return nil, false
			}
			if f.path != "" {
				out[n] = f
			} else if len(f.text) > 0 {
				return nil, false
			}
		}
	}
	return out, true
}

// past is all that stands behind a commit, and itself.
func (c *commit) past() map[*commit]bool {
	seen := map[*commit]bool{}
	left := []*commit{c}
	for len(left) > 0 {
		c := left[len(left)-1]
		left = left[:len(left)-1]
		if !seen[c] {
			seen[c] = true
			left = append(left, c.parents...)
		}
	}
	return seen
}

// base is the latest commit that two have in common.
func base(c, d *commit) *commit {
	var out *commit
	in := d.past()
	for p := range c.past() {
		if in[p] && (out == nil || p.n > out.n) {
			out = p
		}
	}
	return out
}

// since are the commits from one on, the oldest first; linear is false where there is a merge among them.
func (c *commit) since(b *commit) (out []*commit, linear bool) {
	linear = true
	for ; c != b && c != nil; c = c.parents[0] {
		linear = linear && len(c.parents) == 1
		out = append(out, c)
		if len(c.parents) == 0 {
			break
		}
	}
	slices.Reverse(out)
	return out, linear
}

// brought is the commit that brought a line to where it stands.
func (c *commit) brought(l *line) *commit {
	for {
		next := slices.IndexFunc(c.parents, func(p *commit) bool { return p.holds(l.root) })
		if next < 0 {
			return c
		}
		c = c.parents[next]
	}
}

func (c *commit) holds(root *line) bool {
	if c.has == nil {
		c.has = map[*line]bool{}
		for _, f := range c.tree {
			for _, l := range f.text {
				c.has[l.root] = true
			}
		}
	}
	return c.has[root]
}
