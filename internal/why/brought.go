package why

import (
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
)

// File is a file that a commit changed, with the lines that it brought.
type File struct {
	Path   string
	Lines  []int    // as numbered in the file after the commit
	Writer []string // of each line the session that is known to have written it; "" for none
}

// BroughtLines tells who wrote the lines that a commit brought, against its first parent. Only what is known line by line counts: no tie to the commit says it.
// Files whose lines can't be compared (binary, large, one of very many) are left out. It returns ErrNotFound for a commit that is not here.
func BroughtLines(ctx context.Context, index *db.DB, repo *git.Repo, id git.OID, hidden []string) ([]File, error) {
	patches, err := history.Patch(ctx, repo, id)
	if err != nil {
		return nil, err
	}
	var out []File
	var from []source
	for _, p := range patches {
		lines := p.Added()
		if len(lines) == 0 {
			continue
		}
		out = append(out, File{Path: p.Path, Lines: lines, Writer: make([]string, len(lines))})
		s := source{Origin: history.Origin{Commit: id, Path: p.Path}, at: lines}
		for i := range lines {
			s.lines = append(s.lines, i)
		}
		from = append(from, s)
	}
	purged, err := db.PurgedIDs(ctx, index)
	if err != nil {
		return nil, err
	}
	hidden = slices.Concat(purged, hidden)
	finder, err := newClaimFinder(ctx, index, repo, from)
	for i := 0; i < len(from) && err == nil; i++ {
		var claims [][]attribution.Claim
		claims, err = finder.claims(ctx, from[i])
		for line, of := range claims {
			for _, c := range of {
				if c.Exact && !slices.Contains(hidden, c.Session) {
					out[i].Writer[line] = c.Session
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, err
}
