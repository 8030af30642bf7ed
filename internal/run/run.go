// Package run runs a command as if nothing stood between it and its caller, and listens to its output.
//
// In: arguments, three files, a listener. Out: the exit status that a shell would give. The output passes through as it
// comes, or goes only to the listener. Promises:
//
//   - stdin is handed on. If stdout or stderr is a terminal, the command gets a pty of the same size, else a pipe.
//     Streams to one place become one; of two the order is as read.
//   - The command stays in our process group. So Ctrl-C, Ctrl-Z and fg reach it, and a prompt on /dev/tty goes directly
//     to the person. The terminal's modes never change. Signals sent to us alone are passed on.
//   - The output is handed on whole, in order and unchanged. If nobody takes it, the command's next write fails, as it
//     would without us. A child that it leaves behind is heard for at most a second after its exit.
//   - A slow listener delays the output only while it works, and loses none of it.
//
// It knows no repository and keeps nothing.
package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Command is what to run.
type Command struct {
	Args   []string
	Dir    string
	Env    []string
	Stdin  *os.File // nil: nothing
	Stdout io.Writer
	Stderr io.Writer
	// Show says which streams go on to ours; what does not is only heard. It is asked once for each, when something comes
	// first: the command starts meanwhile.
	Show func(Stream) bool
	Hear func([]byte) // all that is printed, in one order; called by one goroutine at a time
}

// Stream is stdout or stderr.
type Stream int

// The streams.
const (
	Out Stream = iota
	Err
)

// Statuses of a shell, for a command that could not be started.
const (
	NotExecutable = 126
	NotFound      = 127
)

// How long is waited behind the exit for what others still print: as long as there is something, and at most a second.
const (
	quiet = 100 * time.Millisecond
	last  = time.Second
)

// Exit is how a command ended.
type Exit struct {
	Status int   // as a shell gives it: 128+n for signal n
	Failed error // it could not be started; Status says how
	Lost   error // its output could not be handed on; nil while all went well
}

// Run runs a command to its end.
func Run(c Command) Exit {
	path, err := programPath(c)
	if err != nil {
		return notStarted(c, err)
	}
	s, err := openStreams(c)
	if err != nil {
		return Exit{Status: NotExecutable, Failed: fmt.Errorf("run: %w", err)}
	}
	cmd := &exec.Cmd{Path: path, Args: c.Args, Dir: c.Dir, Env: c.Env, Stdout: s.out.child, Stderr: s.err.child}
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	signals := catchSignals()
	defer signals.stop()
	if err := cmd.Start(); err != nil {
		s.close()
		return notStarted(c, err)
	}
	s.startReading()
	go signals.passOn(cmd.Process, s)
	err = cmd.Wait()
	s.drain()
	return Exit{Status: status(cmd.ProcessState, err), Lost: s.outputError()}
}

// programPath is the program that the first argument names, as a shell finds it.
func programPath(c Command) (string, error) {
	name := c.Args[0]
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	if name == "" {
		return "", fs.ErrNotExist
	}
	path := ""
	for _, kv := range c.Env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	var denied error
	for _, dir := range strings.Split(path, ":") {
		if dir == "" {
			dir = "."
		}
		file := dir + "/" + name
		switch info, err := os.Stat(file); {
		case err != nil || info.IsDir():
		case info.Mode()&0o111 == 0:
			denied = fs.ErrPermission
		default:
			return file, nil
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fs.ErrNotExist
}

func notStarted(c Command, err error) Exit {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Exit{Status: NotFound, Failed: fmt.Errorf("run: %q: command not found", c.Args[0])}
	case errors.Is(err, syscall.ENOEXEC):
		return Exit{
			Status: NotExecutable,
			Failed: fmt.Errorf("run: %q: no program that the system can run (a script begins with #!)", c.Args[0]),
		}
	}
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
		err = cause.Err
	}
	return Exit{Status: NotExecutable, Failed: fmt.Errorf("run: %q: %w", c.Args[0], err)}
}

// status is what a shell makes of an exit.
func status(state *os.ProcessState, err error) int {
	if state == nil {
		return NotExecutable
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	if code := state.ExitCode(); code >= 0 {
		return code
	}
	if err != nil {
		return 1
	}
	return 0
}

// Quote joins arguments as they would be typed.
func Quote(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
