package worktree

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// rules are what the attributes of a folder say of the files below it, as far as git stores something else
// than their bytes.
type rules struct {
	any      bool     // something: ends of lines may be converted
	filtered patterns // a program of the user's makes them into something else
	recoded  patterns // they have another encoding
	ident    patterns // "$Id$" in them is filled in
}

// patterns are those of .gitattributes.
type patterns []string

// kinds are what may be stored of one file.
type kinds struct{ any, filtered, recoded, ident bool }

// attributes tells what may be stored of a file. It looks no closer than it must: what it denies is not so,
// what it grants may be.
func (c *Content) attributes(file string) kinds {
	var k kinds
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		r, ok := c.rules[dir]
		if !ok {
			r.read(c.at(path.Join(dir, ".gitattributes")))
			if dir == "." {
				c.readElsewhere(&r)
			}
			c.rules[dir] = r
		}
		k.any = k.any || r.any
		k.filtered = k.filtered || r.filtered.match(file)
		k.recoded = k.recoded || r.recoded.match(file)
		k.ident = k.ident || r.ident.match(file)
		if dir == "." {
			return k
		}
	}
}

// read adds the rules of a file.
func (r *rules) read(name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		return
	}
	r.any = true
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		for attribute, to := range map[string]*patterns{"filter": &r.filtered, "working-tree-encoding": &r.recoded, "ident": &r.ident} {
			if strings.Contains(line, attribute) {
				*to = append(*to, f[0])
			}
		}
	}
}

// readElsewhere adds the rules that do not lie in the working tree.
func (c *Content) readElsewhere(r *rules) {
	r.read(filepath.Join(c.repo.Layout().CommonDir, "info", "attributes"))
	r.read("/etc/gitattributes")
	crlf := c.repo.Setting("core.autocrlf")
	r.any = r.any || crlf != "" && crlf != "false"
	home := c.repo.Variable("HOME")
	name := c.repo.Setting("core.attributesfile")
	if name == "" {
		name = path.Join(c.repo.Variable("XDG_CONFIG_HOME"), "git/attributes")
		if !path.IsAbs(name) {
			name = "~/.config/git/attributes"
		}
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(home, rest)
	}
	r.read(name)
}

// match reports whether one of the patterns may mean a file: a plain name is compared, what says more (a
// path, a macro, quotes, a set of characters) may.
func (p patterns) match(file string) bool {
	return slices.ContainsFunc(p, func(pattern string) bool {
		if strings.ContainsAny(pattern, `/"[\`) {
			return true
		}
		ok, err := path.Match(pattern, path.Base(file))
		return ok || err != nil
	})
}
