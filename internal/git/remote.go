package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Errors of the network that callers decide on.
var (
	ErrRejected = errors.New("the remote holds something else")
	ErrTimeout  = errors.New("took too long")
)

// Attended says whether somebody sits at a terminal whom git may ask for a password. An
// unattended git has no terminal at all, and outlives a killed parent: what is cut off in the
// middle of a push would leave locks behind.
type Attended bool

// Push moves a ref of a remote to a commit, never by force. It reports whether there was
// something to send. ErrRejected means that the remote's ref is not behind the commit, or
// was moved by somebody else just now.
func (r *Repo) Push(ctx context.Context, remote, ref string, id OID, attended Attended) (sent bool, err error) {
	return r.push(ctx, remote, string(id)+":"+ref, attended)
}

// Replace moves a ref of a remote from one commit to another that need not have it behind
// itself. ErrRejected means that the remote's ref is another one.
func (r *Repo) Replace(ctx context.Context, remote, ref string, old, new OID,
	attended Attended,
) (sent bool, err error) {
	return r.push(ctx, remote, string(new)+":"+ref, attended, "--force-with-lease="+ref+":"+string(old))
}

// PushAddresses are the addresses to which a push to a remote goes, each of them, and FetchAddress is the one that a
// fetch asks: as git makes them out of its settings, of which several URLs, url.*.insteadOf and url.*.pushInsteadOf are
// some.
func (r *Repo) PushAddresses(ctx context.Context, remote string) ([]string, error) {
	out, err := r.Run(ctx, "remote", "get-url", "--push", "--all", "--", remote)
	if err != nil {
		return nil, fmt.Errorf("git: where %q leads: %w", remote, err)
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), nil
}

// FetchAddress is described at PushAddresses.
func (r *Repo) FetchAddress(ctx context.Context, remote string) (string, error) {
	out, err := r.Run(ctx, "remote", "get-url", "--", remote)
	if err != nil {
		return "", fmt.Errorf("git: where %q leads: %w", remote, err)
	}
	return strings.TrimSuffix(out, "\n"), nil
}

// withoutPushSettings are the settings of the user's own pushes that a push of one's own is not to repeat.
var withoutPushSettings = []string{ //nolint:gochecknoglobals // read-only
	"-c", "push.pushOption=", "-c", "push.negotiate=false", "-c", "push.autoSetupRemote=false", "-c", "push.gpgSign=false",
}

func (r *Repo) push(ctx context.Context, remote, refspec string, attended Attended,
	options ...string,
) (sent bool, err error) {
	args := append(slices.Clone(withoutPushSettings), "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed",
		"--recurse-submodules=no",
		"--no-atomic", "--no-force-if-includes", "--no-set-upstream", "--no-prune")
	args = append(append(args, options...), remote, refspec)
	if !strings.Contains(remote, "=") {
		// A mirror takes no single refs unless told that it is none.
		args = append([]string{"-c", "remote." + remote + ".mirror=false"}, args...)
	}
	out, errs, err := r.network(ctx, attended, args...)
	for line := range strings.Lines(out) {
		flag, rest, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		_, verdict, _ := strings.Cut(rest, "\t")
		switch {
		case flag == "!" && refWasMoved(verdict):
			return false, fmt.Errorf("git: push to %q: %w: %s", remote, ErrRejected, verdict)
		case flag == "!":
			return false, fmt.Errorf("git: push to %q: %s%s", remote, verdict, serverReason(errs))
		case flag != "=":
			sent = true
		}
	}
	if err != nil {
		return false, fmt.Errorf("git: push to %q: %w", remote, err)
	}
	return sent, nil
}

// refWasMoved reports whether git's verdict on a ref says that somebody else was first.
func refWasMoved(verdict string) bool {
	return strings.HasPrefix(verdict, "[rejected]") || slices.ContainsFunc(
		[]string{
			"cannot lock ref", "failed to update ref", "incorrect old value", "reference already exists",
			"refname conflict", "fetch first",
		},
		func(s string) bool { return strings.Contains(verdict, s) })
}

// Refetch has a fetch bring everything anew, because commits are here whose parents or blobs are not.
type Refetch bool

// Fetch brings refs of a remote, by refspec, with nothing left out: neither the clone's filter nor its depth counts.
// Refs here that the refspecs name and that are gone there are removed, because they may be in the way of new ones (a/b
// of a).
func (r *Repo) Fetch(ctx context.Context, remote string, refspecs []string, refetch Refetch, attended Attended) error {
	args := []string{
		"fetch", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance",
		"--prune", "--no-show-forced-updates", "--refmap=", "--no-filter",
	}
	if refetch {
		args = append(args, "--refetch")
		if cuts, _ := r.ShallowCuts(); len(cuts) > 0 {
			args = append(args, "--depth=2147483647") // git's own "infinite"
		}
	}
	args = append(append(args, remote), refspecs...)
	for again := range fetchTries {
		_, _, err := r.network(ctx, attended, args...)
		switch {
		case err == nil:
			return nil
		case again == fetchTries-1 || !anotherWasFirst(err):
			return fmt.Errorf("git: fetch from %q: %w", remote, explainLock(err))
		}
	}
	return nil
}

