package worktree

import (
	"io"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// filter asks git what it would store of files: ends of lines, "$Id$", other encodings. Which of these
// a file has is for git's attributes to say, and libgit2 reads its whole index first.
type filter struct {
	talk *git.Talk // nil: there is none to ask
}

// newFilter starts one git for all files, in which programs of the user's have nothing to do, whichever
// attributes a file has.
func (c *Content) newFilter() *filter {
	ctx := c.repo.Context()
	conf, err := c.repo.Config(ctx)
	if err != nil {
		return &filter{}
	}
	args := []string{"--git-dir=" + c.repo.Layout().GitDir, "--work-tree=" + c.root}
	for key := range conf {
		if !strings.HasPrefix(key, "filter.") {
			continue
		}
		if strings.Contains(key, "=") { // which can't be said
			return &filter{}
		}
		args = append(args, "-c", key+"=")
	}
	cmd := c.repo.Command(ctx, append(args, "hash-object", "--stdin-paths")...)
	cmd.Dir = c.root
	talk, _ := c.repo.Talk(cmd) // what can't be asked says nothing
	return &filter{talk}
}

// blob is what git would store of a file.
func (f *filter) blob(file string) git.OID {
	if f.talk == nil {
		return Unread
	}
	if _, err := io.WriteString(f.talk.In, git.Quote(file)+"\n"); err != nil {
		return Unread
	}
	line, err := f.talk.Out.ReadString('\n')
	if id := git.OID(strings.TrimSpace(line)); err == nil && git.IsOID(string(id)) {
		return id
	}
	f.close()
	return Unread
}

func (f *filter) close() {
	if f.talk != nil {
		_ = f.talk.End()
		f.talk = nil
	}
}
