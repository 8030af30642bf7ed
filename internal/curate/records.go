package curate

import (
	"context"
	"errors"

	"github.com/git-rekal/git-rekal/internal/recordindex"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// WereRecords returns records.ErrNone for a number that no record ever had.
func WereRecords(w *workspace.Workspace, numbers []int) error {
	store, err := w.Records()
	if err == nil {
		err = store.Given(numbers)
	}
	return err
}

// ScrubRecords takes records and their outputs out for good, and tells how many were still there.
func ScrubRecords(ctx context.Context, w *workspace.Workspace, numbers []int) (int, error) {
	store, err := w.Records()
	if err != nil {
		return 0, err
	}
	n, err := store.Scrub(ctx, numbers)
	return n, errors.Join(err, recordindex.Forget(w.RekalDir()))
}

// CountRecords tells how many records there are.
func CountRecords(w *workspace.Workspace) (int, error) {
	store, err := w.Records()
	if err != nil {
		return 0, err
	}
	all, err := store.All()
	return len(all), err
}

// RemoveRecords takes away all of them.
func RemoveRecords(w *workspace.Workspace) error {
	store, err := w.Records()
	if err != nil {
		return err
	}
	return errors.Join(store.Remove(), recordindex.Forget(w.RekalDir()))
}
