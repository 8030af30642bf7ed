package capture

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// OutputReader reads what agents' shells printed, from the transcripts that a capture reads, without capturing
// anything. It has a progress of its own, of how far each transcript was read, so that a capture, for which a commit
// waits, does no work for it.
type OutputReader struct {
	*Capturer
	st      *state
	changed bool // st holds more progress than was given
}

// NewOutputReader goes on from the progress of a former one; without one it begins with what captures know of other
// projects' transcripts. Of the Capturer Repo, Agents, Home, Getenv, CacheDir and Now are needed.
func NewOutputReader(ctx context.Context, c *Capturer, progress []byte) *OutputReader {
	o := &OutputReader{Capturer: c, st: decodeState(progress)}
	if len(o.st.Files) == 0 && len(o.st.Known) == 0 && len(o.st.Others) == 0 {
		known, others := readElsewhere(ctx, c.CacheDir)
		maps.Copy(o.st.Known, known)
		maps.Copy(o.st.Others, others)
		o.changed = len(known) > 0 || len(others) > 0
	}
	return o
}

// SessionOutputs are the outputs of one session's commands that one read of its transcript found.
type SessionOutputs struct {
	Source, NativeID string
	Session          string // the ID that capture gives it
	Branch           string
	FirstTurn        int // index in the session of the turn that Outputs call 0
	Outputs          []transcript.Output
}

// outputSearchBudget is how many bytes of other projects' transcripts one Read searches for records made in this
// repository.
const outputSearchBudget = 2 << 20

// Read hands the new outputs to each, the latest transcripts first, until about budget bytes were read; more tells
// whether some are left. An error of each ends it.
func (o *OutputReader) Read(ctx context.Context, budget int64, each func(SessionOutputs) error) (more bool, err error) {
	type found struct {
		reader
		transcript.File
	}
	var changed []found
	storesChanged, err := o.eachFile(ctx, o.st, outputSearchBudget, func(rd reader, f transcript.File) error {
		if rd.outputs = true; !o.st.unchanged(f.Path, f.Size, f.ModTime) {
			changed = append(changed, found{rd, f})
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	o.changed = o.changed || storesChanged
	slices.SortStableFunc(changed, func(a, b found) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	for _, f := range changed {
		if budget <= 0 {
			return true, nil
		}
		err := readThrough(ctx, f.reader, f.File, o.st.Sessions[f.Path], func(r *reading) error {
			if budget -= r.file.Size - r.offset; f.ReadWhole {
				budget -= r.doc.Bytes - r.file.Size // Size may be a number of rows
			}
			return o.emitReading(r, each)
		})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return true, err
		}
		// also of a transcript that can't be read: it is not tried again until it changes
		o.st.Files[f.Path], o.changed = stamp{Size: f.Size, ModTime: f.ModTime.UnixNano()}, true
	}
	return false, nil
}

// emitReading hands on the outputs of a file's own session and of its subagents in the same file, and notes how far
// they were read. Rows of any other session are skipped: the file of that session has them, too.
func (o *OutputReader) emitReading(r *reading, each func(SessionOutputs) error) error {
	for _, root := range r.doc.OtherRepos {
		o.st.Others[root] = true
	}
	if r.offset == 0 && !r.file.ReadWhole {
		delete(o.st.Sessions, r.file.Path) // the file is new, or was rewritten
	}
	for _, s := range r.doc.Sessions {
		key := r.file.Path
		switch r.file.NativeID {
		case s.NativeID:
		case s.ParentNative:
			key += subagentSeparator + s.NativeID
		default:
			continue
		}
		k, err := r.emitOutputs(o.st.Sessions[key], s, each)
		if err != nil {
			return err
		}
		o.st.Sessions[key] = k
	}
	if k := o.st.Sessions[r.file.Path]; k != nil { // the cursor is the file's, also where only a subagent said something
		k.moveCursor(r)
	}
	return nil
}

// subagentSeparator stands in a key of state.Sessions between a transcript's path and the native ID of a subagent in
// that file.
const subagentSeparator = "\x00"

// emitOutputs hands on the new outputs of a session, and returns what is then known of the session; k is what was known
// before, or nil.
func (r *reading) emitOutputs(k *ledgerSession, s transcript.Part,
	each func(SessionOutputs) error,
) (*ledgerSession, error) {
	if k == nil || r.offset == 0 && !r.file.ReadWhole {
		k = &ledgerSession{Source: r.agent, NativeID: s.NativeID}
	}
	next := *k
	if r.file.ReadWhole { // each read begins at its start: leave out the outputs of earlier reads
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
		next.HasElsewhere = next.HasElsewhere || session.IsElsewhereMark(t.Content)
	}
	next.Turns += len(s.Turns)
	return &next, nil
}

// Progress is how far Read came, and whether that is more than was given. Keep it with the outputs: without it the next
// Read gives them again.
func (o *OutputReader) Progress() (progress []byte, changed bool) {
	if !o.changed {
		return nil, false
	}
	o.st.dropStampsOfMissing(nil)
	for path := range o.st.Sessions {
		file, _, _ := strings.Cut(path, subagentSeparator)
		if _, ok := o.st.Files[file]; !ok {
			delete(o.st.Sessions, path)
		}
	}
	progress, err := o.st.encode()
	return progress, err == nil
}

// TranscriptPath is the path of a session's transcript when it was last read; "" if no Read saw the session.
func (o *OutputReader) TranscriptPath(source, nativeID string) string {
	for path, k := range o.st.Sessions {
		if k.Source == source && k.NativeID == nativeID {
			path, _, _ = strings.Cut(path, subagentSeparator)
			return path
		}
	}
	return ""
}
