package worktree

import (
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Options are options for git commands in the working tree: with these, git runs no filter program of the user,
// whichever attributes a file has.
func (c *Content) Options() ([]string, error) {
	conf, err := c.repo.Config(c.repo.Context())
	if err != nil {
		return nil, err
	}
	out := []string{
		"-C", c.root, "--git-dir=" + c.repo.Layout().GitDir, "--work-tree=" + c.root, "-c",
		"core.fsmonitor=false",
	}
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

// isUnchangedByFilters reports whether git, with all filters of the user's, finds a file as it is in the index.
func (c *Content) isUnchangedByFilters(file string) bool {
	out, err := c.repo.Run(c.repo.Context(), "-C", c.root, "--literal-pathspecs", "diff-files", "--name-only", "--", file)
	return err == nil && out == ""
}

// blobByGit asks git what it would store of a file: ends of lines, "$Id$", other encodings. Which of these
// a file has is for git's attributes to say, and libgit2 reads its whole index first. One git is asked for all files.
func (c *Content) blobByGit(file string) git.OID {
	if c.hasher == nil && !c.noHasher {
		options, err := c.Options()
		if err == nil {
			c.hasher, err = c.repo.Talk(c.repo.Command(c.repo.Context(), append(options, "hash-object", "--stdin-paths")...))
		}
		c.noHasher = err != nil
	}
	if c.noHasher {
		return Unread
	}
	if id, err := c.hasher.Ask(git.Quote(file)); err == nil && git.IsOID(id) {
		return git.OID(id)
	}
	c.Close() // the next file starts another
	return Unread
}
