package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestLongRunMemory runs a command that prints 1 GB: 64 MB of memory are enough.
func TestLongRunMemory(t *testing.T) {
	p := harness.New(t)
	p.Init("repo")
	run := func(args ...string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command(filepath.Join(harness.Binary(t), "git-rekal"), args...)
		cmd.Dir, cmd.Env = p.At("repo"), append(p.Environ(), "PATH="+os.Getenv("PATH"))
		if out, err := cmd.Output(); err != nil || args[0] == "run" && !strings.Contains(string(out), "[1] exit 0, ") {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return cmd
	}
	run("init")
	cmd := run("run", "--", "sh", "-c",
		"yes '2026-11-23T10:00:00Z INFO request 7919 of /v1/items took 42 ms and no more' | head -c 1000000000")
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || used.Maxrss > 64<<10 {
		t.Errorf("%d KB", used.Maxrss)
	}
	t.Logf("%d KB, %v of processor time", used.Maxrss, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	run("show", "1", "--raw")
}
