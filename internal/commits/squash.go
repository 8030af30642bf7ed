package commits

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
)

// A commit that was made on a server (a squash merge, a rebase merge, a cherry-pick) ran no hook. What it was made of
// is found among the code commits of all ledgers, by their patch-ids and the blobs that they left in their files
// (code_commits and code_files in the index), and by the objects that are here. Nothing of this is stored. A session
// that only this finds is inferred.
//
// Candidates are code commits of ledgers that share a file with the commit, are not reachable from its parent, do not
// contain it, and are not later:
//
// 1. The same patch-id: the commit is a copy of these and of nothing else. Otherwise:  2. The same blob in a file. It
// did not stand there before (a revert brings back what did), stands in no other branch of the ledgers (a lock file or
// a licence does), and is not empty.  3. The lines: two thirds of those that it added are among those that the commit
// brought into the same files; of such commits of its branch together at least three lines, or all that the commit
// brought. Only where its objects are here.  4. What leads there: ancestors of commits matched so far. Where the
// objects are gone, earlier commits of the same author on a branch of that name, until two weeks before, or until one
// that had come into the history by itself. This does not hold for a commit whose author's time is not its committer's:
// that is a copy of one commit.  5. The same change-id and author: Jujutsu, whose rewrites run no hook, made the one of
// the other. Only where its objects are here.
//
// By 2 to 4, three quarters of a commit's files must be in the commit in question, unless 4 goes by ancestry or by a
// blob as in 2.

// Bounds of the search, because a reader waits for it.
const (
	maxChanges     = 2000 // files of a commit; a larger one is an import, not a merge
	maxKnown       = 300  // candidates
	maxByFileNames = 100  // of them, those that share only the name of a file, not its content
	maxRead        = 50   // of them, those whose lines are compared
	maxBecame      = 50   // commits that one of them became, one after another
	maxPaths       = 64   // files whose history is read
	maxSteps       = 20_000
	maxLines       = 1 << 20 // bytes of a file whose lines are compared

	// between the machine of a commit and the server; none of a commit that a ledger names, because no server made it
	clockSkew = time.Minute
	longAgo   = 90 * 24 * time.Hour // older commits are no candidates by the name of a file alone
)

// emptyBlob is the key of what every empty file is, e69de29bb2d1d643….
const emptyBlob db.Key = -0x19621d644d2e29bd

// squash is the search for what a commit was made of.
type squash struct {
	repo       *git.Repo
	rev        git.Commit
	blobs      map[string]git.OID // by path: the blob that the commit left
	keys       map[string]db.Key
	patchID    string
	candidates []*candidate // commits that may be part of it
	others     []*candidate // those that only tell what else their branches did
	past       map[string][]history.Stay
	isNamed    bool    // a ledger names the commit in question
	lineage    Lineage // of those that are known
}

// SquashedFrom are the OIDs of the code commits of ledgers that a commit was made of, as far as they
// are found: those with the same patch or change-id (copied), else those whose content it brought into its branch.
// If objects are missing or damaged (a partial clone) it finds nothing, which is no error: the caller can still
// show what the index says.
func SquashedFrom(ctx context.Context, index *db.DB, repo *git.Repo,
	id git.OID,
) (out []string, copied bool, err error) {
	made, err := repo.Commit(id)
	if err != nil || len(made.Parents) != 1 { // a merge or a root is made of none
		return nil, false, nil
	}
	if any, err := index.AnyCodeCommit(ctx, made.Committer.When.Add(clockSkew)); err != nil || !any {
		return nil, false, err
	}
	s, err := newSquash(repo, made)
	if err != nil || s == nil {
		return nil, false, nil
	}
	if err := s.read(ctx, index); err != nil {
		return nil, false, err
	}
	if err := s.match(ctx); err != nil {
		return nil, false, ctx.Err()
	}
	for _, k := range s.candidates {
		if k.matched || k.sameChange {
			out = append(out, k.SHA)
			copied = copied || k.SamePatch || k.sameChange
		}
	}
	slices.Sort(out)
	return out, copied, nil
}

