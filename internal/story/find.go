package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// ErrNothing is a text that names nothing here.
var ErrNothing = errors.New("neither a revision, nor a session or memory, nor a line of a file")

// AmbiguousError is a text that names a commit, and a session or memory as well.
type AmbiguousError struct {
	Text           string
	Commit, Rev    string // what to type for the commit; its subject
	Kind, ID, Name string // what to type for the other one; its title
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is a commit (%s) and a %s (%s): type %s or %s", e.Text, e.Rev, e.Kind, e.Name, e.Commit, e.ID)
}

// named is what a text names.
type named struct {
	kind, id string
	rev      string // the commit; "" where the text is a revision or a range itself
	turn     int    // of a session the one that a link names; -1 for none
}

// line is what may be a line of a file.
var line = lazy.Expr(`(?s)^.+:\d+(?:,\d+)?$`)

// abbreviated is what may be the beginning of a commit that is gone.
var abbreviated = lazy.Expr(`^[0-9a-fA-F]{4,64}$`)

// tooShort is what may be the beginning of an ID or of a commit, if there were more of it.
var tooShort = lazy.Expr(`^(?:0[0-9A-Za-z]{0,2}|[0-9a-fA-F]{1,3})$`)

// find tells what a text names: a range, a revision, a session or memory by the beginning of its ID or of the one that its agent gave it, or lines of
// a file.
func (t *teller) find(ctx context.Context, text string) (named, error) {
	if strings.Contains(text, "..") && !line.MatchString(text) && !t.isFile(text) {
		return named{kind: result.ShowRange}, nil
	}
	ref := session.RefIn(text)
	text = ref.ID
	id, noID := t.names.Find(text)
	sha, isRev := t.revision(ctx, text)
	several := (*session.AmbiguousError)(nil)
	switch {
	case isRev && noID == nil:
		return named{}, t.ambiguous(ctx, text, sha, id)
	case isRev:
		rev := ""
		if text == ref.ID && ref.String() != text {
			rev = text
		}
		code, err := t.index.CommitOf(ctx, []string{sha}) // a checkpoint stands for the commit that it captured
		return named{kind: result.ShowCommit, rev: cmp.Or(code, rev)}, err
	case noID == nil:
		kind, _, err := t.entitled(ctx, id)
		return named{kind: kind, id: id, turn: ref.Turn}, err
	case errors.As(noID, &several):
		return named{}, noID
	case line.MatchString(text) || t.isFile(text):
		return named{kind: result.ShowLines}, nil
	case tooShort.MatchString(text):
		return named{}, noID
	}
	return named{}, fmt.Errorf("%q: %w", text, ErrNothing)
}

// revision is the commit that a text names, also one that is gone and that a ledger knows.
func (t *teller) revision(ctx context.Context, text string) (sha string, ok bool) {
	id, err := t.repo.Resolve(text)
	if err == nil {
		return string(id), true
	}
	if !abbreviated.MatchString(text) { // of a path with a line, the path may begin as several objects do
		return "", false
	}
	if errors.Is(err, git.ErrAmbiguous) {
		return "", true
	}
	start := strings.ToLower(text)
	known, err := t.index.KnowsCommit(ctx, start)
	return start, err == nil && known
}

func (t *teller) isFile(text string) bool {
	name, ok := t.repo.Inside(text)
	if !ok {
		return false
	}
	c, err := worktree.Open(t.repo, "")
	if err != nil {
		return false
	}
	defer c.Close()
	return c.Blob(name, nil) != ""
}

// entitled is what an ID is of, and its title.
func (t *teller) entitled(ctx context.Context, id string) (kind, title string, err error) {
	if m, ok, err := t.index.Memory(ctx, id); ok || err != nil {
		return db.KindMemory, session.Informative(m.Title), err
	}
	s, err := t.index.Session(ctx, id)
	return db.KindSession, session.Informative(s.Title), err
}

// ambiguous says what to type for each of the two.
func (t *teller) ambiguous(ctx context.Context, text, sha, id string) error {
	kind, title, err := t.entitled(ctx, id)
	if err != nil {
		return err
	}
	e := &AmbiguousError{Text: text, Commit: sha, Rev: result.Short(sha), Kind: kind, ID: t.names.Short(id), Name: session.Shorten(title, 50)}
	if c, ok := t.commit(sha); ok {
		e.Rev += " " + session.Shorten(c.Subject, 50)
	}
	if slices.Contains(t.purged, id) {
		e.Name = "purged"
	}
	if strings.EqualFold(text, e.ID) {
		e.ID = id
	}
	return e
}
