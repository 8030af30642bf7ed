package ask

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/forge"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Link makes the stable name of what a text names: a session or memory by the beginning of its ID, a turn of one ("ID:8", or a link), a checkpoint,
// or a code commit, which stands for the last checkpoint of it. urls are those of a remote.
func (m *Moment) Link(ctx context.Context, text string, urls func(remote string) []string) (result.Link, error) {
	ref := session.RefIn(text)
	if id, turn, ok := strings.Cut(ref.ID, ":"); ok {
		n, err := strconv.Atoi(turn)
		if err != nil || n < 0 {
			return result.Link{}, &recall.UsageError{Err: fmt.Errorf("%q: the turn is a number from 0 on", text)}
		}
		ref = session.Ref{ID: id, Turn: n}
	}
	out := result.Link{Schema: result.Schema, Kind: db.KindSession}
	s, memory, err := m.Item(ctx, recall.Page{ID: ref.ID, Limit: 1})
	var at []attribution.Tie
	switch {
	case err != nil:
		sha, known := m.checkpoint(ctx, ref.ID)
		if !known {
			return out, err
		}
		ref.ID, out.Kind = sha, "checkpoint"
		at = []attribution.Tie{{Checkpoint: sha}}
	case memory != nil:
		ref.ID, out.Kind = memory.ID, db.KindMemory
	case ref.Turn >= s.Turns:
		return out, &recall.UsageError{Err: fmt.Errorf("%q: the session has %s, 0 to %d", text, session.Count(s.Turns, "turn"), s.Turns-1)}
	default:
		ref.ID = s.ID
		ties, err := m.Commits(ctx, []string{s.ID})
		if err != nil {
			return out, err
		}
		at = ties[s.ID]
	}
	if ref.Turn >= 0 && out.Kind != db.KindSession {
		return out, &recall.UsageError{Err: fmt.Errorf("%q: a %s has no turns", text, out.Kind)}
	}
	out.Link, out.ID = ref.String(), ref.ID
	if ref.Turn >= 0 {
		out.Turn = &ref.Turn
	}
	out.URL, err = m.address(at, urls)
	return out, err
}

// checkpoint is the ledger's commit that a text names, or the last one that captured the code commit that it names.
func (m *Moment) checkpoint(ctx context.Context, text string) (sha string, ok bool) {
	id, err := m.w.Repo.Resolve(text)
	if err != nil {
		return "", false
	}
	if code, err := m.CommitOf(ctx, []string{string(id)}); err == nil && code != "" {
		return string(id), true
	}
	behind, err := m.Behind(ctx, []string{string(id)})
	ties := behind[string(id)]
	if err != nil || len(ties) == 0 {
		return "", false
	}
	return slices.MaxFunc(ties, func(a, b attribution.Tie) int { return cmp.Compare(a.TS.UnixNano(), b.TS.UnixNano()) }).Checkpoint, true
}

// address is the page of the first of these checkpoints that a remote on a known host has; "" for none.
func (m *Moment) address(ties []attribution.Tie, urls func(remote string) []string) (string, error) {
	refs, err := m.w.Repo.Refs("refs/remotes/*")
	if err != nil {
		return "", err
	}
	for _, t := range ties {
		for ref, tip := range refs {
			remote, branch, _ := strings.Cut(strings.TrimPrefix(ref, "refs/remotes/"), "/")
			if all := urls(remote); strings.HasPrefix(branch, "rekal/") && len(all) > 0 {
				in, err := m.w.Repo.IsAncestor(git.OID(t.Checkpoint), tip)
				if page := forge.Of(all[0]).Commit(t.Checkpoint); err == nil && in && page != "" {
					return page, nil
				}
			}
		}
	}
	return "", nil
}
