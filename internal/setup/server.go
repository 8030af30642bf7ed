package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// installServers adds the MCP server to the configurations of the agents that are used here, and leaves every other byte of them.
func installServers(l Layout, made *record, r *Report) error {
	if !l.MCP {
		return nil
	}
	if l.WorkTree == "" {
		r.hint("a bare repository has no configuration of agents: run `git rekal init --mcp` in a worktree")
		return nil
	}
	var errs []error
	var written []string
	for _, c := range l.wanted() {
		wrote, err := installServer(l, c, made, r)
		errs = append(errs, err)
		if wrote {
			written = append(written, c.path)
		}
	}
	if written != nil {
		r.hint("agents that read %s start git-rekal from now on; commit what the team is to have. Agents ask, or want the folder trusted, before they do",
			strings.Join(written, ", "))
	}
	return errors.Join(errs...)
}

func installServer(l Layout, c config, made *record, r *Report) (wrote bool, err error) {
	path := filepath.Join(l.WorkTree, filepath.FromSlash(c.path))
	if link := l.linkOn(c.path); link != "" {
		r.hint("%s is a link, and what it leads to may serve other repositories; register the server `git-rekal mcp` there", l.show(link))
		return false, nil
	}
	if isSpecial(path) { // to read a pipe is to wait
		r.hint("%s is no file and was left alone", c.path)
		return false, nil
	}
	text, err := os.ReadFile(path)
	if absentIsFine(err) != nil {
		return false, fmt.Errorf("setup: read %s: %w", c.path, err)
	}
	if err != nil {
		text = nil
	}
	more, err := c.form.add(text)
	if err != nil {
		return false, fmt.Errorf("setup: %s was left alone: %w: add the server `git-rekal mcp` by hand", c.path, err)
	}
	if text != nil && bytes.Equal(more, text) {
		if line, _ := c.form.line(text); starts(line) {
			r.already("MCP server in %s", c.path)
		} else {
			r.hint("the server %q in %s runs something else and was left alone; take it out and run `git rekal init --mcp` again, or register `git-rekal mcp` under another name", serverName, c.path)
		}
		return false, nil
	}
	if err := made.noteFile(path); err != nil {
		return false, err
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = writeFile(path, more, 0o666)
	}
	if err != nil {
		return false, fmt.Errorf("setup: write %s: %w", c.path, err)
	}
	r.done("MCP server in %s", c.path)
	return true, nil
}

// linkOn is the first link on the way to a path below the worktree; "" where there is none.
func (l Layout) linkOn(path string) string {
	at := l.WorkTree
	for name := range strings.SplitSeq(path, "/") {
		if at = filepath.Join(at, name); isLink(at) {
			return at
		}
	}
	return ""
}

// ownFile reads a file that Install may have changed; nil for one that is not there, or that it leaves alone.
func (l Layout) ownFile(path string) ([]byte, error) {
	if isLink(path) || isSpecial(path) {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if absentIsFine(err) != nil {
		return nil, fmt.Errorf("setup: read %s: %w", l.show(path), err)
	}
	if err != nil {
		return nil, nil
	}
	return text, nil
}

// removeServer takes the server out of a configuration into which Install put it, and the file where that made it.
func removeServer(l Layout, path string, r *Report) error {
	text, err := l.ownFile(path)
	if text == nil {
		return err
	}
	form := configAt(path).form
	rest, found := form.cut(text)
	_, named := form.line(text)
	switch {
	case !found && named:
		r.hint("the server %q in %s was edited and stays", serverName, l.show(path))
		return nil
	case !found:
		return nil
	case rest == nil:
		err = os.Remove(path)
	default:
		err = writeFile(path, rest, 0o666)
	}
	if err != nil {
		return fmt.Errorf("setup: take the server out of %s: %w", l.show(path), err)
	}
	r.done("MCP server in %s", l.show(path))
	return nil
}

// isSpecial reports whether something is there that is neither a file nor a folder nor a link.
func isSpecial(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeDevice) != 0
}

// starts reports whether a command line, as somebody wrote it, starts git-rekal: by whatever path, or as a command of
// git, which may be told the folder.
func starts(line []string) bool {
	line = slices.Clone(line)
	if len(line) > 3 && line[1] == "-C" {
		line = slices.Delete(line, 1, 3)
	}
	if len(line) > 0 {
		line[0] = strings.TrimSuffix(filepath.Base(line[0]), ".exe")
	}
	return slices.Equal(line, []string{serverName, "mcp"}) || slices.Equal(line, []string{"git", "rekal", "mcp"})
}
