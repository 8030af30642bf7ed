package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/segment"
)

// Bounds say how far another author's ledger is read, in bytes of segments as they are read: a few KB can be packed
// from gigabytes, and whoever may push can make everybody read them.
//
// A ledger that is beyond them ends, for its readers, at the newest commit from the tip back along first parents
// behind which everything is within. They are sums, so that this depends on the ledger alone, and not on when it
// was fetched, in which order it is read, or in how many steps.
type Bounds struct {
	Entry  uint64 // of one entry, which is read at once
	Ledger uint64 // of all entries

	// Until is the latest date that is believed; zero: any. A commit with a later one, by a wrong clock or on purpose, is
	// read as soon as one builds on it whose date is believed, and then counts as made just before that one; at a tip it
	// waits.
	Until time.Time
}

// DefaultBounds are far above honest ledgers. A capture stops at 12 MB of new text and may go beyond them by one
// transcript's piece. 60 real sessions are 1.55 MB, so that a gigabyte is 40,000 sessions; nobody has so many.
func DefaultBounds() Bounds {
	return Bounds{Entry: 32 << 20, Ledger: 1 << 30}
}

// Leeway is by how much clocks may differ: that of an agent and that of a capture, and the same one before
// and after it was put right.
const Leeway = 24 * time.Hour

// MaxAhead is how far a clock may have gone back: by so much the time of a segment may be later than its commit. What
// is later than that was written by a clock that was wrong, or by somebody who means harm, and is not followed.
const MaxAhead = 366 * 24 * time.Hour

// AsOf are the bounds for who reads at a time.
func (b Bounds) AsOf(now time.Time) Bounds {
	b.Until = now.Add(Leeway)
	return b
}

// NoLimit is for NewestWithin.
const NoLimit = math.MaxUint64

// Cumulative is a commit of a ledger, with the bytes of all segments that lead to it, its own included.
type Cumulative struct {
	OID   git.OID // "": nothing
	Bytes uint64
}

// BoundsError says why a ledger is not read to its end.
type BoundsError struct {
	What  string
	Later bool // it is within the bounds, and too much at once
	Own   bool // it is what a remote holds of one's own: it may be taken in all the same

	cause error
}

func (e *BoundsError) Error() string { return e.What }

// Hint says what to do.
func (e *BoundsError) Hint() string {
	switch {
	case e.Own:
		return `if another machine of yours wrote it, "git rekal sync --unbounded" takes it in, else "git rekal doctor" says how to remove it`
	case e.Later:
		return `"git rekal sync" goes on with it, "git rekal index" reads it at once`
	}
	return `"git rekal doctor" says how to leave it out`
}

// Unwrap returns what is wrong besides sizes.
func (e *BoundsError) Unwrap() error { return e.cause }

// NewestWithin finds the newest commit, from the tip back along first parents, up to which a ledger is within the
// bounds and within a limit of all its bytes. Where that is not the tip, a BoundsError comes with it. What is behind
// from was counted before, and is not counted again. No limit leads back behind from.
func (b Bounds) NewestWithin(ctx context.Context, repo *git.Repo, tip git.OID, from Cumulative,
	limit uint64,
) (Cumulative, error) {
	to, _, err := b.SinceWithin(ctx, repo, tip, from, limit)
	return to, err
}

// SinceWithin is NewestWithin that also lists what it counted, as Since does beyond from; nil where from is not behind
// what is within the bounds.
func (b Bounds) SinceWithin(ctx context.Context, repo *git.Repo, tip git.OID, from Cumulative,
	limit uint64,
) (Cumulative, []Commit, error) {
	c := boundsCount{Bounds: b, repo: repo, from: from, limit: limit}
	tip, waits, err := c.newestBelieved(tip)
	if err != nil || tip == "" {
		return Cumulative{}, nil, errors.Join(err, waits)
	}
	all, err := c.countUpTo(ctx, tip)
	var over *BoundsError
	if !errors.As(err, &over) {
		return all, c.counted, errors.Join(err, waits)
	}
	last, err := c.lastWithin(ctx, tip)
	if err != nil {
		return last, nil, err
	}
	if over.Later && !c.isBehind(c.from.OID, last.OID) {
		last = c.from
		c.counted = nil
	}
	return last, c.counted, over
}

