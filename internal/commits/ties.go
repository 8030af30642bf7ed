package commits

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Tied is a code commit with the sessions behind it.
type Tied struct {
	Commit   string // an OID, or the beginning of one that is not here
	Sessions []TiedSession
}

// TiedSession stands behind a commit.
type TiedSession struct {
	ID    string
	Kind  session.TieKind
	Lines int               // of the commit, that it wrote
	Ties  []attribution.Tie // by which it stands there: to the commit, to what it was before, or to what it was made of
}

// SessionsBehind lists the commits that a revision or range names, the newest first, each with the sessions behind it: the strongest tie comes first, and then who
// wrote most of its lines. It is as --commit of a recall, commit by commit, without what is purged.
func SessionsBehind(ctx context.Context, index *db.DB, repo *git.Repo, rev string) ([]Tied, error) {
	all, err := FindRevisions(ctx, index, repo, rev)
	if err != nil {
		return nil, err
	}
	ids, err := index.MatchingIDs(ctx, db.Filter{Commits: all.Commits(), Kind: db.KindSession})
	if err != nil {
		return nil, err
	}
	ties, err := index.TiesOfSessions(ctx, ids)
	if err != nil {
		return nil, err
	}
	all.Judge(slices.Concat(slices.Collect(maps.Values(ties))...))
	out := make([]Tied, len(all))
	for i, a := range all {
		out[i] = Tied{Commit: a.SHAPrefix, Sessions: tiedTo(a, ids, ties)}
	}
	return out, nil
}

func tiedTo(a attribution.Revision, ids []string, ties map[string][]attribution.Tie) (out []TiedSession) {
	for _, id := range ids {
		s := TiedSession{ID: id, Kind: attribution.Alleged}
		for _, t := range ties[id] {
			kind, ok := a.TieKind(t)
			if !ok {
				continue
			}
			s.Kind = min(s.Kind, kind)
			s.Ties = append(s.Ties, t)
			s.Lines = max(s.Lines, t.Lines)
		}
		if len(s.Ties) > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(x, y TiedSession) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(y.Lines, x.Lines), strings.Compare(x.ID, y.ID))
	})
	return out
}
