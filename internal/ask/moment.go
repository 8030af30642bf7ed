package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/story"
	"github.com/git-rekal/git-rekal/internal/why"
)

// Why says which sessions stand behind lines: see why.Lines.
func (m *Moment) Why(ctx context.Context, req WhyRequest) (result.Recall, error) {
	req.Checkpoint, req.Tip, req.Now = m.Text, m.Tip, m.w.Now()
	out, err := why.Lines(ctx, m.DB, m.w.Repo, req)
	out.AsOf = m.AsOf
	return out, err
}

// Exchange is what was asked where a result stands, and what was answered in the end: see recall.ReadExchange.
func (m *Moment) Exchange(ctx context.Context, h result.Hit) (asked, answered string, err error) {
	return recall.ReadExchange(ctx, m.DB, h)
}

// Exchanges is Exchange of each of some results, by ID.
func (m *Moment) Exchanges(ctx context.Context, hits []result.Hit) (map[string]result.Exchange, error) {
	out := map[string]result.Exchange{}
	for _, h := range hits {
		asked, answered, err := m.Exchange(ctx, h)
		if err != nil {
			return nil, err
		}
		out[h.ID] = result.Exchange{Asked: asked, Answered: answered}
	}
	return out, nil
}

// Operands tells a revision or range from paths below the current folder: see recall.Operands.
func (m *Moment) Operands(words []string) (rev string, paths []string, err error) {
	return recall.Operands(m.w.Repo, m.w.Dir, words)
}

// Matches finds what of a text answers a question: ranges of bytes, in order.
func Matches(text, question string) [][2]int { return search.Matches(text, question) }

// Log lists checkpoints: see recall.Log.
func (m *Moment) Log(ctx context.Context, req recall.LogRequest) ([]result.Checkpoint, error) {
	req.History = m.w.Noted()
	if req.Now = m.w.Now(); req.Verified {
		if err := m.barUnverified(ctx); err != nil {
			return nil, err
		}
	}
	return recall.Log(ctx, m.DB, m.w.Repo, req)
}

// List lists sessions and memories: see recall.List.
func (m *Moment) List(ctx context.Context, req ListRequest) (recall.ListPage, error) {
	return recall.List(ctx, m.DB, req)
}

// Item reads a page of a session, or a memory: see recall.Item.
func (m *Moment) Item(ctx context.Context, page recall.Page) (*result.Session, *result.Memory, error) {
	page.Checkpoint, page.Tip = m.Text, m.Tip
	s, memory, err := recall.Item(ctx, m.DB, m.w.Repo, page)
	return s, memory, m.explainLeftOut(err)
}

// Story tells what stands behind a commit, a range, a session or lines: see story.Read.
func (m *Moment) Story(ctx context.Context, word string) (result.Story, error) {
	out, err := story.Read(ctx, m.DB, m.w.Repo, word, story.AsOf{Checkpoint: m.Text, Tip: m.Tip})
	out.AsOf = m.AsOf
	return out, m.explainLeftOut(err)
}

// Review is a story as a page for who reviews its commits: see story.ReviewText.
func (m *Moment) Review(ctx context.Context, told result.Story) (string, error) {
	var here []string
	for _, c := range told.Commits {
		if !c.Missing {
			here = append(here, c.Commit)
		}
	}
	var lines result.LineStats
	err := m.countCommits(ctx, &lines, here, nil)
	if errors.Is(err, git.ErrNotFound) { // a tree or file of theirs: who wrote the lines can't be told
		lines, err = result.LineStats{}, nil
	}
	return story.ReviewText(told, lines.Total), err
}

// Session is a session by its ID or a link, with its last turn as its page, and its files as they stand today.
func (m *Moment) Session(ctx context.Context, id string) (*result.Session, error) {
	s, _, err := m.Item(ctx, recall.Page{ID: id, Limit: 1, Full: true})
	if err == nil && s == nil {
		err = advice.New(fmt.Sprintf("%q is no session", id), `"git rekal --kind session -n 5" lists sessions`)
	}
	if err != nil || s.Turns < 2 {
		return s, err
	}
	last, _, err := m.Item(ctx, recall.Page{ID: s.ID, Offset: s.Turns - 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	s.Page = last.Page
	return s, nil
}

// Handoff is a page for the agent that goes on with a session, which ref names: see story.HandoffPage. Budget 0 is
// story.HandoffBudget.
func (m *Moment) Handoff(ctx context.Context, id string, budget int) (page string, ref session.Ref, err error) {
	s, err := m.Session(ctx, id)
	if err != nil {
		return "", ref, err
	}
	told, err := m.Story(ctx, s.ID)
	if err != nil {
		return "", ref, err
	}
	return story.HandoffPage(told.Sessions[0], *s, told.Commits, cmp.Or(budget, story.HandoffBudget)),
		session.Ref{ID: s.ID, Turn: -1}, nil
}

// Each gives every session and memory of some authors, or of all with nil: see story.Each.
func (m *Moment) Each(ctx context.Context, authors []string,
	visit func(*result.StorySession, *result.Memory) error,
) error {
	return story.Each(ctx, m.DB, m.w.Repo, authors, visit)
}

// Reopen opens the index again, where it was made anew meanwhile.
func (m *Moment) Reopen(ctx context.Context) error {
	index, err := m.open(ctx, m.index)
	if err != nil {
		return err
	}
	if err := m.Reader.Close(); err != nil {
		return errors.Join(err, index.Close())
	}
	barred := m.Barred()
	m.Reader = index
	return errors.Join(m.Bar(ctx, barred), m.barForbidden(ctx, m.reader))
}

// Lines reads the lines of a file as history.FileLines does: as the file is now, or as it was in the moment's code
// commit.
func (m *Moment) Lines(ctx context.Context, file string) ([]string, error) {
	commit, err := m.codeCommit(ctx)
	if err != nil {
		return nil, err
	}
	return history.FileLines(m.w.Repo, commit, file)
}

// TouchedFiles are the files that sessions touched and whose paths contain a part: those first that most of them did.
// Each says whether it stands there.
func (m *Moment) TouchedFiles(ctx context.Context, part string, limit int) ([]Touched, error) {
	stands := func(string) bool { return false }
	commit, err := m.codeCommit(ctx)
	if err == nil {
		if tree, err := worktree.Open(m.w.Repo, commit); err == nil { // not before the first commit
			defer tree.Close()
			stands = tree.Has
		}
	}
	return m.Touched(ctx, part, limit, stands)
}

// find tells what a word names that is not purged: see name.Resolver.
func (m *Moment) find(ctx context.Context, word string) (name.Thing, error) {
	names, err := m.Names(ctx)
	if err != nil {
		return name.Thing{}, err
	}
	purged, err := m.PurgedIDs(ctx)
	if err != nil {
		return name.Thing{}, err
	}
	what, err := name.Resolver{Index: m.DB, Repo: m.w.Repo, Names: names, Purged: purged}.Find(ctx, word)
	if err == nil && slices.Contains(purged, what.ID) {
		err = m.explainLeftOut(&PurgedError{ID: what.ID})
	}
	return what, err
}
