package cli

import (
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// asOf finds the tables that a command asks: those of the moment that a flag's value names, of
// today without one.
func asOf(ctx context.Context, w *workspace.Workspace, m *materialize.Materializer, flag, ref string) (*materialize.Materializer, *result.AsOf, error) {
	if ref == "" {
		return m, nil, nil
	}
	past, moment, err := w.AsOf(ctx, m, ref)
	if err != nil {
		return nil, nil, fmt.Errorf("--%s %q: %w", flag, ref, err)
	}
	if moment.Ref == "" { // a folder
		return past, nil, nil
	}
	return past, &result.AsOf{Checkpoint: string(moment.OID), Until: result.Time(moment.Until)}, nil
}
