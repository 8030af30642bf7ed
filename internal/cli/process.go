package cli

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Start runs the program with what the system gives, and returns the exit status. It is all that a main function calls: everything below is handed
// its clock, environment, randomness and streams. What is missing (a home folder, a working directory that was deleted) is
// reported by the command that needs it.
func Start(version string, full *Full) int {
	ctx, _ := signal.NotifyContext(context.Background(), heard()...)
	home, _ := os.UserHomeDir()
	info, err := os.Stderr.Stat()
	app := &App{
		Process: workspace.Process{Dir: workingDir(), Env: os.Environ(), Home: home, Exe: smallPath(full), Now: time.Now, Rand: rand.Reader},
		Version: version, Full: full, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Ends: true,
		Terminal: err == nil && info.Mode()&os.ModeCharDevice != 0,
	}
	app.Weights = app.findWeights
	return Main(ctx, app, os.Args[1:])
}

// smallPath is where git-rekal lies, which hooks and processes in the background call.
func smallPath(full *Full) string {
	exe, _ := os.Executable()
	if full == nil {
		return exe
	}
	small, err := beside(exe, smallName, errNoFull)
	if err != nil { // git-rekal-full alone does it, too
		return exe
	}
	return filepath.Clean(small)
}

// heard are the signals that end a command. What our caller ignores (a job in the background) stays ignored, also by
// what "git rekal run" runs.
func heard() (all []os.Signal) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(sig) {
			all = append(all, sig)
		}
	}
	if len(all) == 0 { // which NotifyContext would take for all signals
		return []os.Signal{syscall.SIGXCPU}
	}
	return all
}

func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return dir
}
