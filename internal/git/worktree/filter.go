package worktree

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// command is a git in the working tree in which programs of the user's have nothing to do, whichever attributes a file has.
func (c *Content) command(args ...string) (*exec.Cmd, error) {
	ctx := c.repo.Context()
	conf, err := c.repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	own := []string{"--git-dir=" + c.repo.Layout().GitDir, "--work-tree=" + c.root, "-c", "core.fsmonitor=false"}
	for key := range conf {
		switch {
		case !strings.HasPrefix(key, "filter."):
		case strings.Contains(key, "="):
			return nil, fmt.Errorf("git: %q can't be set in a command line", key)
		default:
			own = append(own, "-c", key+"=")
		}
	}
	cmd := c.repo.Command(ctx, append(own, args...)...)
	cmd.Dir = c.root
	return cmd, nil
}

// run is what such a git prints.
func (c *Content) run(args ...string) (string, error) {
	cmd, err := c.command(args...)
	if err != nil {
		return "", err
	}
	out, err := cmd.Output()
	return string(out), err
}

// filter asks git what it would store of files: ends of lines, "$Id$", other encodings. Which of these
// a file has is for git's attributes to say, and libgit2 reads its whole index first.
type filter struct {
	talk *git.Talk // nil: there is none to ask
}

// newFilter starts one git for all files.
func (c *Content) newFilter() *filter {
	cmd, err := c.command("hash-object", "--stdin-paths")
	if err != nil {
		return &filter{}
	}
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
