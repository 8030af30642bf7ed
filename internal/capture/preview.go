package capture

import (
	"cmp"
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Preview is what a Run would store.
type Preview struct {
	Outcome                // without a tip
	Files    int           // of code commits, that checkpoints would list
	Bytes    int           // of the segments
	Parts    []Part        // what is new of each session, in the ledger's order
	Findings []redact.Mark // what was taken out
	Notes    []NoteKept    // all that agents noted in files, as it would be kept
}

// Part is what is new of a session.
type Part struct {
	ID, Source, Title string // as they would be stored, or are
	NativeID          string
	Continues         bool // the ledger holds its beginning
	Private           bool
	Turns, ToolCalls  int
}

// Preview works out what a Run would store now, and what redaction takes out of it, and writes
// nothing at all: neither ledger nor cache. Where there is no ledger yet it is what an Import would
// store.
func (c *Capturer) Preview(ctx context.Context, via string) (Preview, error) {
	// One round without bounds: a second one could not go on from what the first has not stored.
	g, err := c.beginRound(ctx, newSharedByRounds(Round{Kept: noBound, Piece: noBound}), 0)
	if err != nil {
		return Preview{}, err
	}
	g.agents, g.edits.inMemory = c.Agents, map[string][]editLine{}
	if err := g.gather(ctx); err != nil {
		return Preview{}, err
	}
	var drafts []session.Entry
	if g.tips[c.Ledger.Ref()] == "" {
		drafts, err = g.planImport(ctx)
	} else {
		drafts, err = g.planCapture(ctx, via, nil)
	}
	if drafts, err = g.withNotes(ctx, drafts, err); err != nil {
		return Preview{}, err
	}
	if g.edits.failed != nil {
		g.out.Warnings = append(g.out.Warnings, g.edits.failed)
	}
	out, err := g.preview(ctx, drafts)
	out.Notes = g.keptNotes(drafts)
	return out, err
}

// noBound is larger than any transcript, and does not overflow when a size is added.
const noBound = 1 << 60

func (g *collector) preview(ctx context.Context, drafts []session.Entry) (Preview, error) {
	var out Preview
	all, err := g.redactAll(ctx, drafts, func(i int, r redact.Report) {
		g.countStored(drafts[i], r)
		out.Findings = append(out.Findings, r.Marks...)
	})
	if err != nil {
		return Preview{}, err
	}
	private := g.privateIDs()
	for _, clean := range all {
		parts, err := segment.Encode(clean)
		if err != nil {
			return Preview{}, fmt.Errorf("capture: %w", err)
		}
		for _, p := range parts {
			out.Bytes += len(p)
		}
		e := clean.Entry()
		if e.Checkpoint != nil {
			out.Files += len(e.Checkpoint.Files)
		}
		for _, s := range e.Sessions {
			p := Part{
				ID: s.ID, Source: s.Source, NativeID: s.NativeID, Title: s.Title, Turns: len(s.Turns),
				ToolCalls: len(s.ToolCalls), Private: private[s.ID],
			}
			if k := g.st.Sessions[sessionKey(s.Source, s.NativeID)]; k != nil {
				p.Continues, p.Title = true, cmp.Or(s.Title, k.Title)
			}
			out.Parts = append(out.Parts, p)
		}
	}
	out.Outcome = g.out
	return out, nil
}
