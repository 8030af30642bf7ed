package curate

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// pauseKey is the setting that lists the times in which this clone captured nothing.
const pauseKey = "rekal.pause"

// pausedNotesKey is the setting that lists what sections of notes said that were written in a pause.
const pausedNotesKey = "rekal.pause.notes"

// Pause begins a pause of this clone: what is said from now on is not captured. It returns a PausedError where one
// lasts.
func Pause(ctx context.Context, w *workspace.Workspace, c config.Config) error {
	if err := c.CheckPaused(); err != nil {
		return err
	}
	return w.Repo.AddConfig(ctx, pauseKey, config.Pause{From: w.Now().Truncate(time.Millisecond)}.String())
}

// Resume ends the pause of this clone, and tells when it began; false where there is none. What was said meanwhile
// stays out: the setting keeps the span. Where a transcript tells no times, its session is not captured any further.
func Resume(ctx context.Context, w *workspace.Workspace, a workspace.Author) (since time.Time, ok bool, err error) {
	p, ok := a.Config.Paused()
	if !ok {
		return since, false, nil
	}
	unsure, err := w.Previewer(a).TimelessSince(ctx, p.From)
	if err != nil {
		return since, true, err
	}
	for _, s := range unsure {
		err = errors.Join(err, w.Repo.AddConfig(ctx, forgotKey, s.String()))
	}
	if err == nil {
		err = keepOutNotes(ctx, w, a, p.From)
	}
	if err != nil {
		return since, true, err
	}
	open := p.String()
	p.To = w.Now()
	return p.From, true, w.Repo.ReplaceConfig(ctx, pauseKey, open, p.String())
}

// keepOutNotes keeps out what agents wrote to their notes since a moment: a file has but the time of its last change.
func keepOutNotes(ctx context.Context, w *workspace.Workspace, a workspace.Author, since time.Time) error {
	files, err := w.Previewer(a).NotesSince(ctx, since)
	for _, names := range files {
		err = errors.Join(err, w.Repo.AddConfig(ctx, pausedNotesKey, strings.Join(names, " ")))
	}
	return err
}
