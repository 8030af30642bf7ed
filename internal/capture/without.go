package capture

import (
	"context"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Excluded is what is not captured, though transcripts hold it.
type Excluded struct {
	Spans    []Span              // what was said meanwhile
	Sessions []session.NativeRef // these, what they spawned, and what is known to go on from them
}

// Span is From ≤ t < To; a zero To is still open.
type Span struct{ From, To time.Time }

// overlaps reports whether a moment from a to b, inclusive, lies in one of the spans.
func (w Excluded) overlaps(a, b time.Time) bool {
	return slices.ContainsFunc(w.Spans, func(s Span) bool { return !b.Before(s.From) && (s.To.IsZero() || a.Before(s.To)) })
}

func (w Excluded) isPaused(t time.Time) bool { return w.overlaps(t, t) }

func (w Excluded) excludes(source string, p transcript.Part) bool {
	return slices.ContainsFunc(w.Sessions, func(n session.NativeRef) bool {
		return n.Source == source && n.NativeID != "" && slices.Contains([]string{p.NativeID, p.ParentNative, p.ForkNative}, n.NativeID)
	})
}

// remove takes out of a read what is not captured: then it is as if the transcript had never held it. Last is the last turn that was read before; until
// is when the transcript was written last.
func (w Excluded) remove(source string, doc *transcript.Document, last, until time.Time) {
	doc.Sessions = slices.DeleteFunc(doc.Sessions, func(p transcript.Part) bool { return w.excludes(source, p) })
	for i := range doc.Sessions {
		w.removePaused(&doc.Sessions[i], last, until)
	}
}

// removePaused takes the turns of a span out of a session, the calls behind them, and calls that may have been made in it: these have no time of their own, but
// that of the turns around them.
func (w Excluded) removePaused(p *transcript.Part, last, until time.Time) {
	if len(w.Spans) == 0 {
		return
	}
	at := make([]int, len(p.Turns)) // where each turn stands afterwards
	quiet := make([]bool, len(p.Turns)+1)
	turns := p.Turns[:0:0]
	for i, t := range p.Turns {
		end := until
		if i+1 < len(p.Turns) {
			end = p.Turns[i+1].TS
		}
		quiet[i+1] = w.overlaps(t.TS, end)
		if at[i] = len(turns) - 1; !w.isPaused(t.TS) {
			at[i] = len(turns)
			t.Index = len(turns)
			turns = append(turns, t)
		}
	}
	first := until
	if len(p.Turns) > 0 {
		first = p.Turns[0].TS
	}
	if last.IsZero() {
		last = first
	}
	quiet[0] = w.overlaps(last, first)
	calls := p.ToolCalls[:0:0]
	for _, c := range p.ToolCalls {
		if i := min(c.Turn, len(p.Turns)-1); !quiet[i+1] {
			if i >= 0 {
				c.Turn = at[i]
			}
			c.Index = len(calls)
			calls = append(calls, c)
		}
	}
	p.Edits = slices.DeleteFunc(p.Edits, func(e transcript.Edit) bool { return w.isPaused(e.TS) })
	p.Outputs = slices.DeleteFunc(p.Outputs, func(o transcript.Output) bool { return w.isPaused(o.At) })
	for i := range p.Outputs {
		if n := p.Outputs[i].Turn; n >= 0 && n < len(at) {
			p.Outputs[i].Turn = at[n]
		}
	}
	usage := p.Usage[:0:0]
	for _, u := range p.Usage {
		if i := min(u.Turn, len(p.Turns)-1); !quiet[i+1] {
			if i >= 0 {
				u.Turn = at[i]
			}
			usage = append(usage, u)
		}
	}
	p.Turns, p.ToolCalls, p.Usage = turns, calls, usage
	if w.overlaps(last, until) { // a title that the agent gave may speak of it
		w.retitle(p)
	}
}

// retitle gives a session the title of what is left of it.
func (w Excluded) retitle(p *transcript.Part) {
	p.Title, p.TitleKind = "", transcript.TitleNone
	if i := session.TitleTurn(p.Turns); i >= 0 {
		p.Title, p.TitleKind = session.PromptTitle(p.Turns[i].Content), transcript.TitlePrompt
	}
}

// tick is how far a file's time may lag behind the clock: the kernel takes it at its ticks, of which there are 100 a second at least.
const tick = 10 * time.Millisecond

// Timeless names the sessions whose transcripts tell no times and were written since a moment: which of it was said before can't be told.
func (c *Capturer) Timeless(ctx context.Context, since time.Time) (out []session.NativeRef, err error) {
	_, err = c.eachFile(ctx, newState(), 0, func(rd reader, f transcript.File) error {
		if f.Timeless && !f.ModTime.Before(since.Add(-tick)) {
			out = append(out, session.NativeRef{Source: rd.agent.Name(), NativeID: f.NativeID})
		}
		return nil
	})
	return out, err
}
