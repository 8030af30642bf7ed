package worktree

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// attributes are the lines of attribute files that may apply to a file. found says whether there is any attribute file:
// without one, git stores a file's bytes as they are.
func (c *Content) attributes(file string) (lines string, found bool) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		all := c.attributesIn(dir)
		found = found || len(all) > 0
		for _, line := range all {
			if mayApply(line, path.Base(file)) {
				lines += line
			}
		}
		if dir == "." {
			return lines, found
		}
	}
}

// attributesIn are the lines of a folder's own file; of the root also those that do not lie in the working tree.
func (c *Content) attributesIn(dir string) []string {
	lines, ok := c.attributeLines[dir]
	if !ok {
		files := []string{c.diskPath(path.Join(dir, ".gitattributes"))}
		if dir == "." {
			files = append(files, filepath.Join(c.repo.Layout().CommonDir, "info", "attributes"), "/etc/gitattributes",
				c.usersAttributes())
			if crlf := c.repo.Setting("core.autocrlf"); crlf != "" && crlf != "false" {
				lines = append(lines, "* text=auto\n")
			}
		}
		for _, name := range files {
			if text, err := os.ReadFile(name); err == nil { // mostly there is none
				lines = append(lines, strings.SplitAfter(string(text), "\n")...)
			}
		}
		c.attributeLines[dir] = lines
	}
	return lines
}

// usersAttributes is the file with those of all repositories.
func (c *Content) usersAttributes() string {
	name := c.repo.Setting("core.attributesfile")
	if name == "" {
		name = path.Join(c.repo.Variable("XDG_CONFIG_HOME"), "git/attributes")
		if !path.IsAbs(name) {
			name = "~/.config/git/attributes"
		}
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(c.repo.Variable("HOME"), rest)
	}
	return name
}

// mayApply reports whether a line of an attribute file may apply to a file of a name: a plain pattern is compared, what
// says more (a path, a macro, quotes, a set of characters) may.
func mayApply(line, name string) bool {
	pattern, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	if strings.ContainsAny(pattern, "/\"[\\\t") {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok || err != nil
}
