package recall

import (
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/name"
)

// pathsAsked are the paths of --file and of --path, also by former and later names. The value of --file is a regular
// expression. If it is no valid one, or matches nothing, but matches as a pathspec, it is taken as a pathspec:
// "src/[id]/page", "*.go".
func pathsAsked(ctx context.Context, index *db.DB, repo *git.Repo,
	req Request,
) (out []db.Paths, asPath bool, err error) {
	if req.File != "" {
		p, some, err := fileAsked(ctx, index, repo, req)
		if err != nil || !some {
			spec, specErr := pathsOf(repo, []string{req.File})
			if specErr == nil {
				some, specErr = otherNames(ctx, index, repo, req, &spec)
			}
			if specErr == nil && some {
				p, asPath, err = spec, true, nil
			}
		}
		if err != nil {
			return nil, false, err
		}
		out = append(out, p)
	}
	if len(req.Path) > 0 {
		p, err := pathsOf(repo, req.Path)
		if err == nil {
			_, err = otherNames(ctx, index, repo, req, &p)
		}
		if err != nil {
			return nil, false, err
		}
		out = append(out, p)
	}
	return out, asPath, nil
}

func fileAsked(ctx context.Context, index *db.DB, repo *git.Repo, req Request) (p db.Paths, found bool, err error) {
	// How Go writes a pattern down: the literal in it shows.
	pattern, err := syntax.Parse(req.File, syntax.Perl)
	if err != nil {
		return p, false, name.WrongFilter("file", fmt.Errorf("%q: %w", req.File, err))
	}
	p.Match = pattern.String()
	found, err = otherNames(ctx, index, repo, req, &p)
	return p, found, err
}

// touchingFiles keeps the hits that touched one of the files. If no hit did, it returns all hits and no files. A file
// is a path from the repository's root, a folder, or the end of a path.
func touchingFiles(ctx context.Context, index *db.DB, files []string, hits []Found) ([]Found, []string, error) {
	var names []string
	for _, f := range files {
		if f = strings.Trim(strings.TrimPrefix(f, "./"), "/"); f != "" {
			names = append(names, regexp.QuoteMeta(f))
		}
	}
	if len(names) == 0 || len(hits) == 0 {
		return hits, nil, nil
	}
	ids, err := index.MatchingIDs(ctx, db.Filter{Paths: []db.Paths{{Match: "(^|/)(" + strings.Join(names, "|") +
		")(/|$)"}}, Purged: db.With})
	if err != nil {
		return nil, nil, err
	}
	touched := setOf(ids)
	kept := slices.DeleteFunc(slices.Clone(hits), func(h Found) bool { return !touched[h.ID] })
	if len(kept) == 0 {
		return hits, nil, nil
	}
	return kept, files, nil
}
