package recall

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
)

// A commit that was made on a server (a squash merge, a rebase merge, a cherry-pick) ran no
// hook, so nothing says what it was made of. It is told by what the ledgers know of code
// commits: their patch-ids, and the blobs that they left in their files.

// Bounds of the search. It is work of a reader who waits.
const (
	maxChanges = 2000 // files of a commit; a larger one is an import, not a merge
	maxKnown   = 300  // code commits that share a file with it
	maxMet     = 100  // of them, those that may share no more than that
	maxRead    = 50   // of them, those whose lines are compared
	maxBecame  = 50   // commits that one of them became, one after another
	maxPaths   = 64   // files whose past is looked at
	maxSteps   = 20_000
	maxLines   = 1 << 20 // bytes of a file whose lines are compared

	clockSkew = time.Minute         // between the machine of a commit and the server
	longAgo   = 90 * 24 * time.Hour // before which a branch is not looked for by its files alone
	sameWork  = 14 * 24 * time.Hour // without a commit for so long, a branch's name is in new use
)

// emptyBlob is the key of what every empty file is, e69de29bb2d1d643….
const emptyBlob db.Key = -0x19621d644d2e29bd

// known is a code commit of a ledger that may be part of the commit in question.
type known struct {
	db.CodeCommit
	here    []git.Commit // itself and what it became by amends and rebases, as far as it is here
	same    []string     // files that it left as the commit in question did
	matched bool
}

// line is the branch of a person, where it has a name.
type line struct{ email, branch string }

func (k *known) line() line { return line{k.Email, k.Branch} }

// most reports whether the commit in question changed most of a commit's files: one that
// does much else is not part of it.
func (k *known) most() bool { return 4*len(k.Paths) >= 3*k.Files }

// when is the time of the commit, zero where nothing tells it.
func (k *known) when() time.Time {
	if k.TS.IsZero() && len(k.here) > 0 {
		return k.here[0].Committer.When
	}
	return k.TS.Truncate(time.Second)
}

// squash is the search for what a commit was made of.
type squash struct {
	repo    *git.Repo
	rev     git.Commit
	blobs   map[string]git.OID // file → what the commit left there
	keys    map[string]db.Key
	patchID string
	known   []*known // those that may be part of it
	aside   []*known // those that only tell what else their branches did
	past    map[string][]git.Stay
	lineage lineage // of those that are known
}

// squashed are the OIDs of the code commits of ledgers that a commit is made of, as far as it
// can be told: those with its patch, or else those whose content it brought into its branch.
// Where objects are missing or damaged (a partial clone) nothing is told; it is no reason not
// to say what stands in the tables.
func squashed(ctx context.Context, index *db.DB, repo *git.Repo, id git.OID) (out []string, copied bool, err error) {
	s, err := newSquash(repo, id)
	if err != nil || s == nil {
		return nil, false, nil
	}
	if err := s.read(ctx, index); err != nil {
		return nil, false, err
	}
	if err := s.match(ctx); err != nil {
		return nil, false, ctx.Err()
	}
	for _, k := range s.known {
		if k.matched {
			out = append(out, k.SHA)
			copied = copied || k.SamePatch
		}
	}
	slices.Sort(out)
	return out, copied, nil
}

func (s *squash) match(ctx context.Context) error {
	if err := s.leaveReachable(ctx); err != nil || len(s.known) == 0 || s.samePatch() {
		return err
	}
	return s.sameContent()
}

// newSquash is nil for a commit that can't be one: a merge, a root, an empty one.
func newSquash(repo *git.Repo, id git.OID) (*squash, error) {
	rev, err := repo.Commit(id)
	if err != nil || len(rev.Parents) != 1 {
		return nil, err
	}
	changes, err := repo.Changes(id)
	if err != nil || len(changes) == 0 || len(changes) > maxChanges {
		return nil, err
	}
	s := &squash{repo: repo, rev: rev, blobs: map[string]git.OID{}, keys: map[string]db.Key{}, patchID: repo.PatchID(rev)}
	for _, c := range changes {
		if c.OldPath != "" {
			s.keys[c.OldPath] = 0
		}
		s.blobs[c.Path], s.keys[c.Path] = c.OID, db.KeyOf(string(c.OID))
	}
	return s, nil
}