func (s *squash) match(ctx context.Context) error {
	if err := s.dropReachable(ctx); err != nil || len(s.candidates) == 0 || s.matchPatches() {
		return err
	}
	return s.matchContent()
}

// newSquash is nil for a commit that is no squash: an empty one, or one with more than maxChanges files.
func newSquash(repo *git.Repo, rev git.Commit) (*squash, error) {
	changes, err := repo.Changes(rev.OID)
	if err != nil || len(changes) == 0 || len(changes) > maxChanges {
		return nil, err
	}
	s := &squash{
		repo: repo, rev: rev, blobs: map[string]git.OID{}, keys: map[string]db.Key{},
		patchID: history.PatchID(repo, rev),
	}
	for _, c := range changes {
		if c.OldPath != "" {
			s.keys[c.OldPath] = 0
		}
		s.blobs[c.Path], s.keys[c.Path] = c.OID, db.KeyOf(string(c.OID))
	}
	return s, nil
}

// read reads from the index the code commits that changed the same files before.
func (s *squash) read(ctx context.Context, index *db.DB) error {
	var err error
	if s.isNamed, err = index.HasCodeCommit(ctx, string(s.rev.OID)); err != nil {
		return err
	}
	q := db.CodeQuery{
		Files: s.keys, PatchID: s.patchID, SHA: string(s.rev.OID), Until: s.rev.Committer.When,
		Slack: clockSkew, Limit: maxKnown,
	}
	commits, err := index.CodeCommits(ctx, q)
	for i, c := range commits {
		k := s.newCandidate(c)
		recent := s.rev.Committer.When.Sub(c.TS) <= longAgo || s.rev.ChangeID != "" // a change may be rewritten late
		if c.SamePatch || len(k.sameFiles) > 0 || i < maxByFileNames && recent {
			s.candidates = append(s.candidates, k)
		} else {
			s.others = append(s.others, k)
		}
	}
	if err != nil {
		return err
	}
	shas := make([]string, len(s.candidates))
	for i, k := range s.candidates {
		shas[i] = k.SHA
	}
	s.lineage, err = ReadLineage(ctx, index, s.repo, shas)
	return err
}

// dropReachable finds which candidates are here, and drops those that were in the branch before,
// the commit itself, and what was built on it. A candidate also counts as each commit that it became by a
// rewrite.
func (s *squash) dropReachable(ctx context.Context) error {
	tips, err := s.readCandidatesHere()
	if err != nil || len(tips) == 0 {
		return err
	}
	notInBranch, err := s.notInBranch(ctx, tips)
	if err != nil {
		notInBranch = s.notInBranchByTip(ctx, tips)
	}
	s.candidates = slices.DeleteFunc(s.candidates, func(k *candidate) bool {
		return slices.ContainsFunc(k.present, func(c git.Commit) bool {
			if !notInBranch[c.OID] || s.isNamed && c.Committer.When.After(s.rev.Committer.When) {
				return true
			}
			if !notInBranch[s.rev.OID] {
				return false
			}
			after, err := s.repo.IsAncestor(s.rev.OID, c.OID)
			return after || err != nil
		})
	})
	for _, k := range s.candidates {
		if k.isHere() && k.when.IsZero() {
			k.when = k.present[0].Committer.When
		}
		k.sameChange = slices.ContainsFunc(k.present, func(c git.Commit) bool {
			return s.rev.ChangeID != "" && c.ChangeID == s.rev.ChangeID && c.Author.Email == s.rev.Author.Email
		})
	}
	return nil
}

// notInBranch are the commits that are reachable from tips, but not from the parent of the commit
// in question.
func (s *squash) notInBranch(ctx context.Context, tips []git.OID) (map[git.OID]bool, error) {
	out := map[git.OID]bool{}
	for c, err := range s.repo.Walk(ctx, tips, s.rev.Parents) {
		if err != nil {
			return nil, err
		}
		out[c.OID] = true
	}
	return out, nil
}

