package materialize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
)

// Limits of what other people's ledgers may cost, in bytes of their segments. The bounds say which part of a ledger
// counts at all. What is new and within them is read in steps: a step that is not taken yet rests until the next one.
type Limits struct {
	ledger.Bounds
	Step   uint64 // of one ledger, in one catch-up or rebuild
	Recall uint64 // of all of them, where somebody waits for an answer
}

// DefaultLimits are for text that is all new words: it takes a second and more a MB, so that a recall is held up for seconds at worst
// and a sync for a minute or two a ledger. A team's sync brings a few MB.
func DefaultLimits() Limits {
	return Limits{Bounds: ledger.DefaultBounds(), Step: 64 << 20, Recall: 4 << 20}
}

func (m *Materializer) limits() Limits {
	if m.Limits == (Limits{}) {
		return DefaultLimits()
	}
	return m.Limits
}

// effort says how much is done for what is new.
type effort int

const (
	reading    effort = iota // somebody waits for an answer: a later sync does the rest
	asked                    // somebody asked for it: what could not be read is tried again
	everything               // however long that takes
)

// step is how many bytes of a ledger are read besides those that were.
func (m *Materializer) step(p *plan) uint64 {
	l := m.limits()
	switch {
	case p.effort == everything || m.past: // no sync would go on with a past moment
		return ledger.NoLimit
	case p.effort == reading && len(p.was) > 0:
		return l.Recall - min(l.Recall, p.news)
	}
	return l.Step
}

// within tells how far a ledger is to be read, and what keeps it from being read to its end. One's own is, whatever its size.
func (m *Materializer) within(ctx context.Context, p *plan, h ledger.Head) (to reach, over *ledger.BoundsError, err error) {
	was := p.was[h.Ref]
	switch {
	case h.Remote == "":
		return reach{applied: h.OID, tried: h.OID}, nil, nil
	case was.rests && was.tried == h.OID && p.effort != everything:
		return was, nil, nil
	}
	limit := was.bytes + m.step(p)
	if limit < was.bytes {
		limit = ledger.NoLimit
	}
	got, err := m.limits().Within(ctx, m.Repo, h.OID, ledger.Counted{OID: was.applied, Bytes: was.bytes, Excess: was.excess}, limit)
	if errors.As(err, &over) {
		err = nil
	}
	return reach{applied: got.OID, tried: h.OID, bytes: got.Bytes, excess: got.Excess}, over, err
}

func behind(applied git.OID) string {
	if applied == "" {
		return "its beginning"
	}
	return fmt.Sprintf("commit %.12s", applied)
}

// without writes a plan. Where that fails for what ledgers hold, it writes the plan without the one of somebody else
// that adds the most, and so on: so one's own is there, and those of others, in any case. What was left out
// rests until it moves.
func (m *Materializer) without(ctx context.Context, p *plan, write func() error) error {
	for {
		err := write()
		if err == nil || ctx.Err() != nil || ofSystem(err) || !p.leave(err) {
			return err
		}
	}
}

// ofSystem reports whether an error is due to files, locks and the disk, and not to what ledgers hold.
func ofSystem(err error) bool {
	var file *fs.PathError
	return rebuildable(err) || errors.As(err, &file) || slices.ContainsFunc([]error{
		errMoved, lock.ErrBusy, db.ErrLocked, fs.ErrPermission, git.ErrNotFound, syscall.ENOSPC,
	}, func(known error) bool { return errors.Is(err, known) })
}

// leave takes the author out of a plan who adds the most and has no branch here, and reports whether there was one.
func (p *plan) leave(failed error) bool {
	sizes, most := map[string]uint64{}, ""
	for _, c := range p.commits {
		if _, own := p.cursor[c.author]; own {
			continue
		}
		if sizes[c.author] += c.bytes; most == "" || sizes[c.author] > sizes[most] {
			most = c.author
		}
	}
	if most == "" {
		return false
	}
	p.commits = slices.DeleteFunc(p.commits, func(c commit) bool { return c.author == most })
	p.bytes -= sizes[most]
	for ref, r := range p.cursor {
		if p.authors[ref] == most && r != p.have[ref] {
			p.cursor[ref] = p.have[ref].at(r.tried, true)
			p.failed = append(p.failed, fmt.Errorf("skipped %s until it moves: %w", ref, failed))
		}
	}
	return true
}
