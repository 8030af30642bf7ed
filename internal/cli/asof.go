package cli

import (
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// asOf finds what is asked: the tables of the moment that --checkpoint names, or that is checked out, which it puts into
// ref; those of today otherwise.
func asOf(ctx context.Context, w *workspace.Workspace, m *materialize.Materializer, ref *string) (ask.Past, error) {
	if *ref == "" {
		*ref = w.Snapshot()
	}
	past, err := ask.AsOf(ctx, w, m, *ref)
	if err != nil {
		return past, fmt.Errorf("--checkpoint %q: %w", *ref, err)
	}
	return past, nil
}
