package capture

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Excluded is what the user keeps out of captures: times and sessions.
type Excluded struct {
	Spans    []Span              // all that was said in these times
	Sessions []session.NativeRef // these, what they spawned, and what is known to go on from them
	Notes    []string            // sections of notes, as NotesSince names them
}

// Span is From ≤ t < To; a zero To is still open.
type Span struct{ From, To time.Time }

// overlaps reports whether the time from a to b, inclusive, overlaps one of the spans.
func (w Excluded) overlaps(a, b time.Time) bool {
	return slices.ContainsFunc(w.Spans, func(s Span) bool {
		return !b.Before(s.From) &&
			(s.To.IsZero() || a.Before(s.To))
	})
}

func (w Excluded) isPaused(t time.Time) bool { return w.overlaps(t, t) }

func (w Excluded) excludes(source string, p transcript.Part) bool {
	return slices.ContainsFunc(w.Sessions, func(n session.NativeRef) bool {
		return n.Source == source && n.NativeID != "" &&
			slices.Contains([]string{p.NativeID, p.ParentNative, p.ForkNative}, n.NativeID)
	})
}

// remove removes what is excluded from a read, as if the transcript had never held it. lastTurn is the time of the last
// turn of earlier reads, written the time at which the transcript was last written.
func (w Excluded) remove(source string, doc *transcript.Document, lastTurn, written time.Time) {
	doc.Sessions = slices.DeleteFunc(doc.Sessions, func(p transcript.Part) bool { return w.excludes(source, p) })
	for i := range doc.Sessions {
		w.removePaused(&doc.Sessions[i], lastTurn, written)
	}
}

// removePaused removes from a session the turns in a span, the calls after them, and all calls that may have been made
// in a span: a call has no time of its own, only that of the turns around it.
func (w Excluded) removePaused(p *transcript.Part, lastTurn, written time.Time) {
	if len(w.Spans) == 0 {
		return
	}
	newIndex := make([]int, len(p.Turns)) // by turn: its index afterwards, or that of the turn before it
	inPause := make([]bool, len(p.Turns)+1)
	turns := p.Turns[:0:0]
	for i, t := range p.Turns {
		end := written
		if i+1 < len(p.Turns) {
			end = p.Turns[i+1].TS
		}
		inPause[i+1] = w.overlaps(t.TS, end)
		if newIndex[i] = len(turns) - 1; !w.isPaused(t.TS) {
			newIndex[i] = len(turns)
			t.Index = len(turns)
			turns = append(turns, t)
		}
	}
	first := written
	if len(p.Turns) > 0 {
		first = p.Turns[0].TS
	}
	if lastTurn.IsZero() {
		lastTurn = first
	}
	inPause[0] = w.overlaps(lastTurn, first)
	calls := p.ToolCalls[:0:0]
	for _, c := range p.ToolCalls {
		if i := min(c.Turn, len(p.Turns)-1); !inPause[i+1] {
			if i >= 0 {
				c.Turn = newIndex[i]
			}
			c.Index = len(calls)
			calls = append(calls, c)
		}
	}
	p.Edits = slices.DeleteFunc(p.Edits, func(e transcript.Edit) bool { return w.isPaused(e.TS) })
	p.Outputs = slices.DeleteFunc(p.Outputs, func(o transcript.Output) bool { return w.isPaused(o.At) })
	for i := range p.Outputs {
		if n := p.Outputs[i].Turn; n >= 0 && n < len(newIndex) {
			p.Outputs[i].Turn = newIndex[n]
		}
	}
	usage := p.Usage[:0:0]
	for _, u := range p.Usage {
		if i := min(u.Turn, len(p.Turns)-1); !inPause[i+1] {
			if i >= 0 {
				u.Turn = newIndex[i]
			}
			usage = append(usage, u)
		}
	}
	p.Turns, p.ToolCalls, p.Usage = turns, calls, usage
	if w.overlaps(lastTurn, written) { // a title that the agent gave may speak of it
		w.titleFromPrompt(p)
	}
}

// titleFromPrompt titles a session by the prompts that are left.
func (w Excluded) titleFromPrompt(p *transcript.Part) {
	p.Title, p.TitleKind = "", transcript.TitleNone
	if i := session.TitleTurn(p.Turns); i >= 0 {
		p.Title, p.TitleKind = session.PromptTitle(p.Turns[i].Content), transcript.TitlePrompt
	}
}

// tick is how far a file's time may lag behind the clock: the kernel sets it at its ticks, at least 100 a second.
const tick = 10 * time.Millisecond

// TimelessSince names the sessions with transcripts that hold no times and were written since a moment: nobody can tell
// which turns are older.
func (c *Capturer) TimelessSince(ctx context.Context, since time.Time) (out []session.NativeRef, err error) {
	_, err = c.eachFile(ctx, newState(), 0, func(rd reader, f transcript.File) error {
		if f.Timeless && !f.ModTime.Before(since.Add(-tick)) {
			out = append(out, session.NativeRef{Source: rd.agent.Name(), NativeID: f.NativeID})
		}
		return nil
	})
	return out, err
}

// NotesSince names the sections of notes in files that were written since a moment, but for those that a capture has
// seen: a list a file.
func (c *Capturer) NotesSince(ctx context.Context, since time.Time) (out [][]string, err error) {
	env, seen := c.noteEnv(), NoteFiles(ctx, c.CacheDir)
	for _, folder := range transcript.NoteFolders(env) {
		files, more := folder.Files()
		err = errors.Join(err, more)
		for _, f := range files {
			if f.ModTime.Before(since.Add(-tick)) {
				continue
			}
			text, more := f.Read()
			err = errors.Join(err, more)
			own, _ := notes.WithoutOthers(text)
			var names []string
			for _, s := range sectionsOf(f, own, env.Roots) {
				isSame := func(had NoteSection) bool { return had.Sum == textSum(s.Text) }
				if !slices.ContainsFunc(seen[f.Path()].Sections, isSame) {
					names = append(names, noteName(s))
				}
			}
			if len(names) > 0 {
				out = append(out, names)
			}
		}
	}
	return out, err
}

// noteName is how settings name a section of notes: by what it says.
func noteName(s notes.Section) string { return hex.EncodeToString([]byte(textSum(s.Text))) }

// isNotePaused reports of a file's sections whether they were written in a pause.
func (w Excluded) isNotePaused(f transcript.NoteFile) func(notes.Section) bool {
	all := w.overlaps(f.ModTime, f.ModTime.Add(tick))
	return func(s notes.Section) bool { return all || slices.Contains(w.Notes, noteName(s)) }
}
