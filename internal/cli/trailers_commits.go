package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/hook"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// runStaged prints the trailers of what is staged.
func (c *trailersOptions) runStaged(ctx context.Context, app *App) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	author, err := w.Author(ctx)
	if err != nil {
		return err
	}
	form, _, err := trailerForm(ctx, w, c.form)
	if err != nil {
		return err
	}
	head, err := w.Repo.Head()
	if err != nil {
		return err
	}
	lines, by, err := hook.StagedTrailers(ctx, w, author, form, head.OID, hook.Unhurried)
	if err != nil {
		return w.AsNotInitialised(err)
	}
	out := result.Helped{
		Schema: result.Schema, Helpers: []result.Helper{}, Named: []result.NamedBy{},
		Trailers: append([]string{}, lines...),
	}
	for _, s := range by {
		one := result.HelperSession{ID: s.ID, Author: author.Email, Tie: session.TieWrote.String(), Lines: s.Lines}
		i := slices.IndexFunc(out.Helpers, func(h result.Helper) bool { return h.Agent == s.Source && h.Model == s.Model })
		if i < 0 {
			i = len(out.Helpers)
			out.Helpers = append(out.Helpers, result.Helper{Agent: s.Source, Model: s.Model})
		}
		h := &out.Helpers[i]
		h.Lines, h.Sessions = h.Lines+s.Lines, append(h.Sessions, one)
	}
	if c.shape.json {
		return result.Write(app.Stdout, out)
	}
	return c.shape.answer(ctx, app, w, nil, nil, func(l text.Look) string {
		return text.Trailers(l, []result.Helped{out}, true)
	})
}

// errPushed is a rewrite of what others may have.
var errPushed = advice.New("a remote has some of these commits, and others may have built on them",
	`name those that are yours alone: "git rekal trailers --rewrite @{upstream}.."`)

// errNotHead is a rewrite of commits that do not end where HEAD is.
var errNotHead = errors.New("--rewrite goes up to HEAD: name HEAD, or a range that ends there")

// reword makes commits anew with their trailers.
func (c *trailersOptions) reword(ctx context.Context, app *App, w *workspace.Workspace, all []result.Helped) error {
	head, err := w.Repo.Head()
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		app.printDone("nothing to rewrite")
		return nil
	case !slices.ContainsFunc(all, func(h result.Helped) bool { return h.Commit == string(head.OID) }):
		return errNotHead
	case hook.IsBusy(w.Repo):
		return errors.New("git is in the middle of a merge, rebase, cherry-pick or revert: end that first")
	}
	listed, err := w.Repo.Run(ctx, "rev-list", "--topo-order", "--reverse", "--end-of-options", c.rangeOf(), "--")
	if err != nil {
		return err
	}
	ordered := strings.Fields(listed)
	if err := c.refusePushed(ctx, w.Repo, ordered); err != nil {
		return err
	}
	became, err := c.rewordEach(ctx, w.Repo, ordered, all)
	if err != nil {
		return err
	}
	if now := became[head.OID]; now != "" && now != head.OID {
		if _, err := w.Repo.Run(ctx, "update-ref", "-m", "rekal trailers --rewrite", "HEAD", string(now),
			string(head.OID)); err != nil {
			return err
		}
	}
	app.printDone("rewrote %s", session.CountNoun(len(became), "commit"))
	return tellRewritten(ctx, app, w, became)
}

func (c *trailersOptions) rangeOf() string {
	if strings.Contains(c.rev, "..") {
		return c.rev
	}
	return c.rev + "^!"
}

// refusePushed refuses commits that a remote-tracking branch has.
func (c *trailersOptions) refusePushed(ctx context.Context, repo *git.Repo, ordered []string) error {
	own, err := repo.Run(ctx, "rev-list", "--not", "--remotes", "--not", "--end-of-options", c.rangeOf(), "--")
	if err == nil && len(strings.Fields(own)) < len(ordered) {
		err = errPushed
	}
	return err
}

// rewordEach makes each commit anew whose message or parents change, parents first. It returns what became of those.
func (c *trailersOptions) rewordEach(ctx context.Context, repo *git.Repo, ordered []string,
	all []result.Helped,
) (map[git.OID]git.OID, error) {
	became := map[git.OID]git.OID{}
	for _, id := range ordered {
		commit, err := repo.Commit(git.OID(id))
		if err != nil {
			return nil, err
		}
		message, parents, changed := commit.Message, slices.Clone(commit.Parents), false
		if i := slices.IndexFunc(all, func(h result.Helped) bool { return h.Commit == id }); i >= 0 && len(parents) < 2 &&
			len(all[i].Trailers) > 0 {
			if message, err = c.withTrailers(ctx, repo, message, all[i].Trailers); err != nil {
				return nil, err
			}
			changed = message != commit.Message
		}
		for i, p := range parents {
			if now, ok := became[p]; ok {
				parents[i], changed = now, true
			}
		}
		if !changed {
			continue
		}
		if became[commit.OID], err = repo.Reword(ctx, commit.OID, parents, message); err != nil {
			return nil, err
		}
	}
	return became, nil
}

func (c *trailersOptions) withTrailers(ctx context.Context, repo *git.Repo, message string,
	lines []string,
) (string, error) {
	if c.replace {
		message = hook.WithoutNames(message)
	}
	args := []string{"interpret-trailers", "--if-exists", "addIfDifferent"}
	for _, l := range lines {
		args = append(args, "--trailer", l)
	}
	return repo.Feed(ctx, message, args...)
}

// tellRewritten tells the ledger, and git's notes, what became of commits.
func tellRewritten(ctx context.Context, app *App, w *workspace.Workspace, became map[git.OID]git.OID) error {
	var pairs strings.Builder
	for was, is := range became {
		fmt.Fprintf(&pairs, "%s %s\n", was, is)
	}
	if pairs.Len() == 0 {
		return nil
	}
	_, err := w.Repo.Feed(ctx, pairs.String(), "notes", "copy", "--for-rewrite=amend", "--stdin")
	call := hook.Call{
		Name: "post-rewrite", Args: []string{"amend"}, Stdin: strings.NewReader(pairs.String()),
		Skipped: app.tellSkipped,
	}
	return errors.Join(err, call.Run(ctx, app.Process))
}
