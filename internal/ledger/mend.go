package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// mend scrubs one's own ledger again after a merge, where two machines had scrubbed different
// texts of the same segment: what each wrote in its place still says what the other took out. It
// returns the tip.
func (l *Ledger) mend(ctx context.Context, tip git.OID) (git.OID, error) {
	targets, err := l.halfScrubbed(ctx, tip)
	if err != nil || len(targets) == 0 {
		return tip, err
	}
	out, err := l.Scrub(ctx, Scrub{Targets: targets, Redactor: redact.New(), Pushed: true})
	if errors.Is(err, ErrCut) || errors.As(err, new(*LaterError)) {
		return tip, nil // a clone that has all of it, or knows it, does this
	}
	return out.Tip, err
}

// halfScrubbed lists what one of several entries of the same time has scrubbed and another one
// still says. Only what stands in the place of a scrubbed segment has its time.
func (l *Ledger) halfScrubbed(ctx context.Context, tip git.OID) ([]Target, error) {
	commits, err := Since(ctx, l.repo, tip)
	if err != nil {
		return nil, err
	}
	at := map[time.Time][]Commit{}
	for _, c := range commits {
		if len(c.Segments) > 0 {
			when := c.Segments[0].Time()
			at[when] = append(at[when], c)
		}
	}
	var out []Target
	listed := map[string]bool{}
	for _, same := range at {
		if len(same) < 2 {
			continue
		}
		var entries []session.Entry
		err := said(ctx, l.repo, same, func(_ Commit, e session.Entry) error {
			entries = append(entries, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i := range same {
			for j := range same {
				for _, t := range unlike(entries[i], entries[j], same[j].OID) {
					if !listed[t.String()] {
						listed[t.String()] = true
						out = append(out, t)
					}
				}
			}
		}
	}
	return out, nil
}

// unlike lists what one entry has scrubbed and the entry of another commit still says.
func unlike(done, other session.Entry, commit git.OID) []Target {
	var out []Target
	if a, b := done.Checkpoint, other.Checkpoint; a != nil && b != nil && a.GitSHA == b.GitSHA && gone(a.GitBranch, b.GitBranch) {
		out = append(out, Target{Checkpoint: commit})
	}
	for i := range min(len(done.Memories), len(other.Memories)) {
		if a, b := done.Memories[i], other.Memories[i]; a.ID == b.ID && gone(a.Content, b.Content) {
			out = append(out, Target{Checkpoint: commit})
		}
	}
	for _, a := range done.Sessions {
		for _, b := range other.Sessions {
			if a.ID == b.ID {
				out = append(out, unlikeParts(a, b)...)
			}
		}
	}
	return out
}

func unlikeParts(done, other session.Session) []Target {
	if done.Branch+done.Model == "" && other.Branch+other.Model != "" {
		return []Target{{Session: done.ID}} // only a scrub of all of it takes these
	}
	var out []Target
	if gone(done.Title, other.Title) {
		out = append(out, Target{Session: done.ID, Title: true})
	}
	turns := map[int]session.Turn{}
	for _, t := range other.Turns {
		turns[t.Index] = t
	}
	for _, t := range done.Turns {
		if was := turns[t.Index]; was.TS.Equal(t.TS) && was.Role == t.Role && gone(t.Content, was.Content) {
			out = append(out, Target{Session: done.ID, Turn: &t.Index})
		}
	}
	calls := map[int]session.ToolCall{}
	for _, c := range other.ToolCalls {
		calls[c.Index] = c
	}
	for _, c := range done.ToolCalls {
		if was := calls[c.Index]; was.Tool == c.Tool && was.Turn == c.Turn && c.Path == "" && c.Cmd == "" && was.Path+was.Cmd != "" {
			out = append(out, Target{Session: done.ID, Turn: &c.Turn})
		}
	}
	return out
}

// gone reports whether a text was scrubbed that another copy of it still says.
func gone(done, other string) bool {
	return done == session.Scrubbed && other != "" && other != session.Scrubbed
}
