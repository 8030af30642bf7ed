package tests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestLongHookEnds: where a git that a hook starts does not answer, the hook ends nevertheless, and that git with it.
// Once git answers, another process captures what the hook left.
func TestLongHookEnds(t *testing.T) {
	for _, tt := range []struct{ format, hook, blocked string }{
		{"sha256", "post-commit", "cat-file"},
		{"sha256", "post-commit", "for-each-ref"},
		{"sha256", "post-commit", "config"},
		{"sha256", "post-commit", "update-ref"},
		{"sha256", "post-rewrite amend", "cat-file"},
		{"sha256", "pre-push origin .", "cat-file"},
		{"sha1", "post-commit", "config"},
		{"sha1", "post-commit", "var"},
		{"sha1", "post-commit", "update-ref"},
	} {
		t.Run(strings.Join([]string{tt.format, tt.hook, tt.blocked}, " "), func(t *testing.T) {
			t.Parallel()
			p := harness.New(t)
			p.Init("repo", "--object-format="+tt.format)
			bin := filepath.Join(harness.Binary(t), "git-rekal")
			real, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}
			block, hit := p.At("block"), p.At("hit")
			p.Write("bin/git", fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' %s '*) if [ -e %s ]; then echo $$ $PPID >>%s; while [ -e %[2]s ]; do sleep .1; done; fi;; esac\nexec %[4]s \"$@\"\n",
				tt.blocked, block, hit, real))
			if err := os.Chmod(p.At("bin/git"), 0o700); err != nil {
				t.Fatal(err)
			}
			p.Env = append(p.Env, "PATH="+p.At("bin")+":"+os.Getenv("PATH"))
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second) // far more than a hook has
			defer stop()
			run := func(args ...string) int {
				cmd := exec.CommandContext(ctx, bin, args...)
				cmd.Dir, cmd.Env, cmd.WaitDelay = p.At("repo"), p.Environ(), time.Second
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
				return cmd.Process.Pid
			}
			run("init")
			p.Git("repo", "config", "core.hooksPath", os.DevNull)
			p.Commit("repo", "one", "a.txt", "one\n")
			ledger := func() string { return p.Git("repo", "rev-parse", "rekal/a@example.com") }
			before := ledger()
			p.Write(harness.Transcript(p.Home(), p.At("repo"), "s"), fmt.Sprintf(
				`{"cwd":%q,"sessionId":"11111111-0000-4000-8000-000000000001","version":"2.1.39","gitBranch":"main","type":"user","timestamp":%q,"message":{"role":"user","content":"why"}}`+"\n",
				p.At("repo"), time.Now().UTC().Format(time.RFC3339)))

			p.Write("block", "")
			hook := run(append([]string{"hook"}, strings.Fields(tt.hook)...)...)
			started, err := os.ReadFile(hit)
			if err != nil {
				t.Fatalf("nothing was blocked: %v", err)
			}
			for line := range strings.Lines(string(started)) {
				f := strings.Fields(line)
				if f[1] != strconv.Itoa(hook) {
					continue // of the process that goes on
				}
				if state, _ := exec.Command("ps", "-o", "stat=", "-p", f[0]).Output(); len(state) > 0 && state[0] != 'Z' {
					t.Errorf("process %s that the hook started is there: %s", f[0], state)
				}
			}
			if now := ledger(); now != before {
				t.Fatal("it was captured though git did not answer")
			}
			if err := os.Remove(block); err != nil {
				t.Fatal(err)
			}
			for ledger() == before {
				if ctx.Err() != nil {
					t.Fatal("nobody captured what the hook left")
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}
