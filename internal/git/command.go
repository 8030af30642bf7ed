package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Identity is the committer as git itself resolves it (libgit2 ignores environment
// variables, `git -c` and conditional includes). It returns ErrNoIdentity, with git's
// last line, when git has none.
func (r *Repo) Identity(ctx context.Context) (Signature, error) {
	if sig, ok := r.identityByLibrary(); ok {
		return sig, nil
	}
	out, err := r.Run(ctx, "var", "GIT_COMMITTER_IDENT")
	var refused *exec.ExitError
	if errors.As(err, &refused) {
		return Signature{}, fmt.Errorf("git: %w: %w", ErrNoIdentity, err)
	}
	if err != nil {
		return Signature{}, fmt.Errorf("git: ask for the identity: %w", err)
	}
	sig := parseSignature(strings.TrimSpace(out))
	if sig == (Signature{}) {
		return sig, fmt.Errorf("git: identity %q: %w", out, ErrNoIdentity)
	}
	return sig, nil
}

// Version is the version of the git program.
func (r *Repo) Version(ctx context.Context) ([]int, error) {
	out, err := r.Run(ctx, "version")
	if err != nil {
		return nil, fmt.Errorf("git: ask for its version: %w", err)
	}
	var version []int
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSpace(out), "git version "), ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break // "2.39.5 (Apple Git-154)", "2.47.1.windows.1"
		}
		version = append(version, n)
	}
	if len(version) < 2 {
		return nil, fmt.Errorf("git: version %q", strings.TrimSpace(out))
	}
	return version, nil
}

// Config reads the whole configuration as git resolves it: lower-cased keys (but for the
// middle part) to their values, the one that counts last.
func (r *Repo) Config(ctx context.Context) (map[string][]string, error) {
	if conf, ok := r.configByLibrary(); ok {
		return conf, nil
	}
	return r.askConfig(ctx)
}

// askConfig asks git.
func (r *Repo) askConfig(ctx context.Context) (map[string][]string, error) {
	out, err := r.asConfigured().Run(ctx, "config", "--list", "-z")
	if err != nil {
		return nil, fmt.Errorf("git: read configuration: %w", err)
	}
	conf := map[string][]string{}
	for rec := range strings.SplitSeq(out, "\x00") {
		if rec == "" {
			continue
		}
		key, value, ok := strings.Cut(rec, "\n")
		if !ok {
			value = "true" // a key without "=" is git's way to say true
		}
		conf[key] = append(conf[key], value)
	}
	return conf, nil
}

// Hooks says where git looks for hooks.
type Hooks struct {
	Dir string // in this worktree
	// of the core.hooksPath that says so: "local", "worktree", "global", "system" or "command"; "" where none is set
	Scope string
	// the environment empties core.hooksPath, as some agents do for the git that they run: Dir is what counts without that
	Off bool
}

// Hooks asks git where it looks for hooks.
func (r *Repo) Hooks(ctx context.Context) (Hooks, error) {
	h, value, err := r.hooks(ctx)
	if err == nil && value == "" && h.Scope == "command" {
		usual := *r
		usual.env = slices.DeleteFunc(slices.Clone(r.env), func(v string) bool {
			name, value, _ := strings.Cut(v, "=")
			return slices.Contains([]string{"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"}, name) ||
				slices.Contains([]string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"}, name) && value == os.DevNull
		})
		h, _, err = usual.hooks(ctx)
		h.Off = true
	}
	return h, err
}

func (r *Repo) hooks(ctx context.Context) (h Hooks, value string, err error) {
	r = r.asConfigured()
	out, err := r.Run(ctx, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return h, "", fmt.Errorf("git: find the hooks directory: %w", err)
	}
	h.Dir = strings.TrimSuffix(out, "\n")
	if !filepath.IsAbs(h.Dir) {
		h.Dir = filepath.Join(r.dir, h.Dir)
	}
	if out, err = r.Run(ctx, "config", "--show-scope", "--get", "core.hooksPath"); err == nil {
		h.Scope, value, _ = strings.Cut(strings.TrimSuffix(out, "\n"), "\t")
	}
	return h, value, nil
}

// SupportsConfiguredHooks reports whether a git is new enough (2.54) to run hooks that its configuration names.
func SupportsConfiguredHooks(ctx context.Context, env []string) bool {
	cmd := exec.CommandContext(ctx, "git", "hook", "-h")
	cmd.Env = env
	out, _ := cmd.CombinedOutput() // help has a status of its own, and so does an unknown command
	return bytes.Contains(out, []byte("git hook list"))
}

// HooksRunAt are the hooks that git runs at an event, as `git hook list` names them: those of the configuration by their
// names, and one that is a file as "hook from hookdir".
func (r *Repo) HooksRunAt(ctx context.Context, event string) (names []string, err error) {
	out, err := r.Run(ctx, "hook", "list", event)
	var none *exec.ExitError
	if errors.As(err, &none) && none.ExitCode() == 1 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), err
}

