package history

import (
	"context"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
)

// RevertOf matches what `git revert` writes into a message.
var RevertOf = lazy.Expr(`(?m)^This reverts commit ([0-9a-f]{40,64})[^\n]*`)

// maxForReverts is how many commits are read for reverts at once.
const maxForReverts = 3000

// Revert is a commit that took another one back.
type Revert struct {
	_ struct{} `cbor:",toarray"`

	By     git.OID
	Reason string // what its message says besides, on one line; "" for nothing
}

// reverts are those that lead to a commit.
type reverts struct {
	_ struct{} `cbor:",toarray"`

	Tip git.OID
	Of  map[git.OID]Revert
}

// Reverted are the commits that a later one of the current branch took back, and that nothing brought back since. What
// was read is kept in memory, nil for none, so that the next call reads only what is new.
func Reverted(ctx context.Context, r *git.Repo, memory Memory) (map[git.OID]Revert, error) {
	at, err := r.Head()
	head := at.OID
	if err != nil || head == "" { // there is no commit
		return nil, ctx.Err()
	}
	const name = "reverted"
	known, hide := reverts{}, []git.OID(nil)
	if memory != nil && cbor.Unmarshal(memory.Text(ctx, name), &known) == nil && known.Tip != "" {
		if known.Tip == head {
			return known.Of, nil
		}
		if ok, err := r.IsAncestor(known.Tip, head); err == nil && ok {
			hide = []git.OID{known.Tip}
		}
	}
	now := reverts{Tip: head, Of: map[git.OID]Revert{}}
	n := 0
	for c, err := range r.Newest(ctx, []git.OID{head}, hide) {
		if err != nil || n == maxForReverts {
			break
		}
		n++
		// one that was taken back itself took nothing back
		if m := RevertOf.FindStringSubmatch(c.Message); m != nil && now.Of[c.OID].By == "" {
			now.Of[git.OID(m[1])] = Revert{By: c.OID, Reason: reasonOf(c)}
		}
	}
	if hide != nil {
		for id, by := range known.Of {
			if _, undone := now.Of[by.By]; !undone && now.Of[id].By == "" {
				now.Of[id] = by
			}
		}
	}
	if text, err := cbor.Marshal(now); err == nil && memory != nil && ctx.Err() == nil {
		memory.SetText(ctx, name, text)
	}
	return now.Of, ctx.Err()
}

// reasonOf is what the message of a revert says besides which commit it takes back.
func reasonOf(c git.Commit) string {
	_, body, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	body = RevertOf.ReplaceAllString(body, "")
	said, _, _ := strings.Cut(strings.TrimSpace(body), "\n\n")
	if strings.Contains(said, ": ") && !strings.Contains(said, " ") { // a trailer
		return ""
	}
	return strings.Join(strings.Fields(said), " ")
}