// notInBranchByTip is notInBranch for each tip alone, because some histories have gaps (git has pruned the older part
// of a deleted branch): a candidate with such a tip counts as gone.
func (s *squash) notInBranchByTip(ctx context.Context, tips []git.OID) map[git.OID]bool {
	out, broken := map[git.OID]bool{}, map[git.OID]bool{}
	for _, tip := range tips {
		notInBranch, err := s.notInBranch(ctx, []git.OID{tip})
		broken[tip] = err != nil
		maps.Copy(out, notInBranch)
	}
	for _, k := range s.candidates {
		k.present = slices.DeleteFunc(k.present, func(c git.Commit) bool { return broken[c.OID] })
	}
	return out
}

// readCandidatesHere reads the candidates that are here, and the first maxBecame commits that they became, if the
// makers of these say so.
func (s *squash) readCandidatesHere() (tips []git.OID, err error) {
	gone := map[string]bool{}
	for _, k := range s.candidates {
		became := s.lineage.FollowFrom(k.SHA, s.lineage.Successors)
		for _, at := range became[:min(len(became), maxBecame)] {
			if gone[at.SHA] {
				continue
			}
			c, err := s.repo.Commit(git.OID(at.SHA))
			if gone[at.SHA] = errors.Is(err, git.ErrNotFound); gone[at.SHA] {
				continue
			}
			if err != nil {
				return nil, err
			}
			if at.Email == "" || s.lineage.Maker(at.SHA).Made(at.Email) {
				k.present = append(k.present, c)
				tips = append(tips, c.OID)
			}
		}
	}
	return tips, nil
}

// matchContent matches candidates by the blobs that they left and by the lines that they added,
// and then their ancestors.
func (s *squash) matchContent() error {
	if err := s.readPastContent(); err != nil {
		return err
	}
	s.matchFiles()
	if err := s.compareLines(); err != nil {
		return err
	}
	s.matchLines()
	// Whoever wrote a commit at another time than it was committed copied one commit, whose
	// predecessors have copies of their own.
	if d := s.rev.Committer.When.Sub(s.rev.Author.When); d.Abs() > time.Second {
		return nil
	}
	return s.matchAncestors()
}

// readPastContent reads what stood in the files since the first candidate was made.
func (s *squash) readPastContent() error {
	since := s.rev.Committer.When
	var paths []string
	for _, k := range s.candidates {
		t := k.when
		if t.IsZero() {
			t = s.rev.Committer.When.Add(-longAgo)
		}
		if t.Before(since) {
			since = t
		}
		paths = append(paths, k.Paths...)
	}
	slices.Sort(paths)
	if paths = slices.Compact(paths); len(paths) > maxPaths {
		paths = paths[:maxPaths]
	}
	var err error
	s.past, err = history.PastContents(s.repo, s.rev.Parents[0], paths, since, maxSteps/max(len(paths), 20))
	for _, k := range slices.Concat(s.candidates, s.others) {
		k.alreadyIn = s.isAlreadyIn(k)
	}
	return err
}

// wasInBranch reports whether a file of the branch had a blob at a time or since. A file whose history
// was not read counts as having had it.
func (s *squash) wasInBranch(path string, blob git.OID, at time.Time) bool {
	stays, ok := s.past[path]
	return !ok || slices.ContainsFunc(stays, func(st history.Stay) bool {
		return st.OID == blob && (st.To.IsZero() || !st.To.Before(at))
	})
}

// isAlreadyIn reports whether a candidate came into the branch before the commit in question: a
// blob that it left came into the branch after the candidate was made.
func (s *squash) isAlreadyIn(k *candidate) bool {
	for i, p := range k.Paths {
		for _, st := range s.past[p] {
			if b := k.Blobs[i]; b != 0 && b != emptyBlob && b == db.KeyOf(string(st.OID)) && !st.From.IsZero() &&
				!st.From.Before(k.when) {
				return true
			}
		}
	}
	return false
}
