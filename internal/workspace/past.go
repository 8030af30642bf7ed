package workspace

import (
	"context"
	"errors"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
)

// AsOf finds the tables of the past state of the ledgers that text names; see
// ledger.Ledger.Moment. Which commits of code the ledger is tied to is asked of today's
// tables, and only for a revision of code.
func (w *Workspace) AsOf(ctx context.Context, m *materialize.Materializer, text string) (*materialize.Materializer, ledger.Moment, error) {
	author, err := w.Author(ctx)
	if err != nil {
		return nil, ledger.Moment{}, err
	}
	moment, err := author.Ledger.Moment(ctx, text, func() (map[git.OID][]git.OID, error) { return ties(ctx, m, author.Email) })
	if err != nil {
		return nil, ledger.Moment{}, err
	}
	past, err := m.At(moment)
	return past, moment, err
}

func ties(ctx context.Context, m *materialize.Materializer, email string) (map[git.OID][]git.OID, error) {
	data, err := m.Data(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := data.Ties(ctx, email)
	if err := errors.Join(err, data.Close()); err != nil {
		return nil, err
	}
	out := make(map[git.OID][]git.OID, len(rows))
	for sha, checkpoints := range rows {
		for _, id := range checkpoints {
			out[git.OID(sha)] = append(out[git.OID(sha)], git.OID(id))
		}
	}
	return out, nil
}
