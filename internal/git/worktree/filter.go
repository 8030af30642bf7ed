package worktree

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Options are options for git commands in the working tree: with these, git runs no filter program of the user, whichever attributes a file has.
func (c *Content) Options() ([]string, error) {
	conf, err := c.repo.Config(c.repo.Context())
	if err != nil {
		return nil, err
	}
	out := []string{"-C", c.root, "--git-dir=" + c.repo.Layout().GitDir, "--work-tree=" + c.root, "-c", "core.fsmonitor=false"}
	for key := range conf {
		switch {
		case !strings.HasPrefix(key, "filter."):
		case strings.Contains(key, "="):
			return nil, fmt.Errorf("git: %q can't be set in a command line", key)
		default:
			out = append(out, "-c", key+"=")
		}
	}
	return out, nil
}

// run is what such a git prints.
func (c *Content) run(args ...string) (string, error) {
	options, err := c.Options()
	if err != nil {
		return "", err
	}
	return c.repo.Run(c.repo.Context(), append(options, args...)...)
}

// filter asks git what it would store of files: ends of lines, "$Id$", other encodings. Which of these
// a file has is for git's attributes to say, and libgit2 reads its whole index first.
type filter struct {
	hasher *git.Talk // nil: there is none to ask
}

// newFilter starts one git for all files.
func (c *Content) newFilter() *filter {
	options, err := c.Options()
	if err != nil {
		return &filter{}
	}
	talk, _ := c.repo.Talk(c.repo.Command(c.repo.Context(), append(options, "hash-object", "--stdin-paths")...)) // what can't be asked says nothing
	return &filter{talk}
}

// blob is what git would store of a file.
func (f *filter) blob(file string) git.OID {
	if f.hasher == nil {
		return Unread
	}
	if _, err := io.WriteString(f.hasher.In, git.Quote(file)+"\n"); err != nil {
		return Unread
	}
	line, err := f.hasher.Out.ReadString('\n')
	if id := git.OID(strings.TrimSpace(line)); err == nil && git.IsOID(string(id)) {
		return id
	}
	f.close()
	return Unread
}

func (f *filter) close() {
	if f.hasher != nil {
		_ = f.hasher.End()
		f.hasher = nil
	}
}
