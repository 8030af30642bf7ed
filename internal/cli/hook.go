package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// hookCommand is what the installed hook scripts call: `git-rekal hook post-commit`. It
// never fails: what goes wrong is one line on stderr, and git goes on. In a repository that
// git-rekal can't work with it is silent.
type hookCommand struct {
	name string
	args []string
}

const hookName = "hook"

func hookEntry() entry {
	return entry{
		name: hookName, usage: "hook NAME [ARG…]", short: "what the installed hooks call; not for people",
		long: `
Captures what is new at a commit (post-commit), merge (post-merge), "git am" (post-applypatch)
or push (pre-push), and records which commits an amend or rebase rewrote (post-rewrite). It
always exits with 0.`,
		make: func() command { return &hookCommand{} },
	}
}

func (c *hookCommand) addFlags(fs *pflag.FlagSet) { fs.SetInterspersed(false) }

func (c *hookCommand) validate(args []string) error {
	if len(args) == 0 {
		return errors.New("which hook?")
	}
	c.name, c.args = args[0], args[1:]
	return nil
}

// hookBudget is how long a hook may hold up git; what takes longer is left to a checkpoint
// by hand.
const hookBudget = 3 * time.Second

// hookBytes is how much of transcripts a hook reads, the latest first: about half a second.
// The next hook goes on with the rest.
const hookBytes = 48 << 20

var errTooMuch = errors.New(`there is too much to capture in a hook: run "git rekal checkpoint"`)

func (c *hookCommand) run(ctx context.Context, app *App) error {
	within, cancel := context.WithTimeout(ctx, hookBudget)
	defer cancel()
	err := guarded(func() error { return c.capture(within, app) })
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = errTooMuch
	}
	if err != nil && !errors.Is(err, workspace.ErrNotInitialised) && !errors.Is(err, git.ErrUnsupported) {
		app.say(fmt.Sprintf("%s: %s", c.name, explain(err)))
	}
	return nil
}

// guarded turns a panic into an error: whatever breaks here, git goes on with one line.
func guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error: %v: please report it", v)
		}
	}()
	return do()
}

func (c *hookCommand) capture(ctx context.Context, app *App) error {
	if config.Off(app.Env) {
		return nil
	}
	w, err := workspace.Open(app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Ready(); err != nil {
		return err
	}
	author, err := w.Author(ctx)
	if err != nil || !author.Config.Enabled || author.Config.Skip {
		return err
	}
	via, ok, err := c.reason(w, author)
	if err != nil || !ok {
		return err
	}
	rewrites, unread := c.rewrites(ctx, app.Stdin)
	capturer, err := w.Capturer(ctx, author)
	if err != nil {
		return errors.Join(unread, err)
	}
	capturer.Budget = hookBytes
	out, err := capturer.Run(ctx, via, rewrites)
	for _, warning := range out.Warnings {
		app.Warn(warning)
	}
	return errors.Join(unread, err)
}

// reason is why a hook captures; false when it has nothing to do.
func (c *hookCommand) reason(w *workspace.Workspace, author workspace.Author) (via string, ok bool, err error) {
	switch c.name {
	case "post-commit":
		// The picks of a sequence are not acts of the user; its last one is, and post-rewrite
		// sees the end of a rebase.
		return session.ViaCommit, !w.Repo.Sequencing(), nil
	case "post-merge":
		ok, err := w.OwnMerge(author)
		return session.ViaMerge, ok && !w.Repo.Sequencing(), err
	case "post-applypatch":
		return session.ViaAm, !w.Repo.Sequencing(), nil // `rebase --apply` calls it, too
	case "post-rewrite":
		// A rebase calls it at its end, when its own state is still there; its own amends (a
		// fixup) are not acts of the user.
		return session.ViaRewrite, slices.Contains(c.args, "rebase") || !w.Repo.Sequencing(), nil
	case "pre-push":
		return session.ViaPush, true, nil
	}
	return "", false, fmt.Errorf("hook %q is not one of git-rekal's", c.name)
}

// rewriteLine is a line that git gives to post-rewrite: old and new OID, and maybe more.
var rewriteLine = regexp.MustCompile(`^([0-9a-f]{40}) ([0-9a-f]{40})(?: |$)`)

// maxRewrites bounds how much of stdin is read: 16 MB are about 190,000 commits.
const maxRewrites = 16 << 20

// rewrites reads what git gives to post-rewrite. A stdin that is never closed (a hook run by
// hand at a terminal) holds nothing up: it ends with ctx.
func (c *hookCommand) rewrites(ctx context.Context, stdin io.Reader) ([]session.Rewrite, error) {
	if c.name != "post-rewrite" {
		return nil, nil
	}
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(stdin, maxRewrites))
		done <- read{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("read the rewritten commits: %w", ctx.Err())
	case r := <-done:
		var out []session.Rewrite
		for line := range strings.Lines(string(r.text)) {
			if m := rewriteLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				out = append(out, session.Rewrite{Old: m[1], New: m[2]})
			}
		}
		return out, r.err
	}
}
