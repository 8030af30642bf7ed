package recall

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
)

// Freshness says how far a session is still true of the code: whether what its commits left in
// their files stands there now, or, as of a past moment, in the code commit of its checkpoint.
// It is told of the results that are shown, file by file, and is never a reason to fail.

const (
	maxLeft    = 50  // files of a session that decide on it, those that changed last
	maxLedgers = 200 // commits of the ledger, back from a moment, among which its checkpoint is looked for
)

// worst orders what a session's files say: the first that one of them is, the session is.
var worst = []string{result.StaleDeleted, result.StaleChanged, result.Unknown, result.Fresh} //nolint:gochecknoglobals // a table

// freshness judges sessions by their files.
func freshness(ctx context.Context, index *db.DB, repo *git.Repo, req Request, facets map[string]db.Facet) (map[string]string, error) {
	ids := make([]string, 0, len(facets))
	for id := range facets {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	left, err := index.Left(ctx, ids, maxLeft)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]db.Left, len(ids))
	for _, id := range ids {
		if files[id] = left[id]; len(left[id]) == 0 {
			files[id] = edited(repo, facets[id])
		}
	}
	now, err := standing(ctx, index, repo, req)
	if err != nil {
		return nil, err
	}
	if now != nil {
		defer now.Close()
	}
	states := judge(now, files)
	out := make(map[string]string, len(ids))
	for _, id := range ids {
		out[id] = sum(states[id])
	}
	return out, nil
}

// standing is what the files are compared with; nil where that is not here.
func standing(ctx context.Context, index *db.DB, repo *git.Repo, req Request) (*git.Content, error) {
	commit := git.OID("")
	if req.Checkpoint != "" {
		var err error
		if commit, err = codeOf(ctx, index, repo, req.Tip); err != nil || commit == "" {
			return nil, err
		}
	}
	now, err := repo.Content(commit)
	if err != nil {
		return nil, ctx.Err()
	}
	return now, nil
}

// codeOf is the code commit of the moment whose tables these are: of the newest commit of one's own
// ledger that is a checkpoint, and where there is none, of the last checkpoint of anybody.
func codeOf(ctx context.Context, index *db.DB, repo *git.Repo, tip git.OID) (git.OID, error) {
	var checkpoints []string
	if tip != "" {
		for c, err := range repo.Newest(ctx, []git.OID{tip}) {
			if err != nil || len(checkpoints) == maxLedgers {
				break
			}
			checkpoints = append(checkpoints, string(c.OID))
		}
	}
	sha, err := index.CommitOf(ctx, checkpoints)
	return git.OID(sha), err
}

// edited are the files of a session of which no commit says what became of them: what its tools
// changed, as it stood in the commit that the session is tied to.
func edited(repo *git.Repo, f db.Facet) []db.Left {
	var then *git.Content
	if len(f.Commits) > 0 {
		then, _ = repo.Content(git.OID(f.Commits[0])) // a commit that is not here says nothing
	}
	if then != nil {
		defer then.Close()
	}
	var out []db.Left
	for _, p := range f.Shown {
		if !filepath.IsLocal(p) || strings.HasPrefix(p, "~") {
			continue
		}
		l := db.Left{Path: p}
		if then != nil {
			l.Blob = db.KeyOf(string(then.Blob(p)))
		}
		out = append(out, l)
	}
	return out
}

// judge compares what sessions left with what stands there, by session, file by file.
func judge(now *git.Content, left map[string][]db.Left) map[string][]string {
	var gone []string
	if now != nil {
		for _, files := range left {
			for _, l := range files {
				if l.Blob != 0 && now.Blob(l.Path) == "" {
					gone = append(gone, l.Path)
				}
			}
		}
	}
	var moved map[string]string
	if len(gone) > 0 {
		moved = now.Moved(gone)
	}
	out := make(map[string][]string, len(left))
	for id, files := range left {
		for _, l := range files {
			out[id] = append(out[id], state(now, l, moved[l.Path]))
		}
	}
	return out
}

// state compares one file; moved is where it went, if it did.
func state(now *git.Content, l db.Left, moved string) string {
	if now == nil || l.Blob == 0 && !l.Deleted {
		return result.Unknown
	}
	blob := now.Blob(l.Path)
	switch {
	case l.Deleted && blob == "":
		return result.Fresh
	case l.Deleted:
		return result.StaleChanged
	case blob == "" && moved == "":
		return result.StaleDeleted
	case blob == "":
		blob = now.Blob(moved)
	}
	if db.KeyOf(string(blob)) == l.Blob {
		return result.Fresh
	}
	return result.StaleChanged
}

// sum is what the files of a session say of it.
func sum(states []string) string {
	for _, w := range worst {
		if slices.Contains(states, w) {
			return w
		}
	}
	return result.Unverifiable
}

// freshen says of a session that is shown in full, and of each of its files, how it stands.
func freshen(ctx context.Context, index *db.DB, repo *git.Repo, s *result.Session) error {
	facets, err := index.Facets(ctx, []string{s.ID})
	if err != nil {
		return err
	}
	states, err := freshness(ctx, index, repo, Request{}, facets)
	if err != nil {
		return err
	}
	s.Freshness = cmp.Or(states[s.ID], result.Unverifiable)
	left, err := index.Left(ctx, []string{s.ID}, len(s.Files)+1)
	if err != nil {
		return err
	}
	now, err := standing(ctx, index, repo, Request{})
	if err != nil {
		return err
	}
	if now != nil {
		defer now.Close()
	}
	of := map[string]string{}
	for i, st := range judge(now, left)[s.ID] {
		of[left[s.ID][i].Path] = st
	}
	for i, f := range s.Files {
		s.Files[i].Freshness = cmp.Or(of[f.Path], result.Unknown)
	}
	return nil
}

// weight is what freshness does to a session's place among the results: a quarter of what
// hybrid-recall takes, because that much costs no ranking (docs/search.md).
func weight(freshness string) float64 {
	switch freshness {
	case result.Fresh:
		return 1.015
	case result.StaleChanged:
		return 0.9825
	case result.StaleDeleted:
		return 0.97
	}
	return 1
}

// freshFirst puts results in order. Scores stay what they are: they are the same on every machine
// and as of every moment, and what lies in a working tree is not.
func freshFirst(hits []result.Hit) {
	slices.SortStableFunc(hits, func(a, b result.Hit) int {
		return cmp.Compare(b.Score*weight(b.Freshness), a.Score*weight(a.Freshness))
	})
}
