package workspace

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Records is the store of records: what commands printed. Where settings can't be read, nobody knows how long records
// are kept, and none goes.
func (w *Workspace) Records() records.Store {
	conf, err := w.Settings()
	if err != nil {
		conf.Records.Days, conf.Records.Size = 365_000, math.MaxInt64
	}
	return records.Store{
		Dir: filepath.Join(w.RekalDir(), "records"), Now: w.Now, Days: conf.Records.Days, Size: conf.Records.Size,
	}
}

// WithRecords looks at the records.
func (w *Workspace) WithRecords(ctx context.Context, look func(*records.View) error) error {
	v, err := w.Records().Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(look(v), v.Close())
}

// OutputReader reads what commands printed from the transcripts of this repository.
func (w *Workspace) OutputReader(ctx context.Context) (*capture.OutputReader, error) {
	conf, _ := w.Settings() // what is wrong with it was told
	progress, err := w.Records().Progress(ctx)
	return capture.NewOutputReader(ctx, &capture.Capturer{
		Repo: w.Repo, Agents: transcript.Agents(), Home: w.Home, Getenv: w.Getenv, CacheDir: w.RekalDir(), Now: w.Now,
		Without: exclusionsOf(conf),
	}, progress), err
}

// exclusionsOf are the times and sessions that settings keep out of a capture.
func exclusionsOf(c config.Config) capture.Excluded {
	var out capture.Excluded
	for _, p := range c.Pauses {
		out.Spans = append(out.Spans, capture.Span(p))
	}
	out.Sessions, out.Notes = nativeRefs(c.Forgot), c.PausedNotes
	return out
}

// nativeRefs are sessions that settings name as AGENT/ID.
func nativeRefs(names []string) (out []session.NativeRef) {
	for _, name := range names {
		source, id, _ := strings.Cut(name, "/")
		out = append(out, session.NativeRef{Source: source, NativeID: id})
	}
	return out
}
