package history

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/git-rekal/git-rekal/internal/git"
)

// maxSearched is how many commits are looked through for some; beyond it they count as found.
const maxSearched = 2000

// ClockSkew is by how much the clocks of two machines may differ.
const ClockSkew = 24 * time.Hour

// Memory keeps texts by name from one process to the next, or forgets them.
type Memory interface {
	Text(ctx context.Context, name string) []byte
	SetText(ctx context.Context, name string, text []byte)
}

// Unreached are those of some commits to which no tip leads: what was thrown away, or belongs to no code. They must be
// here. Only the newest commits of the history are looked through. What a long walk came by is kept in memory, nil for
// none: as long as the tips stay, nobody walks there again.
func Unreached(ctx context.Context, r *git.Repo, ids []git.OID, memory Memory) (map[git.OID]bool, error) {
	// there may be thousands of branches
	left, all, err := unreachedFrom(ctx, r, r.Heads(), ids, "reached by HEAD", memory)
	if err != nil || !all || len(left) == 0 {
		return nil, err
	}
	tips, err := Tips(r)
	if err != nil {
		return nil, err
	}
	left, all, err = unreachedFrom(ctx, r, tips, slices.Collect(maps.Keys(left)), "reached", memory)
	if !all {
		return nil, err
	}
	return left, err
}

// Unmerged are those of some commits to which a branch or tag leads, but HEAD does not. What takes too
// long to tell is not among them: see Unreached.
func Unmerged(ctx context.Context, r *git.Repo, ids []git.OID, memory Memory) (map[git.OID]bool, error) {
	head, err := r.Head()
	if err != nil || head.OID == "" {
		return nil, err
	}
	out, all, err := unreachedFrom(ctx, r, []git.OID{head.OID}, ids, "reached from here", memory)
	if err != nil || !all || len(out) == 0 {
		return nil, err
	}
	tips, err := Tips(r)
	if err != nil {
		return nil, err
	}
	lost, _, err := unreachedFrom(ctx, r, tips, slices.Collect(maps.Keys(out)), "reached", memory)
	maps.DeleteFunc(out, func(id git.OID, _ bool) bool { return lost[id] })
	return out, err
}

// unreachedFrom are those of some commits that a walk from some tips did not come by; all, if it went far enough to
// tell that no tip leads to them.
func unreachedFrom(ctx context.Context, r *git.Repo, tips, ids []git.OID, name string,
	memory Memory,
) (left map[git.OID]bool, all bool, err error) {
	left = map[git.OID]bool{}
	var oldest time.Time
	for _, id := range ids {
		if c, err := r.Commit(id); err == nil {
			if left[id] = true; oldest.IsZero() || c.Committer.When.Before(oldest) {
				oldest = c.Committer.When
			}
		}
	}
	if len(left) == 0 {
		return nil, true, nil
	}
	before := remember(ctx, memory, name, tips)
	w := before
	if !w.settles(left, oldest) {
		if w, err = walkFrom(ctx, r, tips, left, oldest); err != nil {
			return left, false, ctx.Err() // a gap in the history
		}
		w.keep(ctx, r, memory, name, before)
	}
	return left, !w.Cut, ctx.Err()
}

// walked is what a walk from some tips came by, the newest commits first.
type walked struct {
	_ struct{} `cbor:",toarray"`

	Tips []git.OID
	Keys []uint64 // of each commit, sorted; see keyOf
	Last time.Time
	All  bool // there are no more
	Cut  bool // there are more than are looked through
}

// remember is the walk that is kept of these tips; an empty one for none.
func remember(ctx context.Context, memory Memory, name string, tips []git.OID) (w walked) {
	if memory == nil || cbor.Unmarshal(memory.Text(ctx, name), &w) != nil || !slices.Equal(w.Tips, tips) {
		return walked{}
	}
	return w
}

// keep keeps a walk that cost something and came further than the one before. A shallow clone may be deepened while its
// tips stay.
func (w walked) keep(ctx context.Context, r *git.Repo, memory Memory, name string, before walked) {
	const short = 100
	if cuts, err := r.ShallowCuts(); memory == nil || err != nil || len(cuts) > 0 ||
		len(w.Keys) <= max(short, len(before.Keys)) {
		return
	}
	if text, err := cbor.Marshal(w); err == nil {
		memory.SetText(ctx, name, text)
	}
}

// settles takes the commits that a walk came by out of left, and reports whether a longer one would find no more of
// them.
func (w walked) settles(left map[git.OID]bool, oldest time.Time) bool {
	for id := range left {
		if w.has(id) {
			delete(left, id)
		}
	}
	return len(left) == 0 || w.All || w.Cut || len(w.Keys) > 0 && w.Last.Before(oldest.Add(-ClockSkew))
}

func (w walked) has(id git.OID) bool {
	_, found := slices.BinarySearch(w.Keys, keyOf(id))
	return found
}

// keyOf is the first 8 bytes of a commit's ID.
func keyOf(id git.OID) uint64 {
	key, _ := strconv.ParseUint(string(id[:16]), 16, 64) // it is hexadecimal
	return key
}

// walkFrom walks from tips until all of left are found and taken out, or commits are older than the oldest.
func walkFrom(ctx context.Context, r *git.Repo, tips []git.OID, left map[git.OID]bool,
	oldest time.Time,
) (w walked, err error) {
	w.Tips, w.All = tips, true
	for c, err := range r.Newest(ctx, tips, nil) {
		if err != nil {
			return w, err
		}
		if len(w.Keys) == maxSearched {
			w.All, w.Cut = false, true
			break
		}
		w.Keys, w.Last = append(w.Keys, keyOf(c.OID)), c.Committer.When
		delete(left, c.OID)
		if len(left) == 0 || w.Last.Before(oldest.Add(-ClockSkew)) {
			w.All = false
			break
		}
	}
	slices.Sort(w.Keys)
	return w, nil
}
