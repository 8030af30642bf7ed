package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-rekal/git-rekal/internal/config"
)

// pauseKey is the setting that lists the times in which this clone captured nothing.
const pauseKey = "rekal.pause"

// PausedError is what would be captured during a pause.
type PausedError struct{ Since time.Time }

func (e *PausedError) Error() string {
	return fmt.Sprintf("paused since %s: nothing is captured", e.Since.UTC().Format(time.RFC3339))
}

// Paused returns a PausedError during a pause.
func Paused(c config.Config) error {
	if p, ok := c.Paused(); ok {
		return &PausedError{p.From}
	}
	return nil
}

// Pause begins a pause of this clone: what is said from now on is not captured. It returns a PausedError where one lasts.
func (w *Workspace) Pause(ctx context.Context, c config.Config) error {
	if err := Paused(c); err != nil {
		return err
	}
	return w.Repo.AddConfig(ctx, pauseKey, config.Pause{From: w.Now().Truncate(time.Millisecond)}.String())
}

// Resume ends the pause of this clone, and tells when it began; false where there is none. What was said meanwhile stays out: the setting keeps the span. Where a
// transcript tells no times, its session is not captured any further.
func (w *Workspace) Resume(ctx context.Context, a Author) (since time.Time, ok bool, err error) {
	p, ok := a.Config.Paused()
	if !ok {
		return since, false, nil
	}
	unsure, err := w.Previewer(a).Timeless(ctx, p.From)
	if err != nil {
		return since, true, err
	}
	for _, s := range unsure {
		err = errors.Join(err, w.Repo.AddConfig(ctx, forgotKey, s.Source+"/"+s.NativeID))
	}
	if err != nil {
		return since, true, err
	}
	open := p.String()
	p.To = w.Now()
	return p.From, true, w.Repo.ReplaceConfig(ctx, pauseKey, open, p.String())
}