// read asks the ledgers' code commits for those that changed the same files before.
func (s *squash) read(ctx context.Context, index *db.DB) error {
	q := db.CodeQuery{Files: s.keys, PatchID: s.patchID, Until: s.rev.Committer.When, Slack: clockSkew, Limit: maxKnown}
	commits, err := index.CodeCommits(ctx, q)
	for i, c := range commits {
		k := &known{CodeCommit: c}
		for i, p := range c.Paths {
			if b := c.Blobs[i]; b == s.keys[p] && b != 0 && b != emptyBlob {
				k.same = append(k.same, p)
			}
		}
		recent := s.rev.Committer.When.Sub(c.TS) <= longAgo
		if k.SamePatch || len(k.same) > 0 || i < maxMet && recent {
			s.known = append(s.known, k)
		} else {
			s.aside = append(s.aside, k)
		}
	}
	if err != nil {
		return err
	}
	shas := make([]string, len(s.known))
	for i, k := range s.known {
		shas[i] = k.SHA
	}
	s.lineage, err = readLineage(ctx, index, s.repo, shas)
	return err
}

// leaveReachable finds which commits are here, and leaves out those that stood in the branch
// already, the commit itself, and what was built on it. A commit that became another one is
// that.
func (s *squash) leaveReachable(ctx context.Context) error {
	tips, err := s.find()
	if err != nil || len(tips) == 0 {
		return err
	}
	apart, err := s.apart(ctx, tips)
	if err != nil {
		apart = s.whole(ctx, tips)
	}
	s.known = slices.DeleteFunc(s.known, func(k *known) bool {
		return slices.ContainsFunc(k.here, func(c git.Commit) bool {
			if !apart[c.OID] {
				return true
			}
			if !apart[s.rev.OID] {
				return false
			}
			after, err := s.repo.IsAncestor(s.rev.OID, c.OID)
			return after || err != nil
		})
	})
	return nil
}

// apart are the commits that are reachable from tips and not from before the commit in
// question.
func (s *squash) apart(ctx context.Context, tips []git.OID) (map[git.OID]bool, error) {
	out := map[git.OID]bool{}
	for c, err := range s.repo.Walk(ctx, tips, s.rev.Parents) {
		if err != nil {
			return nil, err
		}
		out[c.OID] = true
	}
	return out, nil
}

// whole is apart where some histories have gaps (git has thrown away the older part of a
// branch that was deleted): such a commit counts as gone.
func (s *squash) whole(ctx context.Context, tips []git.OID) map[git.OID]bool {
	out, broken := map[git.OID]bool{}, map[git.OID]bool{}
	for _, tip := range tips {
		apart, err := s.apart(ctx, []git.OID{tip})
		broken[tip] = err != nil
		maps.Copy(out, apart)
	}
	for _, k := range s.known {
		k.here = slices.DeleteFunc(k.here, func(c git.Commit) bool { return broken[c.OID] })
	}
	return out
}

// find reads the commits that are here, with the first of those that they became, as who made them says.
func (s *squash) find() (tips []git.OID, err error) {
	gone := map[string]bool{}
	for _, k := range s.known {
		became := s.lineage.from(k.SHA, s.lineage.home(k.SHA), s.lineage.is)
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
			if at.Email == "" || madeBy(c, at.Email) {
				k.here = append(k.here, c)
				tips = append(tips, c.OID)
			}
		}
	}
	return tips, nil
}

// samePatch matches the commits with the same patch: then this one is a copy of them and of
// nothing else.
func (s *squash) samePatch() bool {
	found := false
	for _, k := range s.known {
		k.matched = k.SamePatch
		found = found || k.matched
	}
	return found
}

