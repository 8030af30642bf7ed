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

// Past is what a question as of a moment needs.
type Past struct {
	Text   string                    // that names the moment; "" for today
	Notice string                    // what a user is to be told who did not name it; "" for one that was named, and for today
	Tables *materialize.Materializer // that are asked
	AsOf   *result.AsOf              // nil for today, and for a folder, which is no moment
	Tip    git.OID                   // of one's own ledger at that moment; "" where there is none

	purgedToday []string // in order; the tables don't know it
}

// asOf finds the moment that text names, as indexOfPast does; for "" the commit of a ledger that is checked out, else today. It returns a
// CheckpointError.
func asOf(ctx context.Context, w *workspace.Workspace, m *materialize.Materializer, text string) (Past, error) {
	notice := ""
	if text == "" {
		if text = w.CheckedOutLedgerCommit(); text == "" {
			return Past{Tables: m}, nil
		}
		notice = fmt.Sprintf("HEAD is %s of a ledger, so this is as of then", result.ShortOID(text))
	}
	tables, moment, err := indexOfPast(ctx, w, m, text)
	if err != nil {
		return Past{}, &CheckpointError{text, err}
	}
	out := Past{Text: text, Notice: notice, Tables: tables, Tip: moment.OID}
	if moment.Ref != "" {
		out.AsOf = &result.AsOf{Checkpoint: string(moment.OID), Until: result.Time(moment.Until)}
	}
	if out.purgedToday, err = m.Purged(ctx); err != nil {
		return Past{}, &CheckpointError{text, err}
	}
	return out, nil
}

// indexOfPast finds the index of the past state of the ledgers that text names: see
// ledger.Ledger.Moment. Today's tables tell to which
// commits of code the ledger is tied; they are read only if text is a revision of code. If text is no
// revision, it may be a folder: if a ledger commit of this repository is checked out there, the folder
// names that commit; any other folder stands for the ledger that lies in it, and names no moment.
func indexOfPast(ctx context.Context, w *workspace.Workspace, m *materialize.Materializer, text string) (*materialize.Materializer, ledger.Moment, error) {
	author, err := w.Author(ctx)
	if err != nil {
		return nil, ledger.Moment{}, err
	}
	ties := func(code git.OID) ([]git.OID, error) { return tiedCheckpoints(ctx, m, author.Email, code) }
	moment, err := author.Ledger.Moment(ctx, text, w.Now(), ties)
	dir := w.Path(text)
	if info, none := os.Stat(dir); errors.Is(err, ledger.ErrNoMoment) && none == nil && info.IsDir() {
		id := checkedOutCommit(ctx, w, dir, info)
		if id == "" {
			past, err := indexOfFolder(ctx, m, dir)
			return past, ledger.Moment{}, err
		}
		moment, err = author.Ledger.Moment(ctx, string(id), w.Now(), ties)
	}
	if err != nil {
		return nil, ledger.Moment{}, err
	}
	past, err := m.At(moment)
	return past, moment, err
}

// checkedOutCommit is the commit of a ledger that is here and checked out in a folder; "" for none.
func checkedOutCommit(ctx context.Context, w *workspace.Workspace, dir string, info os.FileInfo) git.OID {
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

func indexOfFolder(ctx context.Context, m *materialize.Materializer, dir string) (*materialize.Materializer, error) {
	f, err := ledger.OpenFolder(ctx, dir)
	if errors.Is(err, ledger.ErrFormat) {
		// What a ledger of another format calls for is no help with what was typed.
		err = fmt.Errorf("%w, and no ledger lies there: %v", ledger.ErrNoMoment, err) //nolint:errorlint // see above
	}
	if err != nil {
		return nil, err
	}
	return m.Folder(ctx, f)
}

func tiedCheckpoints(ctx context.Context, m *materialize.Materializer, email string, code git.OID) (out []git.OID, err error) {
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
