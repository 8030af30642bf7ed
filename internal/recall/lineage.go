package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
)

// lineage is what amends and rebases made of code commits, as the ledgers say. Each ledger speaks for itself: its
// rewrites lead from what it ties its sessions to, and to nobody else's.
type lineage struct {
	repo    *git.Repo
	was, is ways
	ledgers map[string][]string // commit → addresses of those who say something of it
	asked   map[string]bool     // commits of which all that is said is here
}

// ways lead from a commit to others, in one ledger.
type ways map[db.LedgerCommit][]string

// readLineage reads what leads to and from some commits, or beginnings of commits.
func readLineage(ctx context.Context, index *db.DB, repo *git.Repo, shas []string) (lineage, error) {
	l := lineage{repo: repo, was: ways{}, is: ways{}, ledgers: map[string][]string{}, asked: map[string]bool{}}
	return l, l.extend(ctx, index, shas)
}

// extend reads what leads to and from more commits.
func (l lineage) extend(ctx context.Context, index *db.DB, shas []string) error {
	shas = slices.DeleteFunc(slices.Clone(shas), func(sha string) bool { return l.asked[sha] })
	for _, sha := range shas {
		l.asked[sha] = true
	}
	rewrites, err := index.Rewrites(ctx, shas)
	for _, r := range rewrites {
		if slices.Contains(l.is[db.LedgerCommit{Email: r.Email, SHA: r.Old}], r.New) {
			continue // read before
		}
		l.is.add(r.Email, r.Old, r.New)
		l.was.add(r.Email, r.New, r.Old)
		for _, sha := range []string{r.Old, r.New} {
			if !slices.Contains(l.ledgers[sha], r.Email) {
				l.ledgers[sha] = append(l.ledgers[sha], r.Email)
			}
		}
	}
	return err
}

func (w ways) add(email, from, to string) {
	at := db.LedgerCommit{Email: email, SHA: from}
	w[at] = append(w[at], to)
}

// family lists a commit, for any ledger, and what it was and became, in chains, for the ledgers that say so. A
// commit may be given by its beginning.
func (l lineage) family(sha string) []db.LedgerCommit {
	out := l.from(sha, nil, l.was, l.is)
	if len(sha) < 40 {
		for full := range l.ledgers {
			if strings.HasPrefix(full, sha) {
				out = append(out, l.from(full, nil, l.was, l.is)...)
			}
		}
	}
	return out
}

// from lists a commit, for any ledger, and where ways lead from it, for each ledger that passes; nil passes all.
func (l lineage) from(sha string, passes func(email string) bool, along ...ways) []db.LedgerCommit {
	out := []db.LedgerCommit{{SHA: sha}}
	for _, email := range l.ledgers[sha] {
		if passes == nil || passes(email) {
			out = append(out, reached(db.LedgerCommit{Email: email, SHA: sha}, along)...)
		}
	}
	return out
}

// reached lists where ways of a ledger lead from a commit, which comes first.
func reached(start db.LedgerCommit, along []ways) []db.LedgerCommit {
	out, seen := []db.LedgerCommit{start}, map[string]bool{start.SHA: true}
	for i := 0; i < len(out); i++ {
		for _, w := range along {
			for _, sha := range w[out[i]] {
				if !seen[sha] {
					seen[sha], out = true, append(out, db.LedgerCommit{Email: start.Email, SHA: sha})
				}
			}
		}
	}
	return out
}

// home tells who may say what a commit was before: who made it. Everybody may where it is not here.
func (l lineage) home(sha string) func(email string) bool {
	c, err := l.commit(sha)
	return func(email string) bool { return err != nil || madeBy(c, email) }
}

func (l lineage) commit(sha string) (git.Commit, error) { return l.repo.Commit(git.OID(sha)) }

func madeBy(c git.Commit, email string) bool {
	return strings.EqualFold(email, c.Committer.Email) || strings.EqualFold(email, c.Author.Email)
}

// shasOf lists commits, each once.
func shasOf(commits []db.LedgerCommit) []string {
	var out []string
	for _, c := range commits {
		out = append(out, c.SHA)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
