package curate

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/archive"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Histories are what somebody else kept, to be imported.
type Histories struct {
	Entire, Everyone bool // Everyone: also what Entire kept of other people's sessions
	SpecStory        bool
	Files            []string // transcripts
	Agent            string   // who wrote the files; "" where they say it

	Progress capture.Progress // nil: nobody looks
}

// Imported is what one import stored, and what it did not.
type Imported struct {
	Found archive.Source
	capture.Outcome
}

// Import stores what somebody else kept, one source after another, and tells of each.
func Import(ctx context.Context, w *workspace.Workspace, a workspace.Author, h Histories,
	report func(Imported) error,
) error {
	capturer, err := w.Capturer(ctx, a)
	if err != nil {
		return err
	}
	capturer.Progress = h.Progress
	repo, err := git.Open(ctx, w.Dir, w.Env)
	if err != nil {
		return err
	}
	defer repo.Close()
	take := func(s archive.Source, err error) error {
		if err != nil {
			return err
		}
		from := *capturer
		from.Agents, from.Stated = s.Agents, s.Stated
		out, err := from.Import(ctx)
		if err != nil {
			return err
		}
		return report(Imported{s, out})
	}
	if h.Entire {
		if found, ok := rememberedImport(ctx, w, a, repo, h.Everyone); ok {
			return report(Imported{Found: found})
		}
		own := func(emails []string) (map[string]bool, error) { return ownAddresses(ctx, w, a, emails) }
		found, err := archive.Entire(ctx, repo, own, h.Everyone)
		if err := take(found, err); err != nil {
			return err
		}
		if err := rememberImport(ctx, w, a, found, h.Everyone); err != nil {
			return err
		}
	}
	if h.SpecStory {
		// A transcript counts before what somebody made of it, so what is here comes first.
		if _, err := capturer.Import(ctx); err != nil {
			return err
		}
		roots := w.Repo.Worktrees()
		if err := take(archive.SpecStory(repo, roots), nil); err != nil {
			return err
		}
	}
	if len(h.Files) > 0 {
		return take(archive.Files(ctx, repo, h.Files, h.Agent), nil)
	}
	return nil
}

// ownAddresses says which addresses are the user's own, as the mailmap has it.
func ownAddresses(ctx context.Context, w *workspace.Workspace, a workspace.Author,
	emails []string,
) (map[string]bool, error) {
	proper, err := history.Mailmap(ctx, w.Repo, append(emails, a.Email))
	own := map[string]bool{a.Email: true}
	for email, is := range proper {
		own[email] = own[email] || is.Email == proper[a.Email].Email
	}
	return own, err
}
