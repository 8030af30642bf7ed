package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// hookCommand is what the installed hook scripts call: `git-rekal hook post-commit`. It
// never fails: what goes wrong is one line on stderr, and git goes on.
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

// hookBudget is how long a hook may hold up git. Only a backlog of some hundred megabytes
// of transcripts takes so long; it is left to a checkpoint by hand.
const hookBudget = 3 * time.Second

var errTooMuch = errors.New(`there is too much to capture in a hook: run "git rekal checkpoint"`)

func (c *hookCommand) run(ctx context.Context, app *App) error {
	within, cancel := context.WithTimeout(ctx, hookBudget)
	defer cancel()
	err := c.capture(within, app)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = errTooMuch
	}
	if err != nil && !errors.Is(err, workspace.ErrNotInitialised) {
		app.say(fmt.Sprintf("%s: %s", c.name, explain(err)))
	}
	return nil
}

func (c *hookCommand) capture(ctx context.Context, app *App) error {
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
	rewrites, err := c.rewrites(app.Stdin)
	if err != nil {
		return err
	}
	capturer, err := w.Capturer(ctx, author)
	if err != nil {
		return err
	}
	out, err := capturer.Run(ctx, via, rewrites)
	for _, warning := range out.Warnings {
		app.Warn(warning)
	}
	return err
}

// reason is why a hook captures; false when it has nothing to do.
func (c *hookCommand) reason(w *workspace.Workspace, author workspace.Author) (via string, ok bool, err error) {
	switch c.name {
	case "post-commit":
		// The picks of a rebase are not acts of the user; post-rewrite sees their end.
		return session.ViaCommit, !w.Repo.Sequencing(), nil
	case "post-merge":
		ok, err := w.OwnMerge(author)
		return session.ViaMerge, ok, err
	case "post-applypatch":
		return session.ViaAm, true, nil
	case "post-rewrite":
		// A rebase calls it at its end, when its own state is still there; an amend within
		// one is not an act of the user.
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

func (c *hookCommand) rewrites(stdin io.Reader) ([]session.Rewrite, error) {
	if c.name != "post-rewrite" {
		return nil, nil
	}
	var out []session.Rewrite
	lines := bufio.NewScanner(io.LimitReader(stdin, maxRewrites))
	for lines.Scan() {
		if m := rewriteLine.FindStringSubmatch(strings.TrimSpace(lines.Text())); m != nil {
			out = append(out, session.Rewrite{Old: m[1], New: m[2]})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the rewritten commits: %w", err)
	}
	return out, nil
}
