package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// TestContextEndsTalks: whoever waits for an answer of git waits no longer than the repository was opened for, though a
// process that git started goes on and has its streams.
func TestContextEndsTalks(t *testing.T) {
	for _, tt := range []struct {
		blocked string
		ask     func(r *git.Repo, head git.OID) error
	}{
		{"cat-file", func(r *git.Repo, head git.OID) error {
			_, err := r.Commit(head)
			return err
		}},
		{"for-each-ref", func(r *git.Repo, _ git.OID) error {
			_, err := r.Refs("refs/heads/*")
			return err
		}},
		{"hash-object", func(r *git.Repo, _ git.OID) error {
			c, err := worktree.Open(r, "")
			if err == nil && c.Blob("crlf", nil) == worktree.Unread {
				err = r.Context().Err()
			}
			c.Close()
			return err
		}},
	} {
		t.Run(tt.blocked, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r", "--object-format=sha256")
			p.Git("r", "config", "core.autocrlf", "true")
			p.Write("r/crlf", "1\r\n")
			head, started := p.Rev("r", "HEAD"), p.At("started")
			p.Write("bin/git", fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' %s '*) sleep 600 & echo $! >%s; wait;; esac\nexec %s \"$@\"\n", tt.blocked, started, repos.Must(exec.LookPath("git"))(t)))
			if err := os.Chmod(p.At("bin/git"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", p.At("bin")+":"+os.Getenv("PATH"))
			ctx, stop := context.WithCancel(t.Context())
			r := repos.Must(git.Open(ctx, p.At("r"), p.Environ()))(t)
			defer r.Close()
			go func() {
				// the shell makes the file before it writes
				for said := ""; !strings.HasSuffix(said, "\n"); time.Sleep(time.Millisecond) {
					text, _ := os.ReadFile(started)
					said = string(text)
				}
				stop()
			}()
			if err := tt.ask(r, head); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want that it was stopped", err)
			}
			_, err := r.Commit(head)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("afterwards: error %v, want that it was stopped", err)
			}
			sleeper := strings.TrimSpace(string(repos.Must(os.ReadFile(started))(t)))
			if out, err := exec.Command("kill", sleeper).CombinedOutput(); err != nil {
				t.Errorf("the process that git started: %v: %s", err, out)
			}
			harness.Equal(t, "the branch", head, p.Rev("r", "main"))
		})
	}
}
