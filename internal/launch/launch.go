// Package launch knows how coding agents are started: to go on with a session of theirs, or with a first prompt.
//
// In: the name of an agent as a session's source, the agent's own ID of the session, and a first prompt, of our own
// words only: every user of the machine sees the arguments of a program, so what others wrote is in a file that the
// prompt names. Out: a command, as a line to copy or in the place of this process.
package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-rekal/git-rekal/internal/agent"
)

// ErrNoAgent is a source that no program goes on with.
var ErrNoAgent = errors.New("no program that can be started is known for it")

// NotInstalledError is an agent whose program is not on PATH.
type NotInstalledError struct{ Program string }

func (e *NotInstalledError) Error() string { return fmt.Sprintf("%s is not on PATH", e.Program) }

// Hint is what to do about it.
func (*NotInstalledError) Hint() string {
	return `install it, or take another one: "git rekal handoff SESSION --to AGENT"`
}

// Command is what is run.
type Command struct {
	Dir  string   // where; "" where that does not matter
	Args []string // the program first
}

// Resume is how the agent of a session goes on with it. hint is said to it at once, if it takes one; "" for nothing.
func Resume(source, nativeID, hint string, more []string) (Command, error) {
	l, err := launchOf(source)
	if err != nil {
		return Command{}, err
	}
	args := []string{l.Program}
	switch {
	case l.Command != "":
		args = append(args, l.Command, nativeID)
	case strings.HasSuffix(l.Resume, "="):
		args = append(args, l.Resume+nativeID)
	default:
		args = append(args, l.Resume, nativeID)
	}
	if l.NoPromptOnResume {
		hint = ""
	}
	return Command{Args: withPrompt(l, append(args, more...), hint)}, nil
}

// Begin is how an agent begins a session with a prompt.
func Begin(source, prompt string, more []string) (Command, error) {
	l, err := launchOf(source)
	if err != nil {
		return Command{}, err
	}
	return Command{Args: withPrompt(l, append([]string{l.Program}, more...), prompt)}, nil
}

func launchOf(source string) (agent.Launch, error) {
	a, ok := agent.Named(source)
	if !ok {
		return agent.Launch{}, fmt.Errorf("%q: %w", source, ErrNoAgent)
	}
	return a.Launch, nil
}

func withPrompt(l agent.Launch, args []string, prompt string) []string {
	if prompt == "" {
		return args
	}
	if l.Prompt != "" {
		args = append(args, l.Prompt)
	}
	return append(args, prompt)
}

// plain are arguments that a shell takes as they are.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,@%+"

// ShellLine is the command as a shell of POSIX takes it.
func (c Command) ShellLine() string {
	var words []string
	for _, a := range c.Args {
		if a == "" || strings.Trim(a, plain) != "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	line := strings.Join(words, " ")
	if c.Dir != "" {
		line = "cd " + Command{Args: []string{c.Dir}}.ShellLine() + " && " + line
	}
	return line
}

// Start puts the command in the place of this process, with its environment. It returns only with an error: a
// NotInstalledError, or what the system says.
func (c Command) Start(env []string) error {
	program := c.path(env)
	if program == "" {
		return &NotInstalledError{c.Args[0]}
	}
	if c.Dir != "" {
		if err := os.Chdir(c.Dir); err != nil {
			return fmt.Errorf("launch: %w", err)
		}
		env = append(slices.Clone(env), "PWD="+c.Dir)
	}
	if err := syscall.Exec(program, c.Args, env); err != nil {
		return fmt.Errorf("launch: %s: %w", program, err)
	}
	return nil
}

// path is where the program is on PATH; "" where it is not.
func (c Command) path(env []string) string {
	for _, v := range slices.Backward(env) {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			name := filepath.Join(dir, c.Args[0])
			if !filepath.IsAbs(name) {
				continue // as exec does, and a repository must not choose the program
			}
			if found, err := exec.LookPath(name); err == nil {
				return found
			}
		}
		break
	}
	return ""
}