// sameContent matches commits by the blobs that they left and by the lines that they added,
// and then what else is on the way to them.
func (s *squash) sameContent() error {
	if err := s.lookBack(); err != nil {
		return err
	}
	s.ownContent()
	for _, k := range s.known {
		k.matched = k.most() && len(k.same) > 0
	}
	if err := s.sameLines(); err != nil {
		return err
	}
	// Whoever wrote a commit at another time than it was committed copied one commit, whose
	// predecessors have copies of their own.
	if d := s.rev.Committer.When.Sub(s.rev.Author.When); d.Abs() > time.Second {
		return nil
	}
	return s.onTheWay()
}

// lookBack reads what stood in the files since the first of the commits was made.
func (s *squash) lookBack() error {
	since := s.rev.Committer.When
	var paths []string
	for _, k := range s.known {
		t := k.when()
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
	s.past, err = s.repo.Past(s.rev.Parents[0], paths, since, maxSteps/max(len(paths), 20))
	return err
}

// ownContent keeps of the content that commits share with the one in question what tells
// something: it was not there before (a revert brings back what was), and only one person's
// branch has it (a lock file or a licence is the same in many).
func (s *squash) ownContent() {
	lines := map[string]map[line]bool{}
	for _, k := range s.known {
		k.same = slices.DeleteFunc(k.same, func(p string) bool { return s.stood(p, s.blobs[p], k.when()) })
		for _, p := range k.same {
			if lines[p] == nil {
				lines[p] = map[line]bool{}
			}
			lines[p][k.line()] = true
		}
	}
	for _, k := range s.known {
		k.same = slices.DeleteFunc(k.same, func(p string) bool { return len(lines[p]) > 1 })
	}
}

// stood reports whether a blob was in a file of the branch at a time or since. What nobody
// looked at counts as there.
func (s *squash) stood(path string, blob git.OID, at time.Time) bool {
	stays, ok := s.past[path]
	return !ok || slices.ContainsFunc(stays, func(st git.Stay) bool {
		return st.OID == blob && (st.To.IsZero() || !st.To.Before(at))
	})
}

// arrived reports whether a commit came into the branch earlier: what it left in one of the
// files came there after it.
func (s *squash) arrived(k *known) bool {
	for i, p := range k.Paths {
		for _, st := range s.past[p] {
			if b := k.Blobs[i]; b != 0 && b != emptyBlob && b == db.KeyOf(string(st.OID)) && !st.From.IsZero() && !st.From.Before(k.when()) {
				return true
			}
		}
	}
	return false
}

// onTheWay matches what comes before a matched commit: its ancestors where the objects are
// here, else earlier commits of the same branch by the same person. Commits up to one that
// arrived earlier did so, too.
func (s *squash) onTheWay() error {
	done := map[line]time.Time{}
	for _, k := range slices.Concat(s.known, s.aside) {
		if t := k.when(); s.arrived(k) && t.After(done[k.line()]) {
			done[k.line()] = t
		}
	}
	var ends, rest []*known
	for _, k := range s.known {
		switch {
		case k.matched:
			ends = append(ends, k)
		case k.when().After(done[k.line()]):
			rest = append(rest, k)
		}
	}
	for len(ends) > 0 && len(rest) > 0 {
		end := ends[0]
		ends = ends[1:]
		for _, k := range rest {
			ok, err := s.leadsTo(k, end)
			if err != nil {
				return err
			}
			if k.matched = ok; ok {
				ends = append(ends, k)
			}
		}
		rest = slices.DeleteFunc(rest, func(k *known) bool { return k.matched })
	}
	return nil
}

func (s *squash) leadsTo(k, end *known) (bool, error) {
	for _, c := range k.here {
		for _, e := range end.here {
			if ok, err := s.repo.IsAncestor(c.OID, e.OID); ok || err != nil {
				return ok, err
			}
		}
	}
	switch t := k.when(); {
	case k.line() != end.line(), k.Branch == "HEAD":
		return false, nil
	case len(k.same) > 0: // a merge of main, among whose files are many that are not the branch's
		return true, nil
	case len(k.here) > 0 && len(end.here) > 0:
		return false, nil
	default:
		return k.most() && !t.IsZero() && !t.After(end.when()) && end.when().Sub(t) <= sameWork, nil
	}
}
