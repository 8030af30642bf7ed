package ask

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// View is what pages for people are made from: the index, brought up to the ledgers and open in one state, and the code. It only reads.
// What is searched for is a question to Ask.
type View struct {
	w     *workspace.Workspace
	index *materialize.Reader
}

// Open makes a View. Close it.
func Open(ctx context.Context, w *workspace.Workspace) (*View, error) {
	m, err := w.Reader()
	if err != nil {
		return nil, err
	}
	index, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &View{w, index}, nil
}

// Close releases the index.
func (v *View) Close() error { return v.index.Close() }

// Item is recall.Item.
func (v *View) Item(ctx context.Context, p recall.Page) (*result.Session, *result.Memory, error) {
	return recall.Item(ctx, v.index.DB, v.w.Repo, p)
}

// Why is recall.Why.
func (v *View) Why(ctx context.Context, req recall.WhyRequest) (result.Recall, error) {
	req.Now = v.w.Now()
	return recall.Why(ctx, v.index.DB, v.w.Repo, req)
}

// Log is recall.Log.
func (v *View) Log(ctx context.Context, req recall.LogRequest) ([]result.Checkpoint, error) {
	req.Now = v.w.Now()
	return recall.Log(ctx, v.index.DB, v.w.Repo, req)
}

// List is db.DB.List.
func (v *View) List(ctx context.Context, skip, limit int) ([]db.Listed, int, error) {
	return v.index.List(ctx, skip, limit)
}

// Touched is db.DB.Touched, with the files that are checked out.
func (v *View) Touched(ctx context.Context, part string, limit int) ([]db.Touched, error) {
	tree, err := worktree.Open(v.w.Repo, "")
	if err != nil { // before the first commit
		return v.index.Touched(ctx, part, limit, func(string) bool { return false })
	}
	defer tree.Close()
	return v.index.Touched(ctx, part, limit, func(path string) bool { return tree.Blob(path, nil) != "" })
}

// Together is db.DB.Together.
func (v *View) Together(ctx context.Context, path string, limit int) ([]db.Pair, error) {
	return v.index.Together(ctx, path, limit)
}

// Authors is db.DB.Authors.
func (v *View) Authors(ctx context.Context) ([]string, error) { return v.index.Authors(ctx) }

// Commit reads a commit that a revision names, and what it changed.
func (v *View) Commit(ctx context.Context, rev string) (git.Commit, []history.FilePatch, error) {
	id, err := v.w.Repo.Resolve(rev)
	if err != nil {
		return git.Commit{}, nil, err
	}
	c, err := v.w.Repo.Commit(id)
	if err != nil {
		return git.Commit{}, nil, err
	}
	files, err := history.Patch(ctx, v.w.Repo, id)
	return c, files, err
}

// Text is git.Repo.Text.
func (v *View) Text(file string) ([]string, error) { return history.Text(v.w.Repo, file) }

// Subject is Workspace.Subject.
func (v *View) Subject(sha string) string { return v.w.Subject(sha) }
