package hook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// maxCallers is how many processes are between git and this one at most: a shell, a hook manager and what that starts.
const maxCallers = 6

// gitCommand is the command line of the git that runs the hook; "" where the system does not tell. It is asked for only
// where several commits may be the hook's own.
func gitCommand(ctx context.Context) string { return strings.Join(gitArguments(ctx), " ") }

// gitArguments are its words, as far as the system parts them.
func gitArguments(ctx context.Context) []string {
	pid := os.Getppid()
	for range maxCallers {
		args, parent := process(ctx, pid)
		if len(args) > 0 && (args[0] == "git" || strings.HasSuffix(args[0], "/git")) {
			return args
		}
		if parent <= 1 {
			break
		}
		pid = parent
	}
	return nil
}

// process is the command line of a process, and its parent: from /proc or, where there is none, from ps.
func process(ctx context.Context, pid int) (args []string, parent int) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	stat, errStat := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil && errStat == nil {
		// the name before it may hold anything
		after := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(after) > 1 {
			parent, _ = strconv.Atoi(after[1])
		}
		return strings.Split(strings.TrimRight(string(line), "\x00"), "\x00"), parent
	}
	out, err := exec.CommandContext(ctx, "ps", "-o", "ppid=,args=", "-p", strconv.Itoa(pid)).Output()
	text, rest, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if parent, _ = strconv.Atoi(text); err != nil {
		return nil, 0
	}
	return strings.Fields(rest), parent
}
