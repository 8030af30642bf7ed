package worktree

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// filter asks git what it would store of files: ends of lines, "$Id$", other encodings. Which of these
// a file has is for git's attributes to say, and libgit2 reads its whole index first.
type filter struct {
	in   io.WriteCloser
	out  *bufio.Reader
	stop func()
}

// newFilter starts one git for all files, in which programs of the user's have nothing to do, whichever
// attributes a file has.
func (c *Content) newFilter() *filter {
	conf, err := c.repo.Config(context.Background())
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
	cmd := c.repo.Command(context.Background(), append(args, "hash-object", "--stdin-paths")...)
	cmd.Dir = c.root
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err != nil || err2 != nil || cmd.Start() != nil {
		return &filter{}
	}
	return &filter{in, bufio.NewReader(out), func() { _, _ = cmd.Process.Kill(), cmd.Wait() }}
}

// blob is what git would store of a file.
func (f *filter) blob(file string) git.OID {
	if f.out == nil {
		return Unread
	}
	if _, err := io.WriteString(f.in, git.Quote(file)+"\n"); err != nil {
		return Unread
	}
	line, err := f.out.ReadString('\n')
	if id := git.OID(strings.TrimSpace(line)); err == nil && git.IsOID(string(id)) {
		return id
	}
	f.close()
	*f = filter{}
	return Unread
}

func (f *filter) close() {
	if f.out != nil {
		f.stop()
	}
}
