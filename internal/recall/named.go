package recall

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/search"
)

// shaWord is what may be a commit among the words of a question: as much as git shows of one, or
// more.
var shaWord = lazy.Expr(`\b[0-9a-fA-F]{7,64}\b`)

// maxNamed is how many commits a question names.
const maxNamed = 100

// idWord is what may be the ID of a session or memory, or one that an agent gave, among the words of a question.
var idWord = lazy.Expr(`(?i)\b(?:0[0-9a-z]{7,25}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b`)

// sessionsNamed are the sessions whose ID is in a question, and those that stand behind a commit whose SHA is in it, or
// what that commit was before and became after an amend or a rebase. It also returns the words that are IDs.
func sessionsNamed(ctx context.Context, index *db.DB, repo *git.Repo,
	question string,
) (map[string]bool, []string, error) {
	out, known, err := namedByID(ctx, index, question)
	if err != nil {
		return nil, nil, err
	}
	words := shaWord.FindAllString(strings.ToLower(question), maxNamed)
	if len(words) == 0 {
		return out, known, nil
	}
	for i, sha := range words {
		if id, err := repo.Resolve(sha); err == nil {
			words[i] = string(id)
		} // what git does not know may still be the beginning of a commit that is gone
	}
	family, err := commits.FamilyOf(ctx, index, repo, words)
	if err != nil {
		return nil, nil, err
	}
	ids, err := index.MatchingIDs(ctx, db.Filter{Commits: family})
	maps.Copy(out, setOf(ids))
	return out, known, err
}

// wordsBesideIDs are the words that are more than a piece of an ID in the question that something has.
func wordsBesideIDs(words []string, question string, ids []string) []string {
	question = strings.ToLower(question)
	pieces := strings.ToLower(strings.Join(ids, " "))
	for id := range strings.FieldsSeq(pieces) {
		question = strings.ReplaceAll(question, id, " ")
	}
	return slices.DeleteFunc(words, func(w string) bool {
		return strings.Contains(pieces, w) &&
			!strings.Contains(question, w)
	})
}

// namedByID also returns the words that are IDs.
func namedByID(ctx context.Context, index *db.DB, question string) (map[string]bool, []string, error) {
	out := map[string]bool{}
	words := idWord.FindAllString(question, maxNamed)
	if len(words) == 0 {
		return out, nil, nil
	}
	names, err := index.Names(ctx, words...)
	var known []string
	for _, w := range words {
		if id, err := names.CompleteID(w); err == nil {
			out[id], known = true, append(known, w)
		}
	}
	return out, known, err
}

// matchedCalls is the text of the tool calls that earned a hit its rank, by session: their paths, or
// their commands.
func matchedCalls(ctx context.Context, index *db.DB, hits []Found) (map[string]string, error) {
	paths := make(map[string]bool) // by session: paths, not commands
	var ids []string
	for _, h := range hits {
		if h.passage == search.MatchedFiles || h.passage == search.MatchedCommand {
			paths[h.ID] = h.passage == search.MatchedFiles
			ids = append(ids, h.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := index.CallTexts(ctx, ids)
	out := make(map[string]string, len(all))
	for id, c := range all {
		if out[id] = strings.Join(c.Commands, "\n"); paths[id] {
			out[id] = strings.Join(c.Paths, "\n")
		}
	}
	return out, err
}