// fetchTries is how often Fetch asks, when fetches of the same clone move its refs meanwhile.
const fetchTries = 4

// anotherWasFirst reports whether a fetch failed because another process (an editor's, a hook's) moved a ref here since
// it began.
func anotherWasFirst(err error) bool {
	said := err.Error()
	return strings.Contains(said, "cannot lock ref") &&
		(strings.Contains(said, "but expected") || strings.Contains(said, "reference already exists"))
}

// stopGrace is how long a git that was told to stop has to remove its locks.
const stopGrace = 500 * time.Millisecond

// network runs a git command that talks to a remote: as the user's own git would, with
// credential helpers, ssh and proxies as configured, and with the process's environment.
func (r *Repo) network(ctx context.Context, attended Attended, args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(slices.Clone(r.env), "GIT_PAGER=cat", "LC_ALL=C", "REKAL_SKIP=1")
	if !attended {
		cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never",
			"GCM_INTERACTIVE=never")
		detach(cmd)
	} else {
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = stopGrace
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = ErrTimeout
	case ctx.Err() != nil:
		err = ctx.Err()
	case errs.Len() > 0:
		err = errors.New(failureLine(errs.String()))
	}
	if err != nil && !attended && cmd.Process != nil {
		// What of its helpers did not heed the request to stop must not outlive a hook.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return out.String(), errs.String(), err
}

// serverReason is what the server itself said about a refusal, in brackets; "" when it said nothing.
func serverReason(stderr string) string {
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "remote: "); ok && strings.TrimSpace(text) != "" {
			return " (" + strings.TrimSpace(text) + ")"
		}
	}
	return ""
}

// failureLine is what git and those that it calls say about a failure, in one line: the first
// line that names one, without git's advice.
func failureLine(stderr string) string {
	for _, mark := range []string{"fatal: ", "error: ", "remote: "} {
		for line := range strings.Lines(stderr) {
			if rest, ok := strings.CutPrefix(line, mark); ok && strings.TrimSpace(rest) != "" {
				return strings.TrimSpace(rest)
			}
		}
	}
	return lastLine(stderr)
}

// SetConfigValues has a key of the repository's own configuration have these values, one or several. Of a process that
// dies, the first stay.
func (r *Repo) SetConfigValues(ctx context.Context, key string, values []string) error {
	for i, v := range values {
		how := "--add"
		if i == 0 {
			how = "--replace-all"
		}
		if err := r.configure(ctx, "set", key, how, key, v); err != nil {
			return err
		}
	}
	return nil
}

// SetConfig writes one key into the repository's own configuration.
func (r *Repo) SetConfig(ctx context.Context, key, value string) error {
	return r.configure(ctx, "set", key, key, value)
}

// AddConfig adds a value to a key of the repository's own configuration that may have several.
func (r *Repo) AddConfig(ctx context.Context, key, value string) error {
	return r.configure(ctx, "add to", key, "--add", key, value)
}

// ReplaceConfig puts a value in the place of another one of a key that may have several, in the repository's own
// configuration.
func (r *Repo) ReplaceConfig(ctx context.Context, key, old, value string) error {
	return r.configure(ctx, "set", key, "--replace-all", key, value, "^"+regexp.QuoteMeta(old)+"$")
}

// DropConfig removes one value of a key that may have several. It is no error if the value is not set.
func (r *Repo) DropConfig(ctx context.Context, key, value string) error {
	return r.unset(ctx, key, "^"+regexp.QuoteMeta(value)+"$")
}

// UnsetConfig removes a key from the repository's own configuration and returns its value. It is no error if the
// key is not set, not even if the configuration can't be written.
func (r *Repo) UnsetConfig(ctx context.Context, key string) (string, error) {
	was, err := r.Run(ctx, "config", "--local", "--get-all", key)
	if err != nil {
		return "", nil //nolint:nilerr // it is not set
	}
	return strings.TrimSpace(was), r.unset(ctx, key)
}

func (r *Repo) unset(ctx context.Context, key string, value ...string) error {
	err := r.configure(ctx, "unset", key, append([]string{"--unset-all", key}, value...)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitNotSet { // perhaps another process was first
		return nil
	}
	return err
}

// exitNotSet is the exit status of "git config --unset-all" for a key that is not set.
const exitNotSet = 5

// configure changes the repository's own configuration. Of several that do so at once, git
// fails all but one, where it waits for the locks of refs; these here wait for each other.
func (r *Repo) configure(ctx context.Context, act, key string, args ...string) error {
	err := retryWhileLocked(ctx, func() error {
		return r.runChange(ctx,
			append([]string{"config", "--local"}, args...)...)
	})
	if errors.Is(err, errLocked) {
		err = fmt.Errorf("%w: where no other git runs, remove %s", err, filepath.Join(r.layout.CommonDir, "config.lock"))
	}
	if err != nil {
		return fmt.Errorf("git: %s %s: %w", act, key, err)
	}
	return nil
}
