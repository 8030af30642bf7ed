package recall

import (
	"cmp"
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Freshness says how far a session is still true of the code: whether the files that its commits left stand there now.
// As of a past moment, the files are those of its checkpoint's code commit. That is the newest commit of one's own
// ledger, back from the moment, that is a checkpoint. In a folder, and before one's own first commit, it is the last
// checkpoint of anybody. Freshness is told of the results that are shown, file by file, and is never a reason to fail.
// What sessions left in their files stands in their facets, so a recall asks the tables nothing more.
//
// A session's own rename does not make it stale: files of a session that are one file today say what the latest says.
// What an amend or a rebase made of a commit does not count as what the session left, except where the session went on
// behind the new commit. To take the new commit instead would be easier and wrong: an amend by hand brings what
// somebody else wrote, and a rebase what others did to the same files. The session saw neither.

// What a session left in a commit that HEAD does not hold, but another branch does, is neither gone nor changed here:
// it never came here. That is unknown, with the branch.

// maxLedgers is how many commits of the ledger, back from a moment, are looked at for its checkpoint.
const maxLedgers = 200

// severity orders what a session's files say: the first that one of them is, the session is.
//
//nolint:gochecknoglobals // a table
var severity = []string{result.StaleDeleted, result.StaleChanged, result.Unknown, result.Fresh}

// freshnessOf compares the files of sessions that are shown, and tells which are no longer as they were left.
func freshnessOf(ctx context.Context, index *db.DB, repo *git.Repo, req Request,
	facets map[string]db.Facet,
) (out map[string]string, stale map[string][]result.File, err error) {
	now, err := contentAsOf(ctx, index, repo, req)
	if err != nil {
		return nil, nil, err
	}
	defer now.Close()
	left := map[string][]db.Left{}
	for id, f := range facets {
		if left[id] = f.Left; len(f.Left) == 0 {
			left[id] = uncommittedFiles(repo, f)
		}
	}
	states := compareFiles(now, left)
	out, stale = make(map[string]string, len(facets)), map[string][]result.File{}
	for id, f := range facets {
		files, err := filesOf(ctx, index, repo, req, f.Commits, left[id], states[id])
		if err != nil {
			return nil, nil, err
		}
		for _, one := range files {
			if isStale(one.Freshness) || one.Branch != "" {
				stale[id] = append(stale[id], one)
			}
		}
		out[id] = worstOf(files)
		if out[id] == result.Fresh && len(f.Left) == db.LeftFiles && f.Files > db.LeftFiles {
			out[id] = result.Unknown // nobody looked at the rest
		}
	}
	return out, stale, nil
}

func isStale(freshness string) bool {
	return freshness == result.StaleChanged || freshness == result.StaleDeleted
}

// filesOf are files that commits left, with how they stand. Those that are not as they were left, because the commit
// that left them is in another branch alone, name that branch.
func filesOf(ctx context.Context, index *db.DB, repo *git.Repo, req Request, shas []string, left []db.Left,
	states []string,
) ([]result.File, error) {
	out := make([]result.File, len(left))
	for i, l := range left {
		out[i] = result.File{Path: l.Path, Freshness: states[i]}
	}
	if req.Checkpoint != "" || !slices.ContainsFunc(states, isStale) {
		return out, nil
	}
	elsewhere, err := unmergedCommits(ctx, index, repo, req, shas)
	for _, c := range elsewhere {
		branch := sync.OnceValue(func() string { return history.BranchWith(ctx, repo, c.OID) })
		for i := range out {
			if isStale(out[i].Freshness) && changedFile(repo, c, out[i].Path) {
				out[i].Freshness, out[i].Branch = result.Unknown, branch()
			}
		}
	}
	return out, err
}

// unmergedCommits are those of some commits, and of what rewrites made of them, that another branch has, but not HEAD.
func unmergedCommits(ctx context.Context, index *db.DB, repo *git.Repo, req Request,
	shas []string,
) (out []git.Commit, err error) {
	became, err := index.BecameAtLast(ctx, shas)
	if err != nil {
		return nil, err
	}
	var ids []git.OID
	for _, sha := range slices.AppendSeq(slices.Clone(shas), maps.Values(became)) {
		ids = append(ids, git.OID(sha))
	}
	elsewhere, err := history.Unmerged(ctx, repo, ids, req.History)
	for _, id := range ids {
		if c, failed := repo.Commit(id); failed == nil && elsewhere[id] {
			out = append(out, c)
		}
	}
	return out, err
}

// changedFile reports whether a commit changed a file.
func changedFile(repo *git.Repo, c git.Commit, path string) bool {
	before := git.OID("")
	if len(c.Parents) > 0 {
		parent, err := repo.Commit(c.Parents[0])
		if err != nil {
			return false
		}
		before = repo.EntryAt(parent.Tree, path).ID()
	}
	return repo.EntryAt(c.Tree, path).ID() != before
}

// staleInPassage are those that a passage names, or that the agent read or changed just behind it: most sessions left
// some file that changed since, which says little of most passages.
func staleInPassage(ctx context.Context, index *db.DB, h result.Hit,
	stale []result.File,
) (out []result.File, err error) {
	if len(stale) == 0 || h.Turn == nil {
		return nil, nil
	}
	calls, err := index.Tools(ctx, h.ID, *h.Turn, *h.Turn)
	for _, f := range stale {
		if strings.Contains(h.Snippet, path.Base(f.Path)) ||
			slices.ContainsFunc(calls, func(c session.ToolCall) bool { return c.Path == f.Path }) {
			out = append(out, f)
		}
	}
	return out, err
}

// currentBlob is what stands in a file, in which a session left something.
func currentBlob(now *worktree.Content, path string, l db.Left) git.OID {
	return now.Blob(path, func(id git.OID) bool { return db.KeyOf(string(id)) == l.Blob })
}

// contentAsOf is what the files are compared with; nil where that is not here.
func contentAsOf(ctx context.Context, index *db.DB, repo *git.Repo, req Request) (*worktree.Content, error) {
	commit := git.OID("")
	if req.Checkpoint != "" {
		var err error
		if commit, err = CodeOf(ctx, index, repo, req.Tip); err != nil || commit == "" {
			return nil, err
		}
	}
	now, err := worktree.Open(repo, commit)
	if err != nil {
		return nil, ctx.Err()
	}
	return now, nil
}

// CodeOf is the code commit of the moment whose tables these are: of the newest commit of one's own
// ledger that is a checkpoint, and where there is none, of the last checkpoint of anybody.
func CodeOf(ctx context.Context, index *db.DB, repo *git.Repo, tip git.OID) (git.OID, error) {
	var checkpoints []string
	if tip != "" {
		for c, err := range repo.Newest(ctx, []git.OID{tip}, nil) {
			if err != nil || len(checkpoints) == maxLedgers {
				break
			}
			checkpoints = append(checkpoints, string(c.OID))
		}
		if len(checkpoints) == 0 {
			return "", nil
		}
	}
	sha, err := index.CommitOf(ctx, checkpoints)
	return git.OID(sha), err
}

// uncommittedFiles are the files of a session of which no commit says what became of them: what its tools
// changed, as it stood in the commit that the session is tied to.
func uncommittedFiles(repo *git.Repo, f db.Facet) []db.Left {
	var out []db.Left
	for _, p := range f.Shown {
		if filepath.IsLocal(p) && !strings.HasPrefix(p, "~") {
			out = append(out, db.Left{Path: p})
		}
	}
	if len(f.Commits) == 0 {
		return out
	}
	for i, l := range out {
		blob, _ := repo.FileAt(git.OID(f.Commits[0]), l.Path) // what is not here says nothing
		out[i].Blob = db.KeyOf(string(blob))
	}
	return out
}

// compareFiles compares what sessions left with what stands there, by session, file by file.
func compareFiles(now *worktree.Content, left map[string][]db.Left) map[string][]string {
	moved := map[string]string{}
	if now != nil {
		var gone []string
		for _, files := range left {
			for _, l := range files {
				now.ExpectFiles(l.Path)
			}
		}
		for _, id := range slices.Backward(slices.Sorted(maps.Keys(left))) { // the latest: so much is read, and no more
			for _, l := range left[id] {
				if l.Blob != 0 && l.Blob != db.LeftNothing && currentBlob(now, l.Path, l) == "" {
					gone = append(gone, l.Path)
				}
			}
		}
		if len(gone) > 0 {
			moved = now.NewNames(gone)
		}
	}
	out := make(map[string][]string, len(left))
	for id, files := range left {
		later := map[string]string{} // by where a file is now: what a session left since, which may have moved it itself
		for _, l := range files {    // the latest first
			to := moved[l.Path]
			if l.Blob == db.LeftNothing { // what went there is another file
				to = ""
			}
			is, ok := later[to]
			if !ok {
				is = fileFreshness(now, l, to)
			}
			if l.Blob != db.LeftNothing {
				later[cmp.Or(to, l.Path)] = is
			}
			out[id] = append(out[id], is)
		}
	}
	return out
}

// fileFreshness compares one file with what the session left in it; moved is its new path, "" if it was not renamed.
func fileFreshness(now *worktree.Content, l db.Left, moved string) string {
	if now == nil || l.Blob == 0 {
		return result.Unknown
	}
	path, stands := l.Path, currentBlob(now, l.Path, l)
	if stands == "" && moved != "" {
		path, stands = moved, currentBlob(now, moved, l)
	}
	switch {
	case stands == worktree.Unread:
		return result.Unknown
	case stands == "" && l.Blob == db.LeftNothing, stands != "" && db.KeyOf(string(stands)) == l.Blob:
		return result.Fresh
	case stands == "" && strings.ContainsRune(l.Path, utf8.RuneError): // its name can't be written down
		return result.Unknown
	case stands == "":
		return result.StaleDeleted
	case db.KeyOf(string(now.SHA1Blob(path))) == l.Blob:
		return result.Fresh
	}
	return result.StaleChanged
}

// worstOf is what the files of a session say of it.
func worstOf(files []result.File) string {
	for _, w := range severity {
		if slices.ContainsFunc(files, func(f result.File) bool { return f.Freshness == w }) {
			return w
		}
	}
	return result.Unverifiable
}

// addFreshness says of a session that is shown in full, and of each of its files, how it stands.
func addFreshness(ctx context.Context, index *db.DB, repo *git.Repo, req Request, out *result.Session,
	files []db.SessionFile,
) error {
	if len(files) == 0 { // what its tools changed
		facets, err := index.Facets(ctx, []string{out.ID})
		if err != nil {
			return err
		}
		states, _, err := freshnessOf(ctx, index, repo, req, facets)
		out.Freshness = cmp.Or(states[out.ID], result.Unverifiable)
		return err
	}
	now, err := contentAsOf(ctx, index, repo, req)
	if err != nil {
		return err
	}
	defer now.Close()
	var left []db.Left
	var shas []string
	last := map[string]int{} // by path, the file of the latest commit, which comes first
	for _, f := range files {
		shas = append(shas, f.SHA)
		if _, ok := last[f.Path]; !ok {
			last[f.Path] = len(last)
			left = append(left, f.Left)
		}
	}
	states := compareFiles(now, map[string][]db.Left{out.ID: left})[out.ID]
	of, err := filesOf(ctx, index, repo, req, slices.Compact(shas), left, states)
	if err != nil {
		return err
	}
	out.Freshness, out.FilesTotal = worstOf(of), len(last) // a result looks at some of them
	for _, f := range files[:min(len(files), shownFiles)] {
		out.Files = append(out.Files, result.File{
			Path: f.Path, Change: f.Change, Commit: result.ShortOID(f.SHA),
			Freshness: of[last[f.Path]].Freshness, Branch: of[last[f.Path]].Branch,
		})
	}
	return nil
}

// freshFirst orders results of equal score: sessions whose files are still as the sessions left them come first.
func freshFirst(hits []result.Hit) {
	rank := []string{result.Fresh, result.Unverifiable, result.Unknown, result.StaleChanged, result.StaleDeleted}
	slices.SortStableFunc(hits, func(a, b result.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(slices.Index(rank, a.Freshness),
			slices.Index(rank, b.Freshness)))
	})
}
