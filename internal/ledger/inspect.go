package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Health is what reading a whole ledger shows.
type Health struct {
	Commits    int
	Segments   int
	Bytes      int64 // of the segments
	Unreadable []error
	Foreign    int // checkpoints of another author, which nobody counts
	Unknown    int // records that a later version wrote, and this one does not know in part or at all
}

// maxUnreadable bounds how many causes are kept.
const maxUnreadable = 100

// Inspect reads a ledger from its beginning, one segment at a time, and hands each on that was not
// seen before: with its commit, whose subject stands in the entry where it is the commit's only one.
func Inspect(ctx context.Context, repo *git.Repo, h Head, seen map[git.OID]bool,
	each func(Commit, session.Entry) error,
) (Health, error) {
	var out Health
	commits, err := Since(ctx, repo, h.OID)
	if err != nil {
		return out, err
	}
	for _, c := range commits {
		out.Commits++
		for i, s := range c.Segments {
			if err := ctx.Err(); err != nil {
				return out, fmt.Errorf("ledger: %w", err)
			}
			out.Segments++
			if seen[s.Blob] {
				continue
			}
			seen[s.Blob] = true
			e, err := out.segment(repo, h, s)
			if err != nil {
				return out, err
			}
			if code, err := repo.Commit(c.OID); err == nil && i == 0 {
				e.Subject = code.Subject()
			}
			if err := each(c, e); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// segment reads one segment; what can't be read is noted, and the entry is empty.
func (h *Health) segment(repo *git.Repo, of Head, s Segment) (session.Entry, error) {
	size, err := s.Bytes(repo)
	if err == nil {
		h.Bytes += int64(size)
	}
	e, err := ReadSegment(repo, s)
	if errors.Is(err, ErrUnreadable) || errors.Is(err, git.ErrNotFound) {
		if len(h.Unreadable) < maxUnreadable {
			h.Unreadable = append(h.Unreadable, fmt.Errorf("%s: %w", s.Path, err))
		}
		return session.Entry{}, nil
	}
	if err != nil {
		return session.Entry{}, err
	}
	h.Unknown += e.Unknown
	if cp := e.Checkpoint; cp != nil {
		own, err := RefName(cp.UserEmail)
		its, err2 := RefName(of.Email)
		if err != nil || err2 != nil || own != its {
			h.Foreign++
		}
	}
	return e, nil
}

// StrayFiles lists what stands beside the ledger at its tip, and no git-rekal put there.
func (l *Ledger) StrayFiles() ([]string, error) {
	tip, err := l.Tip()
	if err != nil || tip == "" {
		return nil, err
	}
	c, err := l.repo.Commit(tip)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	entries, err := l.repo.Trees(treeBytes).EntriesByName(c.Tree)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(entries)), func(name string) bool {
		return name == readmeFile || name == formatFile || name+"/" == segmentDir
	}), nil
}

// RemotesWithMore lists the remotes that are known to hold something of one's own ledger that is not in it.
func (l *Ledger) RemotesWithMore() ([]string, error) {
	tip, err := l.Tip()
	if err != nil || tip == "" {
		return nil, err
	}
	tracked, err := l.trackedTips()
	if err != nil {
		return nil, err
	}
	var out []string
	for remote, id := range tracked {
		if held, err := l.repo.IsAncestor(id, tip); err != nil {
			return nil, err
		} else if !held {
			out = append(out, remote)
		}
	}
	return out, nil
}

// WhyNotSendable says why nothing can be sent to a remote, as it was last seen: another branch is in the way (a
// BlockedError), or what stands there under the name of one's own ledger can't be taken in (ErrFormat,
// git.ErrMalformed, a BoundsError).
func (l *Ledger) WhyNotSendable(ctx context.Context, remote string) error {
	tracking := l.trackingRef(remote)
	if by := l.repo.ConflictingRef(tracking); by != "" {
		return &BlockedError{
			Ref: l.ref, By: "refs/heads/" + strings.TrimPrefix(by, "refs/remotes/"+remote+"/"),
			Remote: remote,
		}
	}
	tip, err := l.Tip()
	if err != nil {
		return err
	}
	if id := l.lastSeenAt(remote); id != "" {
		if _, err = Since(ctx, l.repo, id, tip); err == nil {
			_, err = l.boundedTip(ctx, id)
		}
	}
	if errors.Is(err, ErrFormat) || errors.Is(err, git.ErrMalformed) || errors.As(err, new(*BoundsError)) {
		return err
	}
	return nil // what is not here says nothing
}