// CheckAdded returns a BoundsError where what a ledger holds that is not behind another commit is not within the
// bounds.
func (b Bounds) CheckAdded(ctx context.Context, repo *git.Repo, held, tip git.OID) error {
	c := boundsCount{Bounds: b, repo: repo, held: held, limit: NoLimit}
	_, err := c.countUpTo(ctx, tip)
	return err
}

// boundsCount is one count of a ledger under way.
type boundsCount struct {
	Bounds
	repo  *git.Repo
	from  Cumulative
	held  git.OID // what is behind it is not counted
	limit uint64

	counted []Commit // beyond from, by the last count that was not too much; nil where from is not behind what was counted
}

// newestBelieved is the newest commit, from the tip back along first parents, whose date is believed; "" if there is
// none. If it is not the tip, waits says which commits are not read yet.
func (c *boundsCount) newestBelieved(tip git.OID) (id git.OID, waits error, err error) {
	for at, err := range c.repo.FirstParents(tip) {
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("ledger: %w", err)
		case !c.isFutureDated(at):
			return at.OID, waits, nil
		case waits == nil:
			waits = &BoundsError{What: fmt.Sprintf("what was committed on %s waits until then, or until its author commits more",
				at.Committer.When.UTC().Format(time.DateOnly))}
		}
	}
	return "", waits, nil
}

// isFutureDated reports whether a commit has a date that is not believed.
func (b Bounds) isFutureDated(c git.Commit) bool {
	return !b.Until.IsZero() && c.Committer.When.After(b.Until)
}

// lastWithin is the newest commit of a chain that is within the bounds: the further back, the less is behind one. Its
// date is believed.
func (c *boundsCount) lastWithin(ctx context.Context, tip git.OID) (last Cumulative, err error) {
	var chain []git.Commit
	for at, err := range c.repo.FirstParents(tip) {
		if err != nil {
			return last, fmt.Errorf("ledger: %w", err)
		}
		if !c.isFutureDated(at) {
			chain = append(chain, at)
		}
		if at.OID == c.from.OID { // what is behind it was counted
			break
		}
	}
	sort.Search(len(chain), func(i int) bool {
		got, e := c.countUpTo(ctx, chain[i].OID)
		over := errors.As(e, new(*BoundsError))
		if e == nil {
			last = got
		} else if !over && err == nil {
			err = e
		}
		return !over
	})
	return last, err
}

func (c *boundsCount) isBehind(old, id git.OID) bool {
	if old == "" || id == "" {
		return old == ""
	}
	behind, err := c.repo.IsAncestor(old, id)
	return err == nil && behind
}

// countUpTo counts what comes to a commit, until it is too much: then, or where something is malformed, it returns a
// BoundsError.
func (c *boundsCount) countUpTo(ctx context.Context, id git.OID) (Cumulative, error) {
	var sum Cumulative
	if c.isBehind(c.from.OID, id) {
		sum = c.from
	}
	commits, err := c.since(ctx, c.repo, id, []git.OID{sum.OID, c.held},
		func(entry Commit) error { return c.add(&sum, entry) })
	if err == nil {
		c.counted = nil
		if sum.OID == c.from.OID {
			c.counted = commits
		}
	}
	if errors.Is(err, git.ErrMalformed) {
		err = &BoundsError{What: err.Error(), cause: err}
	}
	sum.OID = id
	return sum, err
}

// add counts an entry, or says why it is too much.
func (c *boundsCount) add(sum *Cumulative, entry Commit) error {
	bytes := entry.bytes(c.repo)
	switch sum.Bytes += bytes; {
	case bytes > c.Entry:
		return &BoundsError{What: fmt.Sprintf("%s in one entry (at most %s are read)", FormatMB(bytes), FormatMB(c.Entry))}
	case sum.Bytes > c.Ledger:
		return &BoundsError{What: fmt.Sprintf("more than %s in all", FormatMB(c.Ledger))}
	case sum.Bytes > c.limit:
		return &BoundsError{What: "more is new than is read at once", Later: true}
	}
	return nil
}

// bytes counts those of an entry's segments. One that is too large to be read costs nothing.
func (c Commit) bytes(repo *git.Repo) (bytes uint64) {
	for i := range c.Segments {
		if size, err := c.Segments[i].Bytes(repo); err == nil && size <= segment.MaxRead {
			bytes += size
		}
	}
	return bytes
}

// FormatMB is a number of bytes, to be told.
func FormatMB(bytes uint64) string { return fmt.Sprintf("%d MB", (bytes+1<<20-1)>>20) }
