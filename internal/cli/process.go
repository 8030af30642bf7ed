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

// Start runs the program with what the system gives, and returns the exit status. It is all that a main function calls:
// everything below is handed its clock, environment, randomness and streams. What is missing (a home folder, a working
// directory that was deleted) is reported by the command that needs it.
func Start(version string, full *Full) int {
	ctx, _ := signal.NotifyContext(context.Background(), heard()...)
	home, _ := os.UserHomeDir()
	by := os.Getenv(startedBy)
	_ = os.Unsetenv(startedBy) // it has a name
	info, err := os.Stderr.Stat()
	app := &App{
		Process: workspace.Process{
			Dir: workingDir(), Env: os.Environ(), Home: home, Exe: smallPath(full, by), Now: time.Now,
			Rand: rand.Reader,
		},
		Version: version, Full: full, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Ends: true,
		Terminal: err == nil && info.Mode()&os.ModeCharDevice != 0,
	}
	if full == nil && by != "" { // else it would start itself for ever
		app.notify(explain(errNotFull))
		return exitFail
	}
	app.Weights = app.findWeights
	return Main(ctx, app, os.Args[1:])
}

// smallPath is where git-rekal lies, which hooks and processes in the background call: by is what started
// git-rekal-full, if that is known.
func smallPath(full *Full, by string) string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if full == nil {
		return exe
	}
	if filepath.IsAbs(by) {
		return by
	}
	if small, err := beside(exe, smallName, "../../bin", errNoFull); err == nil {
		return small
	}
	return exe // git-rekal-full alone does it, too
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
