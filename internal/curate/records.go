package curate

import (
	"context"
	"errors"

	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// withRecords looks at the records.
func withRecords(ctx context.Context, w *workspace.Workspace, look func(*records.View) error) error {
	store, err := w.Records()
	if err != nil {
		return err
	}
	v, err := store.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(look(v), v.Close())
}

// RequireRecords returns records.ErrNone for a number that no record ever had.
func RequireRecords(ctx context.Context, w *workspace.Workspace, numbers []int) error {
	return withRecords(ctx, w, func(v *records.View) error { return v.RequireAssigned(ctx, numbers) })
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
func CountRecords(ctx context.Context, w *workspace.Workspace) (n int, err error) {
	err = withRecords(ctx, w, func(v *records.View) error {
		n = len(v.All)
		return nil
	})
	return n, err
}

// RemoveRecords takes away all of them.
func RemoveRecords(w *workspace.Workspace) error {
	store, err := w.Records()
	if err != nil {
		return err
	}
	return store.Remove()
}
