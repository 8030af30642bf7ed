package curate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/compress"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// AtRecall is how many bytes of transcripts a recall reads for records, at most one transcript more. See
// docs/records.md for what that takes.
const AtRecall = 16 << 20

// longOutput is how many lines an output has at most that is no record unless its command failed.
const longOutput = 20

// ownCommand matches a command of git-rekal, whose output is a record already, or was made of some.
var ownCommand = lazy.Expr(`\bgit[ -]rekal\b`)

// ForgetAgentOutputs drops the records that were made of transcripts.
func ForgetAgentOutputs(ctx context.Context, w *workspace.Workspace) error {
	return w.Records().Forget(ctx)
}

// TranscriptOf names the transcript that a record was made of.
func TranscriptOf(ctx context.Context, w *workspace.Workspace, r records.Record) string {
	if from, err := w.OutputReader(ctx); err == nil {
		if file := from.TranscriptPath(r.From.Source, r.From.Native); file != "" {
			return file
		}
	}
	return fmt.Sprintf("the transcript of %s's session %s", r.From.Source, r.From.Native)
}

// RecordAllAgentOutputs makes records of all that agents' shells printed.
func RecordAllAgentOutputs(ctx context.Context, w *workspace.Workspace) error {
	for more := true; more; {
		var err error
		if more, err = RecordAgentOutputs(ctx, w, 2*AtRecall); err != nil {
			return err
		}
	}
	return nil
}

// RecordAgentOutputs makes records of what agents' shells printed since it was last asked, of about budget bytes of
// transcripts, and tells whether there are more. It is for those who ask: a commit must not wait for it.
func RecordAgentOutputs(ctx context.Context, w *workspace.Workspace, budget int64) (more bool, err error) {
	o, err := Overhear(ctx, w, budget)
	return o.more, cmp.Or(err, o.Store(ctx, w))
}

// Overheard is what agents' shells printed since it was last stored.
type Overheard struct {
	heard    []records.Record
	progress []byte // how far transcripts were read; nil: no further than before
	more     bool
}

// IsNothing reports whether there is nothing to store.
func (o Overheard) IsNothing() bool { return len(o.heard) == 0 && o.progress == nil }

// Overhear reads it, of about budget bytes of transcripts. It asks nothing of the repository but where it lies: it may
// run beside what does.
func Overhear(ctx context.Context, w *workspace.Workspace, budget int64) (o Overheard, err error) {
	conf, err := w.Settings()
	if err != nil || conf.Records.Off || conf.Records.Deaf {
		return o, err
	}
	store := w.Records()
	from, err := w.OutputReader(ctx)
	if err != nil {
		return o, err
	}
	o.more, err = from.Read(ctx, budget, func(h capture.SessionOutputs) error {
		for _, out := range h.Outputs {
			if out.At.Before(store.Since()) {
				continue
			}
			r, ok := recordOf(w, h, out)
			if ok {
				o.heard = append(o.heard, r)
			}
		}
		return nil
	})
	if err != nil {
		return Overheard{}, fmt.Errorf("records of transcripts: %w", err)
	}
	o.progress, _ = from.Progress()
	return o, nil
}

// Store makes records of it.
func (o Overheard) Store(ctx context.Context, w *workspace.Workspace) error {
	if o.IsNothing() {
		return nil
	}
	conf, err := w.Settings()
	var made []records.Redacted
	if err == nil && len(o.heard) > 0 {
		made, err = redactRecords(ctx, w.Redactor(conf, workspace.ToStore), o.heard)
	}
	if err == nil {
		_, err = w.Records().AddFromTranscripts(ctx, made, o.progress)
	}
	if err != nil {
		return fmt.Errorf("records of transcripts: %w", err)
	}
	return nil
}

// redactRecords redacts records of one reading. What a later one calls a secret is taken out of the earlier ones, too.
func redactRecords(ctx context.Context, with *redact.Redactor, heard []records.Record) ([]records.Redacted, error) {
	out := make([]records.Redacted, len(heard))
	left := len(heard)
	for range 2 {
		found := 0
		for i, r := range heard[:left] {
			var err error
			if out[i], err = records.Redact(ctx, with, r, nil); err != nil {
				return nil, err
			}
			if out[i].Places() > 0 {
				found = i
			}
		}
		left = found
	}
	return out, nil
}

// recordOf is the record of an output that is one: a long one, or of a command that failed.
func recordOf(w *workspace.Workspace, h capture.SessionOutputs, o transcript.Output) (r records.Record, ok bool) {
	if o.Text == "" || !o.Failed && strings.Count(strings.TrimRight(o.Text, "\n"), "\n") < longOutput ||
		ownCommand.MatchString(o.Command) {
		return r, false
	}
	c := compress.Text(o.Text, compress.Options{})
	r = records.Record{
		At: o.At, Command: o.Command, Exit: o.Exit, Branch: h.Branch,
		Lines: c.Lines, Bytes: c.Bytes, Shown: c.Shown, Tests: c.Tests, Failed: c.Failed, Errors: c.Errors, Terms: c.Terms,
		Paths: c.Paths, Text: c.Text,
		From: &records.From{
			Source: h.Source, Native: h.NativeID, Session: h.Session, Turn: h.FirstTurn + o.Turn,
			Call: records.CallKey(h.Source, o.Call, o.At),
		},
	}
	if o.Dir != "." && filepath.IsLocal(o.Dir) {
		r.Dir = o.Dir
	}
	root := w.Repo.Layout().WorkTree
	completePaths(w, &r, func(at string) bool {
		_, err := os.Lstat(path.Join(root, at))
		return err == nil
	})
	return r, c.Text != ""
}
