package capture

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Outputs reads what agents' shells printed, from the transcripts that a capture reads, without capturing anything. How far each
// was read stands in a file of its own: a capture, which a commit waits for, does nothing for it.
type Outputs struct {
	*Capturer        // Repo, Agents, Home, Getenv, CacheDir and Now are needed
	File      string // where it stands how far each transcript was read
	st        *state
	dirty     bool // st says more than the file
}

// SessionOutputs is what one session printed, as far as one read tells.
type SessionOutputs struct {
	Source, NativeID string
	Session          string // the ID that capture gives it
	Branch           string
	FirstTurn        int // of the session, to which the turns of Outputs are counted from 0
	Outputs          []transcript.Output
}

// searched bounds how many bytes of other projects' transcripts a read searches for records made here.
const searched = 2 << 20

// Read gives what is new: of about budget bytes, the latest transcripts first, and tells whether there is more. It ends with
// the error of each.
func (o *Outputs) Read(ctx context.Context, budget int64, each func(SessionOutputs) error) (more bool, err error) {
	o.open()
	type found struct {
		reader
		transcript.File
	}
	var changed []found
	news, err := o.eachFile(ctx, o.st, searched, func(rd reader, f transcript.File) error {
		if rd.outputs = true; !o.st.unchanged(f.Path, f.Size, f.ModTime) {
			changed = append(changed, found{rd, f})
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	o.dirty = o.dirty || news
	slices.SortStableFunc(changed, func(a, b found) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	for _, f := range changed {
		if budget <= 0 {
			return true, nil
		}
		err := readThrough(ctx, f.reader, f.File, o.st.Sessions[f.Path], func(r *reading) error {
			if budget -= r.file.Size - r.offset; f.Whole {
				budget -= r.doc.Bytes - r.file.Size // its size may count rows
			}
			return o.take(r, each)
		})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return true, err
		}
		o.st.Files[f.Path], o.dirty = stamp{Size: f.Size, ModTime: f.ModTime.UnixNano()}, true // one that can't be read gives nothing until it changes
	}
	return false, nil
}

// open reads the state. Where there is none, what capture knows of other projects' transcripts need not be looked for again.
func (o *Outputs) open() {
	if o.st = readCache(o.File); len(o.st.Files) == 0 {
		known := readCache(filepath.Join(o.CacheDir, cacheFile))
		o.st.Known, o.st.Others = known.Known, known.Others
	}
}

// take gives the outputs of a reading's own session and of its subagents in the same file, and notes how far they were read. Rows of other
// sessions are left to theirs.
func (o *Outputs) take(r *reading, each func(SessionOutputs) error) error {
	for _, root := range r.doc.Others {
		o.st.Others[root] = true
	}
	if r.offset == 0 && !r.file.Whole {
		delete(o.st.Sessions, r.file.Path) // it is new, or was rewritten
	}
	for _, s := range r.doc.Sessions {
		key := r.file.Path
		switch r.file.NativeID {
		case s.NativeID:
		case s.ParentNative:
			key += beside + s.NativeID
		default:
			continue
		}
		k, err := r.newOutputs(o.st.Sessions[key], s, each)
		if err != nil {
			return err
		}
		o.st.Sessions[key] = k
	}
	if k := o.st.Sessions[r.file.Path]; k != nil { // the cursor is the file's, also where only a subagent said something
		k.goOnBehind(r)
	}
	return nil
}

// beside stands between a transcript's path and the native ID of a subagent in it.
const beside = "\x00"

// newOutputs gives what is new of a session's outputs, and returns what is known of it then.
func (r *reading) newOutputs(k *ledgerSession, s transcript.Part, each func(SessionOutputs) error) (*ledgerSession, error) {
	if k == nil || r.offset == 0 && !r.file.Whole {
		k = &ledgerSession{Source: r.agent, NativeID: s.NativeID}
	}
	next := *k
	if r.file.Whole { // it is read from the start each time, and what was told is not told again
		next.Turns = 0
		s.Outputs = slices.DeleteFunc(s.Outputs, func(out transcript.Output) bool { return out.At.Before(k.Last) })
		for _, out := range s.Outputs {
			if out.At.After(next.Last) {
				next.Last = out.At
			}
		}
	} else if last := s.LastTS(); last.After(next.Last) {
		next.Last = last
	}
	if len(s.Turns) > 0 && next.First.IsZero() {
		next.First = s.Turns[0].TS
		next.ID = session.NewID(next.First, r.agent, s.NativeID)
	}
	if len(s.Outputs) > 0 {
		if err := each(SessionOutputs{r.agent, s.NativeID, next.ID, s.Branch, next.Turns, s.Outputs}); err != nil {
			return nil, err
		}
	}
	for _, t := range s.Turns {
		next.Apart = next.Apart || t.Content == session.Elsewhere
	}
	next.Turns += len(s.Turns)
	return &next, nil
}

// Done notes how far Read came, once what it gave is stored: else the next one gives it again.
func (o *Outputs) Done() error {
	if !o.dirty {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(o.File), 0o700); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	o.st.forget(nil)
	for path := range o.st.Sessions {
		of, _, _ := strings.Cut(path, beside)
		if _, ok := o.st.Files[of]; !ok {
			delete(o.st.Sessions, path)
		}
	}
	return o.st.saveAs(o.File)
}

// Transcript is where a session's transcript lay when it was read last; "" where that is not known.
func (o *Outputs) Transcript(source, nativeID string) string {
	for path, k := range readCache(o.File).Sessions {
		if k.Source == source && k.NativeID == nativeID {
			path, _, _ = strings.Cut(path, beside)
			return path
		}
	}
	return ""
}
