package recall

import (
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
)

// ledTo is the commit that came of what was said at a time: of those of its session that this clone has, the first that
// was written then or later, else the last one, because an agent that commits says so afterwards. It is nil where none
// is known: of many commits, a facet has the latest.
func ledTo(repo *git.Repo, became map[attribution.Commit]string, f db.Facet, left func(git.OID) bool,
	at time.Time,
) *result.Origin {
	if at.IsZero() {
		return nil
	}
	var found *git.Commit
	isOldest := false
	for i, sha := range f.Commits { // the latest first
		id := git.OID(latestForm(became, f, sha))
		if left(id) {
			continue
		}
		c, err := repo.Commit(id)
		if err != nil || found != nil && c.Author.When.Before(at.Truncate(time.Second)) {
			break
		}
		found, isOldest = &c, i == db.ShownCommits-1
	}
	if found == nil || isOldest && found.Author.When.After(at) { // one before it may be nearer
		return nil
	}
	return &result.Origin{
		Commit: result.ShortOID(string(found.OID)), Subject: found.Subject(),
		TS: result.Time(found.Author.When),
	}
}