// Worktrees lists the roots of the main worktree and of every linked one that git knows,
// as git writes them.
func (r *Repo) Worktrees() (roots []string) {
	if r.layout.MainTree != "" {
		roots = append(roots, r.layout.MainTree)
	}
	for _, dir := range r.GitDirs()[1:] {
		if root, ok := linkedRoot(filepath.Join(dir, "gitdir")); ok && root != r.layout.MainTree {
			roots = append(roots, root)
		}
	}
	if wt := r.layout.WorkTree; wt != "" && !slices.Contains(roots, wt) {
		roots = append(roots, wt)
	}
	return roots
}

// Variable is the value of a variable in the environment that the repository was opened with; "" if it is not set.
func (r *Repo) Variable(name string) string { return envValue(r.env, name) }

// Command is a call of git in the directory that the repository was opened from, with the process's
// own environment, that never prompts or pages.
func (r *Repo) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(r.withoutPrograms(), args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(slices.Clone(r.env), "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "LC_ALL=C")
	cmd.WaitDelay = stopGrace // what it started may hold its streams
	return cmd
}

// Talk is a git that is asked in lines, and answers in lines.
type Talk struct {
	Out          *bufio.Reader
	in           io.WriteCloser
	cmd          *exec.Cmd
	stopWatching func() bool
	stderr       bytes.Buffer
}

// Talk starts a Command. It is cut off when the context ends with which the repository was opened. End it.
func (r *Repo) Talk(cmd *exec.Cmd) (*Talk, error) {
	t := &Talk{cmd: cmd}
	cmd.Stderr = &t.stderr
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err = errors.Join(err, err2); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	t.in, t.Out = in, bufio.NewReaderSize(out, 64<<10)
	t.stopWatching = context.AfterFunc(r.ctx, func() { _, _ = in.Close(), out.Close() })
	return t, nil
}

// Ask writes a line, and reads the one that answers it.
func (t *Talk) Ask(line string) (string, error) {
	if _, err := io.WriteString(t.in, line+"\n"); err != nil {
		return "", err
	}
	answer, err := t.Out.ReadString('\n')
	return strings.TrimSuffix(answer, "\n"), err
}

// End waits for git to end. What git said on stderr is the error, whatever its status.
func (t *Talk) End() error {
	_ = t.in.Close()
	_, _ = io.Copy(io.Discard, t.Out)
	err := t.cmd.Wait()
	t.stopWatching()
	if said := lastLine(t.stderr.String()); said != "" {
		return errors.New(said)
	}
	return err
}

// Run is what git prints.
func (r *Repo) Run(ctx context.Context, args ...string) (string, error) {
	return runGit(ctx, r.Command(ctx, args...), lastLine)
}

// Feed is Run with something on stdin.
func (r *Repo) Feed(ctx context.Context, input string, args ...string) (string, error) {
	cmd := r.Command(ctx, args...)
	cmd.Stdin = strings.NewReader(input)
	return runGit(ctx, cmd, lastLine)
}

// runGit runs a git. Of what git prints on stderr, its error has what the last argument picks.
func runGit(ctx context.Context, cmd *exec.Cmd, summarise func(string) string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err() // git was stopped, and has not answered
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) && stderr.Len() > 0 {
			return "", fmt.Errorf("%s: %w", summarise(stderr.String()), err)
		}
		return "", err
	}
	return stdout.String(), nil
}

// lastLine is git's own verdict: hints come before it.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// OpenInBrowser opens an address in the browser that `git instaweb` would take: instaweb.browser, web.browser, or one
// that git finds. A browser for the terminal reads in and writes out, and OpenInBrowser returns when it ends.
func (r *Repo) OpenInBrowser(ctx context.Context, address string, in io.Reader, out io.Writer) error {
	cmd := exec.CommandContext(ctx, "git", "web--browse", "-c", "instaweb.browser", address)
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git: open a browser: %w", err)
	}
	return nil
}
