package git

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// rules are what the attributes of a folder say of the files below it.
type rules struct {
	any     bool     // something: ends of lines may be converted
	filters []string // patterns of files that a filter makes into something else
}

// filtering are the attributes by which git stores something else than the bytes and their ends of lines.
var filtering = []string{"filter", "ident", "working-tree-encoding"} //nolint:gochecknoglobals // a table

// attributes reports whether what is stored of a file may have other ends of lines than the file, and
// whether it may be something else altogether.
func (c *Content) attributes(file string) (converted, filtered bool) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		r, ok := c.rules[dir]
		if !ok {
			r.read(c.at(path.Join(dir, ".gitattributes")))
			if dir == "." {
				c.readElsewhere(&r)
			}
			c.rules[dir] = r
		}
		converted = converted || r.any
		filtered = filtered || slices.ContainsFunc(r.filters, func(p string) bool { return mayMatch(p, file) })
		if dir == "." {
			return converted, filtered
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
		if len(f) > 1 && slices.ContainsFunc(filtering, func(a string) bool { return strings.Contains(line, a) }) {
			r.filters = append(r.filters, f[0])
		}
	}
}

// readElsewhere adds the rules that do not lie in the working tree.
func (c *Content) readElsewhere(r *rules) {
	r.read(filepath.Join(c.repo.layout.CommonDir, "info", "attributes"))
	conf, err := c.repo.r.Config()
	if err != nil {
		return
	}
	defer conf.Free()
	crlf, _ := conf.LookupString("core.autocrlf")
	r.any = r.any || crlf != "" && crlf != "false"
	home := lookup(c.repo.env, "HOME")
	name, err := conf.LookupString("core.attributesfile")
	if err != nil {
		name = path.Join(lookup(c.repo.env, "XDG_CONFIG_HOME"), "git/attributes")
		if !path.IsAbs(name) {
			name = "~/.config/git/attributes"
		}
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(home, rest)
	}
	r.read(name)
}

// mayMatch reports whether a pattern of .gitattributes may mean a file: a plain name is compared, what says more
// (a path, a macro, quotes) may.
func mayMatch(pattern, file string) bool {
	if strings.ContainsAny(pattern, `/"`) || strings.HasPrefix(pattern, "[attr]") {
		return true
	}
	ok, err := path.Match(pattern, path.Base(file))
	return ok || err != nil
}
