package tests

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestTerminal has the binary on a terminal, as git starts it; internal/cli holds what stands there.
func TestTerminal(t *testing.T) {
	p := harness.New(t).With("TERM=xterm", "GIT_PAGER=cat")
	p.Env = append(p.Env, "PATH="+harness.Binary(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.Init("repo")
	p.Commit("repo", "first", "a.txt", "a\n")
	p.Git("repo", "rekal", "init")
	p.Git("repo", "rekal", "save", "--title", "Leeway", "Tokens have 30 s of leeway.")
	for _, tt := range []struct{ line, want string }{
		{`git rekal leeway`, "1. \x1b[1mLeeway\x1b[m\n   "},
		{`git rekal --json leeway`, `{"schema":1,"query":"leeway"`},
		{`git rekal leeway | cat`, `{"schema":1,"query":"leeway"`},
		{`GIT_PAGER='head -n 1' git rekal leeway && echo well`, "1. \x1b[1mLeeway\x1b[m\nwell\n"},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.line)
		cmd.Dir, cmd.Env = p.At("repo"), p.Environ()
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(tty)
		if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
			t.Fatal(err)
		}
		if err := errors.Join(cmd.Wait(), tty.Close()); err != nil {
			t.Errorf("%s: %v", tt.line, err)
		}
		if got := strings.ReplaceAll(string(out), "\r\n", "\n"); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q", tt.line, got)
		}
	}
}
