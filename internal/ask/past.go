package ask

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// CheckpointError is a moment that can't be asked about.
type CheckpointError struct {
	Text string
	Err  error
}

func (e *CheckpointError) Error() string { return fmt.Sprintf("checkpoint %q: %v", e.Text, e.Err) }

// Unwrap returns the cause.
func (e *CheckpointError) Unwrap() error { return e.Err }

// Past says which moment a question is asked as of.
type Past struct {
	Text   string       // that names the moment; "" for today
	Notice string       // what a user is to be told who did not name it; "" for one that was named, and for today
	AsOf   *result.AsOf // nil for today
	Tip    git.OID      // of one's own ledger at that moment; "" where there is none

	moment ledger.Moment
}

// asOf finds the moment that text names, as findMoment does; for "" the commit of a ledger that is checked out, else
// today. It returns a CheckpointError.
func asOf(ctx context.Context, w *workspace.Workspace, m *materialize.Materializer, text string) (Past, error) {
	notice := ""
	if text == "" {
		if text = w.CheckedOutLedgerCommit(); text == "" {
			return Past{}, nil
		}
		notice = fmt.Sprintf("HEAD is %s of a ledger, so this is as of then", result.ShortOID(text))
	}
	moment, err := findMoment(ctx, w, m, text)
	if err != nil {
		return Past{}, &CheckpointError{text, err}
	}
	then := &result.AsOf{Checkpoint: string(moment.OID), Until: result.Time(moment.Until)}
	return Past{Text: text, Notice: notice, AsOf: then, Tip: moment.OID, moment: moment}, nil
}

// open opens the index as of then, or of today.
func (p Past) open(ctx context.Context, m *materialize.Materializer) (*materialize.Reader, error) {
	if p.Text == "" {
		return m.Open(ctx)
	}
	return m.OpenAt(ctx, p.moment)
}

// findMoment finds the past state of the ledgers that text names: see ledger.Ledger.Moment. The index tells to which
// commits of code the ledger is tied; it is read only if text is a revision of code. If text is no revision, it may be
// a folder: if a ledger commit of this repository is checked out there, the folder names that commit.
func findMoment(ctx context.Context, w *workspace.Workspace, m *materialize.Materializer,
	text string,
) (ledger.Moment, error) {
	author, err := w.Author(ctx)
	if err != nil {
		return ledger.Moment{}, err
	}
	ties := func(code git.OID) ([]git.OID, error) { return tiedCheckpoints(ctx, m, author.Email, code) }
	moment, err := author.Ledger.Moment(ctx, text, w.Now(), ties)
	if errors.Is(err, ledger.ErrNoMoment) {
		if id := checkedOutCommit(ctx, w, w.Path(text)); id != "" {
			return author.Ledger.Moment(ctx, string(id), w.Now(), ties)
		}
	}
	return moment, err
}

// checkedOutCommit is the commit of a ledger that is here and checked out in a folder; "" for none.
func checkedOutCommit(ctx context.Context, w *workspace.Workspace, dir string) git.OID {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return ""
	}
	repo, err := git.Open(ctx, dir, nil)
	if err != nil {
		return ""
	}
	defer repo.Close()
	root, _ := os.Stat(repo.Layout().WorkTree) // nil is no folder
	head, err := repo.Head()
	if err != nil || !os.SameFile(root, info) || !ledger.HasCommit(w.Repo, head.OID) {
		return ""
	}
	return head.OID
}

func tiedCheckpoints(ctx context.Context, m *materialize.Materializer, email string,
	code git.OID,
) (out []git.OID, err error) {
	index, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := index.CheckpointsOf(ctx, email, string(code))
	for _, id := range ids {
		out = append(out, git.OID(id))
	}
	return out, errors.Join(err, index.Close())
}
