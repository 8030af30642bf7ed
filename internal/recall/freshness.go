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
// it never came here. That is unknown, with the branch. What came here by another commit is told as ever.

// maxLedgers is how many commits of the ledger, back from a moment, are looked at for its checkpoint.
const maxLedgers = 200

// maxSince is how many commits of HEAD are looked through for what came there from another branch.
const maxSince = 1000

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
	ids, err := withRewrites(ctx, index, shas)
	if err != nil {
		return nil, err
	}
	elsewhere, err := unmergedOf(ctx, repo, req, ids)
	if err != nil || len(elsewhere) == 0 {
		return out, err
	}
	var there []db.Left
	for i, l := range left {
		if isStale(states[i]) &&
			slices.ContainsFunc(elsewhere, func(c git.Commit) bool { return changedFile(repo, c, l.Path) }) {
			there = append(there, l)
		}
	}
	came := cameHere(ctx, repo, ids, elsewhere, there)
	for _, c := range elsewhere {
		branch := sync.OnceValue(func() string { return history.BranchWith(ctx, repo, c.OID) })
		for i := range out {
			if isStale(out[i].Freshness) && !came[out[i].Path] && changedFile(repo, c, out[i].Path) {
				out[i].Freshness, out[i].Branch = result.Unknown, branch()
			}
		}
	}
	return out, nil
}

// withRewrites are some commits, and what rewrites made of them.
func withRewrites(ctx context.Context, index *db.DB, shas []string) (ids []git.OID, err error) {
	became, err := index.BecameAtLast(ctx, shas)
	for _, sha := range slices.AppendSeq(slices.Clone(shas), maps.Values(became)) {
		ids = append(ids, git.OID(sha))
	}
	return ids, err
}

// unmergedOf are those of some commits that another branch has, but not HEAD.
func unmergedOf(ctx context.Context, repo *git.Repo, req Request, ids []git.OID) (out []git.Commit, err error) {
	elsewhere, err := history.Unmerged(ctx, repo, ids, req.History)
	for _, id := range ids {
		if c, failed := repo.Commit(id); failed == nil && elsewhere[id] {
			out = append(out, c)
		}
	}
	return out, err
}

// cameHere are those files that came to HEAD all the same: since it parted from the commits that are elsewhere, another
// commit of the session changed them, or they held what it left, as after a squash or a cherry-pick. A file that the
// session made elsewhere came too, whatever it held: a squash may have taken what others did to it as well.
func cameHere(ctx context.Context, repo *git.Repo, ids []git.OID, elsewhere []git.Commit,
	left []db.Left,
) map[string]bool {
	var hide []git.OID
	made, since := map[string]bool{}, elsewhere[0].Author.When
	for _, c := range elsewhere {
		if hide = append(hide, c.OID); c.Author.When.Before(since) {
			since = c.Author.When
		}
		for _, l := range left {
			made[l.Path] = made[l.Path] || changedFile(repo, c, l.Path) && blobBefore(repo, c, l.Path) == ""
		}
	}
	came, n := map[string]bool{}, 0
	head, _ := repo.Head() // elsewhere is where HEAD does not lead
	for c, err := range repo.Newest(ctx, []git.OID{head.OID}, hide) {
		if n++; len(left) == 0 || err != nil || n > maxSince || c.Committer.When.Before(since.Add(-history.ClockSkew)) {
			break // what is further back says nothing
		}
		own := slices.Contains(ids, c.OID)
		left = slices.DeleteFunc(left, func(l db.Left) bool {
			blob := repo.EntryAt(c.Tree, l.Path).ID()
			came[l.Path] = blob != "" && (made[l.Path] || db.KeyOf(string(blob)) == l.Blob) ||
				blob == "" && l.Blob == db.LeftNothing || own && changedFile(repo, c, l.Path)
			return came[l.Path]
		})
	}
	return came
}

// changedFile reports whether a commit changed a file.
func changedFile(repo *git.Repo, c git.Commit, path string) bool {
	if len(c.Parents) > 0 {
		if _, err := repo.Commit(c.Parents[0]); err != nil {
			return false
		}
	}
	return repo.EntryAt(c.Tree, path).ID() != blobBefore(repo, c, path)
}

// blobBefore is what stood in a file before a commit; "" for nothing.
func blobBefore(repo *git.Repo, c git.Commit, path string) git.OID {
	if len(c.Parents) == 0 {
		return ""
	}
	before, _ := repo.FileAt(c.Parents[0], path) // what is not here says nothing
	return before
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
