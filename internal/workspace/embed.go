package workspace

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/embed"
	"github.com/git-rekal/git-rekal/internal/recordindex"
	"github.com/git-rekal/git-rekal/internal/search"
)

// Embedding says how far to go for vectors.
type Embedding struct {
	Insist   bool                  // ask a server that is left alone, too
	Enough   func() bool           // whether the rest is left to the next time; nil: it never is
	Progress func(done, total int) // sessions; nil: nobody looks
	Patience time.Duration         // for one answer; 0: a minute
}

// Embed fills in the vectors that an embedding server makes. Where there is none, nothing happens;
// of one that the user named it is told when it does not answer.
func (w *Workspace) Embed(ctx context.Context, c config.Embed, how Embedding) error {
	client, model, err := w.Embedder(c, how.Patience)
	if err != nil || client == nil {
		return err
	}
	defer client.Close()
	var failed error
	ready := false
	if c.URL == "" { // mostly nobody is there: then what is to be embedded need not be read
		if client.Ready(ctx, how.Insist) != nil {
			return ctx.Err()
		}
		ready = true
	}
	e := search.Embedder{
		Model: embed.Name(model), Batch: embed.Batch, Enough: how.Enough,
		Vectors: func(ctx context.Context, texts []string) (vectors [][]float32, err error) {
			if !ready {
				failed = client.Ready(ctx, how.Insist)
			}
			if ready = failed == nil; ready {
				vectors, failed = client.Documents(ctx, texts)
			}
			return vectors, failed
		},
		Progress: func(done, total int) {
			if ready && how.Progress != nil {
				how.Progress(done, total)
			}
		},
	}
	m, err := w.Reader()
	if err != nil {
		return err
	}
	if err = m.Embed(ctx, e); err == nil && failed == nil {
		err = w.embedRecords(ctx, e)
	}
	if failed == nil || ctx.Err() != nil {
		return err
	}
	if c.URL != "" {
		w.Warn(fmt.Errorf("some sessions have no vectors yet, a later sync makes them: %w", failed))
	}
	return nil
}

// embedRecords makes the vectors of records, which are few beside sessions: no progress of theirs is shown.
func (w *Workspace) embedRecords(ctx context.Context, e search.Embedder) error {
	store, err := w.Records()
	if err != nil {
		return err
	}
	e.Progress = nil
	return recordindex.Embed(ctx, store, w.RekalDir(), e)
}

// Question returns the vector that a model makes of a question; none where no server answers in
// time, or the settings name another model.
func (w *Workspace) Question(ctx context.Context, model, text string) []float32 {
	conf, err := w.Settings()
	if err != nil {
		return nil
	}
	client, name, err := w.Embedder(conf.Embed, 0)
	if err != nil || client == nil {
		return nil
	}
	defer client.Close()
	if embed.Name(name) != model {
		return nil
	}
	vector, err := client.Query(ctx, text)
	if err != nil {
		return nil
	}
	return vector
}

// Embedder is a client for the server that the settings name; nil where they want none.
func (w *Workspace) Embedder(c config.Embed, patience time.Duration) (client *embed.Client, model string, err error) {
	if c.URL == "off" {
		return nil, "", nil
	}
	if model = cmp.Or(c.Model, embed.DefaultModel); model == search.ModelName {
		return nil, "", fmt.Errorf("rekal.embed.model: %q is the name of the model that is built in", model)
	}
	client, err = embed.New(embed.Options{
		URL: cmp.Or(c.URL, embed.DefaultURL), Model: model, State: filepath.Join(w.RekalDir(), "embed.json"), Now: w.Now, Patience: patience,
	})
	if err != nil {
		err = fmt.Errorf("rekal.embed.url: %w", err)
	}
	return client, model, err
}
