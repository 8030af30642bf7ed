package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

var version = "dev" // set by the linker

// process gathers what the system gave: everything below is handed its clock, environment,
// randomness and streams. What is missing (a home folder, a working directory that was
// deleted) is reported by the command that needs it.
func process() (context.Context, *cli.App) {
	ctx, _ := signal.NotifyContext(context.Background(), heard()...)
	home, _ := os.UserHomeDir()
	exe, _ := os.Executable()
	info, err := os.Stderr.Stat()
	return ctx, &cli.App{
		Process: workspace.Process{
			Dir: workingDir(), Env: os.Environ(), Home: home, Exe: exe, Now: time.Now, Rand: rand.Reader,
		},
		Version: version, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Ends: true,
		Terminal: err == nil && info.Mode()&os.ModeCharDevice != 0,
	}
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
