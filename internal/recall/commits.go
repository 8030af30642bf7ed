package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/search"
)

// The ways in which a session may be tied to a commit that is asked for, the best first.
const (
	recorded = iota // at the commit, or at what its author made it of
	inferred
	alleged // at what somebody who did not make the commit says that it was, or became
)

// tied says of hits behind commits where the part begins that was captured at them, and how they are tied to
// those that are asked for. What first ties them to one decides: what is said later says nothing of it. Without a
// query those come first that are recorded.
func tied(ctx context.Context, index *db.DB, hits []found, asked asked, query string) error {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.id
	}
	ties, err := index.Commits(ctx, ids)
	asked.judge(ties)
	for _, rows := range ties {
		asked.own = asked.own || slices.ContainsFunc(rows, func(r db.CommitRow) bool { return strings.HasPrefix(r.SHA, asked.start) && asked.home(r.Email) })
	}
	for i, h := range hits {
		first := map[string]int{}
		for _, r := range ties[h.id] { // the latest first
			tie, ok := asked.tie(r)
			if !ok {
				continue
			}
			first[r.SHA] = tie
			if strings.HasPrefix(r.SHA, asked.start) {
				hits[i].lines = max(hits[i].lines, r.Lines)
			}
			if h.turn == search.First && r.Turn >= 0 {
				hits[i].turn = r.Turn
			}
		}
		hits[i].tie = alleged
		for _, tie := range first {
			hits[i].tie = min(hits[i].tie, tie)
		}
	}
	if query == "" {
		slices.SortStableFunc(hits, func(a, b found) int { return cmp.Compare(a.tie, b.tie) })
	}
	return err
}

// abbreviated is a prefix of a commit's OID as git takes it.
var abbreviated = regexp.MustCompile(`^[0-9a-fA-F]{4,40}$`)

// asked are the commits that a revision stands for.
type asked struct {
	start string                  // an OID, or the beginning of one that is gone
	gone  bool                    // it is not here
	home  func(email string) bool // whether who has an address may speak of it
	ties  map[db.LedgerCommit]int
	own   bool // who made the commit says whose it is
}

// commits lists them.
func (a asked) commits() []db.LedgerCommit {
	if a.ties == nil {
		return nil
	}
	return slices.Collect(maps.Keys(a.ties))
}

// tie tells how a session is tied to what is asked for, by one of its commits.
func (a asked) tie(r db.CommitRow) (tie int, ok bool) {
	tie, ok = a.ties[db.LedgerCommit{SHA: r.SHA}]
	if own, said := a.ties[db.LedgerCommit{Email: r.Email, SHA: r.SHA}]; said && (!ok || own < tie) {
		tie, ok = own, true
	}
	if strings.HasPrefix(r.SHA, a.start) {
		// A checkpoint of somebody else's commit; who wrote its lines has a part in it all the same (a squash merge on a server).
		if tie, ok = recorded, true; !a.home(r.Email) && (a.own || r.Lines == 0) {
			tie = alleged
		}
	}
	if tie == recorded && r.Inferred {
		tie = inferred
	}
	return tie, ok
}

// judge says of a commit that is not here who may speak of it: those whose ledgers tie their own sessions to it,
// where any does.
func (a asked) judge(ties map[string][]db.CommitRow) {
	if !a.gone {
		return
	}
	direct := map[string]bool{}
	for _, rows := range ties {
		for _, r := range rows {
			if strings.HasPrefix(r.SHA, a.start) {
				direct[r.Email] = true
			}
		}
	}
	for c := range a.ties {
		if len(direct) > 0 && c.Email != "" && !direct[c.Email] {
			a.ties[c] = alleged
		}
	}
}

// add adds commits that are tied in a way, unless they are in a better one.
func (a asked) add(tie int, commits ...db.LedgerCommit) {
	for _, c := range commits {
		if was, ok := a.ties[c]; !ok || tie < was {
			a.ties[c] = tie
		}
	}
}

// commits are what a revision stands for: the commit itself, and those that it
// was before and became after an amend or a rebase; and those that it was made of where no
// hook saw it (a squash merge on a server), which is inferred. A SHA whose object is gone
// matches as a prefix.
func commits(ctx context.Context, index *db.DB, repo *git.Repo, rev string) (asked, error) {
	out := asked{start: strings.ToLower(rev), ties: map[db.LedgerCommit]int{}}
	id, err := resolve(repo, rev)
	switch {
	case err == nil:
		out.start = string(id)
	case abbreviated.MatchString(rev) && !errors.Is(err, git.ErrAmbiguous): // gone, or the name of something else
	case errors.Is(err, git.ErrNotFound):
		return out, &UsageError{fmt.Errorf("%q: %w", rev, ErrNoRevision), "commit"}
	default: // a tree, or a prefix of several commits
		return out, &UsageError{fmt.Errorf("%q: %w", rev, err), "commit"}
	}
	_, gone := repo.Commit(id)
	out.gone = gone != nil
	family, err := readLineage(ctx, index, repo, []string{out.start})
	if err != nil {
		return out, err
	}
	out.home = family.home(out.start)
	for _, c := range family.family(out.start) {
		if c.Email == "" || out.home(c.Email) {
			out.add(recorded, c)
		} else {
			out.add(alleged, c)
		}
	}
	if id == "" {
		return out, nil
	}
	parts, _, err := squashed(ctx, index, repo, id)
	if err != nil || len(parts) == 0 {
		return out, err
	}
	family, err = readLineage(ctx, index, repo, parts)
	for _, p := range parts {
		out.add(inferred, family.from(p, family.home(p), family.was, family.is)...)
	}
	return out, err
}

// resolve asks git for a revision. What ":/text" finds is code, and no commit of a ledger, whose
// subject is that of the code commit.
func resolve(repo *git.Repo, rev string) (git.OID, error) {
	if text, ok := strings.CutPrefix(rev, ":/"); ok {
		if id, err := repo.Resolve("HEAD^{/" + text + "}"); err == nil {
			return id, nil
		}
	}
	return repo.Resolve(rev)
}
