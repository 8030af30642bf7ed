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
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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

func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return dir
}
