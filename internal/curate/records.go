package curate

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// RequireRecords returns records.ErrNone for a number that no record ever had.
func RequireRecords(ctx context.Context, w *workspace.Workspace, numbers []int) error {
	return w.WithRecords(ctx, func(v *records.View) error { return v.RequireAssigned(ctx, numbers) })
}

// ScrubRecords takes records and their outputs out for good, and tells how many were still there.
func ScrubRecords(ctx context.Context, w *workspace.Workspace, numbers []int) (int, error) {
	return w.Records().Scrub(ctx, numbers)
}

// CountRecords tells how many records there are.
func CountRecords(ctx context.Context, w *workspace.Workspace) (n int, err error) {
	err = w.WithRecords(ctx, func(v *records.View) error {
		n = len(v.All)
		return nil
	})
	return n, err
}

// RemoveRecords takes away all of them.
func RemoveRecords(w *workspace.Workspace) error {
	return w.Records().Remove()
}
