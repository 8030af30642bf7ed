package curate

import (
	"context"
	"errors"

	"github.com/git-rekal/git-rekal/internal/workspace"
)

// WereRecords returns records.ErrNone for a number that no record ever had.
func WereRecords(ctx context.Context, w *workspace.Workspace, numbers []int) error {
	store, err := w.Records()
	if err != nil {
		return err
	}
	v, err := store.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(v.Given(ctx, numbers), v.Close())
}

// ScrubRecords takes records and their outputs out for good, and tells how many were still there.
func ScrubRecords(ctx context.Context, w *workspace.Workspace, numbers []int) (int, error) {
	store, err := w.Records()
	if err != nil {
		return 0, err
	}
	return store.Scrub(ctx, numbers)
}

// CountRecords tells how many records there are.
func CountRecords(ctx context.Context, w *workspace.Workspace) (int, error) {
	store, err := w.Records()
	if err != nil {
		return 0, err
	}
	v, err := store.Open(ctx)
	if err != nil {
		return 0, err
	}
	return len(v.All), v.Close()
}

// RemoveRecords takes away all of them.
func RemoveRecords(w *workspace.Workspace) error {
	store, err := w.Records()
	if err != nil {
		return err
	}
	return store.Remove()
}
