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
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/trailer"
)

// Tied is a code commit with the sessions behind it.
type Tied struct {
	Commit   string // an OID, or the beginning of one that is not here
	Sessions []TiedSession
	Talked   []string // IDs of sessions that talked meanwhile, and stand behind nothing
}

// TiedSession stands behind a commit.
type TiedSession struct {
	ID       string
	Kind     session.TieKind
	Evidence string            // of Kind
	Lines    int               // of the commit, that it wrote
	Ties     []attribution.Tie // by which it stands there: to the commit, to what it was before, or to what it was made of
}

// SessionsBehind lists the commits that a revision or range names, the newest first, each with the sessions behind it:
// the strongest tie comes first, and then who wrote most of its lines. It is as --commit of a recall, commit by commit,
// without what is purged.
func SessionsBehind(ctx context.Context, index *db.DB, repo *git.Repo, rev string) ([]Tied, error) {
	all, err := FindRevisions(ctx, index, repo, rev)
	if err != nil {
		return nil, err
	}
	ids, err := index.MatchingIDs(ctx, db.Filter{Commits: all.Commits(), Kind: db.KindSession})
	if err != nil {
		return nil, err
	}
	ties, err := JudgedTies(ctx, index, repo, all, ids)
	if err != nil {
		return nil, err
	}
	talked, err := talkedAt(ctx, index, all)
	if err != nil {
		return nil, err
	}
	out := make([]Tied, len(all))
	for i, a := range all {
		out[i] = Tied{Commit: a.SHAPrefix, Sessions: tiedTo(a, ids, ties)}
		for _, id := range talked[a.SHAPrefix] {
			if !slices.ContainsFunc(out[i].Sessions, func(s TiedSession) bool { return s.ID == id }) {
				out[i].Talked = append(out[i].Talked, id)
			}
		}
	}
	return out, nil
}

// JudgedTies reads the ties of sessions, by session, and judges revisions by them. A line that several sessions claim
// is one's: where the others have no line left, they are not tied by lines.
func JudgedTies(ctx context.Context, index *db.DB, repo *git.Repo, all attribution.Revisions,
	ids []string,
) (map[string][]attribution.Tie, error) {
	ties, err := index.TiesOfSessions(ctx, ids)
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, c := range all.Commits() {
		asked[c.SHA] = true
	}
	claim := map[string]bool{} // commits of which lines are claimed
	for _, of := range ties {
		for _, t := range of {
			if t.Lines > 0 && (asked[t.SHA] || all.IsDirect(t)) {
				claim[t.SHA] = true
			}
		}
	}
	if err := settleLines(ctx, index, repo, slices.Sorted(maps.Keys(claim)), ties); err != nil {
		return nil, err
	}
	all.Judge(slices.Concat(slices.Collect(maps.Values(ties))...))
	return ties, nil
}

// settleLines counts for ties to some commits only the lines that no other session has.
func settleLines(ctx context.Context, index *db.DB, repo *git.Repo, shas []string,
	ties map[string][]attribution.Tie,
) error {
	wrote, err := index.LinesWritten(ctx, shas)
	if err != nil {
		return err
	}
	lineage, err := ReadLineage(ctx, index, repo, nil)
	if err != nil {
		return err
	}
	lines := map[string]map[string]int{}
	for sha, records := range wrote {
		if makers, _ := attribution.CredibleLines(records, lineage.Maker(sha)); len(makers) > 1 {
			lines[sha] = attribution.CountLines(makers)
		}
	}
	for id, of := range ties {
		for i, t := range of {
			if left := lines[t.SHA]; left != nil && t.Lines > 0 {
				ties[id][i].Lines = min(t.Lines, left[id])
			}
		}
	}
	return nil
}

// CountTalked is how many sessions only talked meanwhile, of those that are neither purged nor among some that stand
// behind the commits.
func CountTalked(ctx context.Context, index *db.DB, all attribution.Revisions, behind []string) (int, error) {
	if len(all) == 0 {
		return 0, nil
	}
	talked, err := talkedAt(ctx, index, all)
	had := map[string]bool{}
	for _, ids := range talked {
		for _, id := range ids {
			if !slices.Contains(behind, id) {
				had[id] = true
			}
		}
	}
	return len(had), err
}

// talkedAt are the sessions that are not purged and that talked before commits, by the commits' OIDs.
func talkedAt(ctx context.Context, index *db.DB, all attribution.Revisions) (map[string][]string, error) {
	shas := make([]string, len(all))
	for i, a := range all {
		shas[i] = a.SHAPrefix
	}
	talked, err := index.TalkedAt(ctx, shas)
	if err != nil || len(talked) == 0 {
		return nil, err
	}
	purged, err := db.PurgedIDs(ctx, index)
	for sha := range talked {
		talked[sha] = slices.DeleteFunc(talked[sha], func(id string) bool { return slices.Contains(purged, id) })
	}
	return talked, err
}

func tiedTo(a attribution.Revision, ids []string, ties map[string][]attribution.Tie) (out []TiedSession) {
	for _, id := range ids {
		s := TiedSession{ID: id, Kind: session.TieTalked}
		for _, t := range ties[id] {
			kind, ok := a.TieKind(t)
			if !ok {
				continue
			}
			if kind < s.Kind {
				s.Kind, s.Evidence = kind, t.Evidence
			}
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

// NamedBy are the agents that the message of a commit names: it says so, and nobody checked.
func NamedBy(c git.Commit) (out []result.NamedBy) {
	for _, s := range trailer.InMessage(c.Message) {
		out = append(out, result.NamedBy{Agent: s.Agent, Model: s.Model, Line: s.Line, Session: s.Session})
	}
	return out
}
