package materialize

import (
	"cmp"
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

// Other people's ledgers are read in steps. A recall takes 4 MB of what is new, a sync 64 MB; the rest waits for the
// next sync. A rebuild goes as far as the tables went, and one step further. The cursor holds what was counted.

// Limits of what other people's ledgers may cost, in bytes of their segments. The bounds say which part of a ledger
// counts at all. What is new and within them is read in steps: a step that is not taken yet rests until the next one.
type Limits struct {
	ledger.Bounds
	Step   uint64 // of all of them, in one catch-up or rebuild
	Recall uint64 // the same where somebody waits for an answer
}

// defaultLimits are for text that is all new words, which takes most of a second a MB and 20 times its bytes of memory:
// so a recall is held up for seconds at worst and a sync for a minute. A team's sync brings a few MB.
func defaultLimits() Limits {
	return Limits{Bounds: ledger.DefaultBounds(), Step: 64 << 20, Recall: 4 << 20}
}

func (m *Materializer) limits() Limits { return cmp.Or(m.Limits, defaultLimits()) }

// fairShare is a ledger's part of what is read at once that no other ledger takes away, however many there are.
const fairShare = 64

// effort says how much is done for what is new.
type effort int

const (
	reading    effort = iota // somebody waits for an answer: a later sync does the rest
	asked                    // somebody asked for it: what could not be read is tried again
	everything               // however long that takes
)

// bytesToRead is how many bytes of a ledger are read besides those that were.
func (m *Materializer) bytesToRead(p *plan) uint64 {
	l := m.limits()
	switch {
	case p.effort == everything || m.public: // no sync would go on with that
		return ledger.NoLimit
	case p.effort == reading && len(p.was) > 0:
		return max(l.Recall-min(l.Recall, p.added), l.Recall/fairShare)
	}
	return max(l.Step-min(l.Step, p.added), l.Step/fairShare)
}

// readableUpTo is how far a ledger is to be read, and what keeps it from being read to its end. One's own is, whatever
// its size. Where that is counted, counted are the commits beyond what was applied.
func (m *Materializer) readableUpTo(ctx context.Context, p *plan,
	h ledger.Head,
) (to reach, counted []ledger.Commit, beyond *ledger.BoundsError, err error) {
	was := p.was[h.Ref]
	switch {
	case h.Remote == "":
		return reach{applied: h.OID, tried: h.OID}, nil, nil, nil
	case p.off[h.Ref]:
		return was, nil, nil, nil
	case was.rests && was.tried == h.OID && p.effort != everything:
		return was, nil, nil, nil
	}
	limit := was.bytes + min(m.bytesToRead(p), ledger.NoLimit-was.bytes)
	got, counted, err := m.limits().AsOf(m.Now()).SinceWithin(ctx, m.Repo, h.OID,
		ledger.Cumulative{OID: was.applied, Bytes: was.bytes}, limit)
	if errors.As(err, &beyond) {
		err = nil
	}
	return reach{applied: got.OID, tried: h.OID, bytes: got.Bytes}, counted, beyond, err
}

func describeReach(applied git.OID) string {
	if applied == "" {
		return "its beginning"
	}
	return fmt.Sprintf("commit %.12s", applied)
}

// writeBisecting writes what make plans. Where that fails for what ledgers hold, what is new of other people's is put
// off, half of it and half of that, the most first, until the rest can be written: so what was in the tables stays, and
// one's own comes in, in any case. What fails all by itself rests until it moves. What was put off comes with the next
// plan; it reports whether there is any.
func (m *Materializer) writeBisecting(ctx context.Context, draft func(off map[string]bool) (*plan, error),
	write func(*plan) error,
) (putOff bool, err error) {
	p, err := draft(nil)
	if err != nil {
		return false, err
	}
	var failed error
	off, left := map[string]bool{}, p.ledgersWithMore()
	for {
		failed = write(p)
		if failed == nil || ctx.Err() != nil || isSystemError(failed) || len(left) == 0 {
			return len(off) > 0, failed
		}
		keep := left[:len(left)/2]
		for _, ref := range left[len(keep):] {
			off[ref] = true
		}
		if p, err = draft(off); err != nil {
			return false, err
		}
		if len(left) == 1 {
			p.setAside(left[0], failed)
			delete(off, left[0])
		}
		left = keep
	}
}

// isSystemError reports whether an error is due to files, locks and the disk, and not to what ledgers hold.
func isSystemError(err error) bool {
	var file *fs.PathError
	return rebuildable(err) || errors.As(err, &file) || slices.ContainsFunc([]error{
		errMoved, lock.ErrBusy, db.ErrLocked, fs.ErrPermission, git.ErrNotFound, syscall.ENOSPC,
	}, func(known error) bool { return errors.Is(err, known) })
}

// ledgersWithMore are the ledgers of other people of which there is more than was in the tables, those that add the
// least first.
func (p *plan) ledgersWithMore() []string {
	var out []string
	for ref, r := range p.cursor {
		if ref != p.authors[ref] && r.applied != p.was[ref].applied {
			out = append(out, ref)
		}
	}
	added := func(ref string) uint64 { return p.cursor[ref].bytes - min(p.cursor[ref].bytes, p.was[ref].bytes) }
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(added(a), added(b)), cmp.Compare(a, b)) })
	return out
}

// setAside leaves a ledger where it was until it moves.
func (p *plan) setAside(ref string, failed error) {
	p.cursor[ref] = p.cursor[ref].withTip(p.tips[ref], true)
	p.failed = append(p.failed, fmt.Errorf("skipped what is new of %s until it moves: %w", ref, failed))
}
