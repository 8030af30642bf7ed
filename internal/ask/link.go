package ask

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/forge"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Link makes the stable name of what a word names: a session or memory by the beginning of its ID, a turn of one
// ("ID:8", or a link), a checkpoint, or a code commit, which stands for the last checkpoint of it.
func (m *Moment) Link(ctx context.Context, word string) (result.Link, error) {
	out := result.Link{Schema: result.Schema}
	ref, err := name.ParseID(word)
	if err != nil {
		return out, err
	}
	what, err := m.find(ctx, ref.ID)
	if err != nil {
		return out, err
	}
	var ties []attribution.Tie
	switch out.Kind, out.ID = what.Kind, what.ID; what.Kind {
	case db.KindSession:
		if ties, err = m.tiesOf(ctx, what.ID, ref.Turn); err != nil {
			return out, err
		}
	case result.ShowCommit:
		out.Kind, out.ID = "checkpoint", m.checkpoint(ctx, what.OID)
		ties = []attribution.Tie{{Checkpoint: out.ID}}
	}
	switch {
	case out.ID == "":
		return out, fmt.Errorf("%q is neither a session, nor a memory, nor a checkpoint: %w", word, session.ErrNoID)
	case ref.Turn >= 0 && out.Kind != db.KindSession:
		return out, &name.UsageError{Err: fmt.Errorf("%q: a %s has no turns", word, out.Kind)}
	case ref.Turn >= 0:
		out.Turn = &ref.Turn
	}
	out.Link = session.Ref{ID: out.ID, Turn: ref.Turn}.String()
	out.URL, err = m.pageAddress(ties)
	return out, err
}

// tiesOf are the ties of a session, which must have a turn; -1 for none.
func (m *Moment) tiesOf(ctx context.Context, id string, turn int) ([]attribution.Tie, error) {
	s, err := m.DB.Session(ctx, id)
	if n := s.NextTurn - s.FirstTurn; err == nil && turn >= n {
		err = &name.UsageError{Err: fmt.Errorf("turn %d: the session has %s, 0 to %d", turn, session.CountNoun(n, "turn"), n-1)}
	}
	if err != nil {
		return nil, err
	}
	ties, err := m.TiesOfSessions(ctx, []string{id})
	return ties[id], err
}

// checkpoint is the ledger's commit with an OID, or the last one that captured the code commit with it; "" for none.
func (m *Moment) checkpoint(ctx context.Context, oid string) string {
	if code, err := m.CommitOf(ctx, []string{oid}); err == nil && code != "" {
		return oid
	}
	behind, err := m.TiesOfCommits(ctx, []string{oid})
	if ties := behind[oid]; err == nil && len(ties) > 0 {
		return slices.MaxFunc(ties, func(a, b attribution.Tie) int {
			return a.TS.Compare(b.TS)
		}).Checkpoint
	}
	return ""
}

// pageAddress is the page of the first of these checkpoints that a remote on a known host has; "" for none.
func (m *Moment) pageAddress(ties []attribution.Tie) (string, error) {
	refs, err := m.w.Repo.Refs("refs/remotes/*")
	conf, err2 := m.w.Settings()
	if err = cmp.Or(err, err2); err != nil {
		return "", err
	}
	for _, t := range ties {
		for ref, tip := range refs {
			remote, branch, _ := strings.Cut(strings.TrimPrefix(ref, "refs/remotes/"), "/")
			if all := conf.Git["remote."+remote+".url"]; strings.HasPrefix(branch, "rekal/") && len(all) > 0 {
				in, err := m.w.Repo.IsAncestor(git.OID(t.Checkpoint), tip)
				if page := forge.Of(all[0]).Commit(t.Checkpoint); err == nil && in && page != "" {
					return page, nil
				}
			}
		}
	}
	return "", nil
}
