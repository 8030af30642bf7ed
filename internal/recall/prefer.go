package recall

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
)

// preferring keeps of what was found what touched one of the files; all of it, and no files, where
// nothing did. A file is a path from the repository's root, a folder, or the end of a path.
func preferring(ctx context.Context, index *db.DB, files []string, hits []found) ([]found, []string, error) {
	var names []string
	for _, f := range files {
		if f = strings.Trim(strings.TrimPrefix(f, "./"), "/"); f != "" {
			names = append(names, regexp.QuoteMeta(f))
		}
	}
	if len(names) == 0 || len(hits) == 0 {
		return hits, nil, nil
	}
	ids, err := index.Matching(ctx, db.Filter{Paths: []db.Paths{{Match: "(^|/)(" + strings.Join(names, "|") + ")(/|$)"}}, Purged: db.With})
	if err != nil {
		return nil, nil, err
	}
	touched := setOf(ids)
	kept := slices.DeleteFunc(slices.Clone(hits), func(h found) bool { return !touched[h.id] })
	if len(kept) == 0 {
		return hits, nil, nil
	}
	return kept, files, nil
}
