package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
)

// Automated sessions whose titles begin with the same words are one row of a list from some number on: a pipeline asked
// for them, not a person.
const (
	alikeLeast = 20
	alikeWords = 5
)

// beginningsAlike are the words with which automated sessions begin as many others do, by ID.
func beginningsAlike(ctx context.Context, index *db.DB) (map[string]string, error) {
	titles, err := index.AutomatedTitles(ctx)
	count := map[string]int{}
	for id, title := range titles {
		words := strings.Fields(strings.ToLower(title))
		if len(words) < alikeWords {
			delete(titles, id)
			continue
		}
		titles[id] = strings.Join(words[:alikeWords], " ")
		count[titles[id]]++
	}
	for id, beginning := range titles {
		if count[beginning] < alikeLeast {
			delete(titles, id)
		}
	}
	return titles, err
}

// foldAlike leaves of hits that begin alike the first of each kind, which counts the others.
func foldAlike(ctx context.Context, index *db.DB, hits []Found) ([]Found, error) {
	if len(hits) < 2 {
		return hits, nil
	}
	beginnings, err := beginningsAlike(ctx, index)
	if err != nil || len(beginnings) == 0 {
		return hits, err
	}
	first, out := map[string]int{}, make([]Found, 0, len(hits))
	for _, h := range hits {
		beginning := beginnings[h.ID]
		if at, had := first[beginning]; had && beginning != "" {
			out[at].alike++
			continue
		}
		first[beginning], out = len(out), append(out, h)
	}
	return slices.Clip(out), nil
}
