package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
)

// A session moves from one ledger of its author to another in two steps: CopyFrom, then a Scrub with Forget and Unsent
// of the first. Whoever is stopped between the two has it in both, and does both again.

// Copied is what CopyFrom found.
type Copied struct {
	Sessions map[string]bool // of which something was there to be copied
	Turns    int
	Sent     int // turns that were left, because a remote is known to hold them
}

// CopyFrom appends what another ledger says of some sessions, entry by entry with their dates, and leaves out what
// remotes are known to hold of that ledger, and what is here already.
func (l *Ledger) CopyFrom(ctx context.Context, from *Ledger, isWanted func(id string) bool) (out Copied, err error) {
	err = l.retryWhileMoved(func() (err error) {
		out, err = l.copyFrom(ctx, from, isWanted)
		return err
	})
	return out, err
}

func (l *Ledger) copyFrom(ctx context.Context, from *Ledger, isWanted func(id string) bool) (Copied, error) {
	out := Copied{Sessions: map[string]bool{}}
	sent, err := from.sentSegments(ctx)
	if err != nil {
		return out, err
	}
	there, err := from.Tip()
	if err != nil || there == "" {
		return out, err
	}
	tip, err := l.Check()
	if err != nil {
		return out, err
	}
	held, err := l.heldBlobs(tip)
	if err != nil {
		return out, err
	}
	next, err := l.baseToBuildOn(tip)
	if err != nil {
		return out, err
	}
	err = allEntries(ctx, from.repo, there, func(c Commit, e session.Entry) error {
		found := map[string]bool{}
		_, those := e.Split(func(id string) bool {
			if isWanted(id) {
				found[id] = true
			}
			return found[id]
		})
		if those.Subject = e.Subject; !those.SaysAnything() {
			return nil
		}
		turns := 0
		for _, s := range those.Sessions {
			turns += len(s.Turns)
		}
		if sent[c.Segments[0].Path] {
			out.Sent += turns
			return nil
		}
		out.Turns += turns
		maps.Copy(out.Sessions, found)
		next, err = l.copyEntry(next, c, those, held)
		return err
	})
	if err != nil || next == tip {
		return out, err
	}
	return out, l.repo.CompareAndSwap(ctx, l.ref, tip, next, "rekal: copy")
}

// copyEntry adds an entry of another ledger's commit, unless its first segment is held already.
func (l *Ledger) copyEntry(next git.OID, c Commit, e session.Entry, held map[git.OID]bool) (git.OID, error) {
	parts, err := segment.EncodeAgain(e)
	if errors.Is(err, segment.ErrUnknown) {
		err = &LaterError{e.Needs}
	}
	if err != nil {
		return "", fmt.Errorf("ledger: copy commit %.12s: %w", c.OID, err)
	}
	id, err := l.repo.WriteBlob(parts[0])
	if err != nil || held[id] {
		return next, err
	}
	who := l.who
	who.When = c.When
	return l.writeParts(next, parts, c.Segments[0].Time(), e.Subject, who)
}

// heldBlobs are the segments that a commit of the ledger holds; none for "".
func (l *Ledger) heldBlobs(tip git.OID) (map[git.OID]bool, error) {
	held := map[git.OID]bool{}
	if tip == "" {
		return held, nil
	}
	c, err := l.repo.Commit(tip)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	files, err := segmentsBeyond(l.repo.Trees(treeBytes), "", c.Tree)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	for _, f := range files {
		held[f.OID] = true
	}
	return held, nil
}

// sentSegments are the paths of the segments that a remote is known to hold.
func (l *Ledger) sentSegments(ctx context.Context) (map[string]bool, error) {
	refs, err := l.copyRefs()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, ref := range refs {
		tip, err := l.repo.Ref(ref)
		if err != nil {
			return nil, err
		}
		commits, err := Since(ctx, l.repo, tip)
		if err != nil && !errors.Is(err, ErrFormat) {
			return nil, err
		}
		for _, c := range commits {
			for _, s := range c.Segments {
				out[s.Path] = true
			}
		}
	}
	return out, nil
}
