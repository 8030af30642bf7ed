package why

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Lines are followed into the commits that a commit was made of, where several sessions stand behind it, and for the 20
// commits with the most lines that no session is behind. Those are the commits that a rewrite names, those of a squash
// merge (squash.go), or what stood before the commit that `git revert` names. A diff finds the line there, and `git
// blame` goes on from there, without what the commit was built on. The commit of the branch that brought the line is
// asked in turn. So even a line that holds only a brace belongs to the session that brought it. What a branch's commit
// without a session brought, or the person who merged, is nobody's. Where the commits of a squash are not here, a line
// belongs to one of the sessions that have its file, and the answer says so (shared).

// Bounds of the search for what commits were made of.
const (
	maxInferred = 20 // commits, those with the most lines, that are taken for squashes of others
	maxTraced   = 50 // times that lines are looked for in another commit
	maxTips     = 4  // of them for the lines of one commit
	maxDepth    = 8  // rewrites of rewrites

	tracePatience = 10 * time.Second // after which no other commit is looked into
)

// claimFinder tells which sessions stand behind the lines of commits.
type claimFinder struct {
	commits.Lineage // of the commits that brought the lines
	index           *db.DB
	repo            *git.Repo
	rows            map[string][]attribution.Tie
	owned           attribution.FileOwners
	wrote           map[string]lineRecords
	parts           map[git.OID]squashSources
	inferred        int // commits that were taken for squashes
	looked          int // captured commits whose branches were looked for
	traced          int
	late            <-chan time.Time
}

func newClaimFinder(ctx context.Context, index *db.DB, repo *git.Repo, sources []source) (*claimFinder, error) {
	b := &claimFinder{
		index: index, repo: repo, rows: map[string][]attribution.Tie{}, owned: attribution.FileOwners{},
		wrote: map[string]lineRecords{}, parts: map[git.OID]squashSources{}, late: time.After(tracePatience),
	}
	shas := make([]string, len(sources))
	for i, s := range sources {
		shas[i] = string(s.Commit)
	}
	var err error
	if b.Lineage, err = commits.ReadLineage(ctx, index, repo, shas); err != nil {
		return nil, err
	}
	var all []attribution.Commit
	for _, sha := range shas {
		all = append(all, b.FollowFrom(sha, b.Predecessors, b.Successors)...)
	}
	_, err = b.ties(ctx, all)
	if err == nil {
		err = b.readWrote(ctx, shas)
	}
	return b, err
}

// ties reads which sessions are tied to commits, and whose the files of their checkpoints are.
func (b *claimFinder) ties(ctx context.Context, all []attribution.Commit) (out []attribution.Tie, err error) {
	unread := slices.DeleteFunc(commits.SHAs(all), func(sha string) bool {
		_, ok := b.rows[sha]
		return ok
	})
	rows, err := b.index.TiesOfCommits(ctx, unread)
	if err != nil {
		return nil, err
	}
	var checkpoints []string
	for _, sha := range unread {
		b.rows[sha] = attribution.CredibleTies(rows[sha], b.Maker(sha))
		for _, r := range b.rows[sha] {
			checkpoints = append(checkpoints, r.Checkpoint)
		}
	}
	slices.Sort(checkpoints)
	owners, err := b.index.FileOwners(ctx, slices.Compact(checkpoints))
	maps.Copy(b.owned, owners)
	had := map[attribution.Tie]bool{}
	for _, c := range all {
		for _, r := range b.rows[c.SHA] {
			if !had[r] && (c.Email == "" || c.Email == r.Email) {
				had[r], out = true, append(out, r)
			}
		}
	}
	return out, err
}

// claims tells what is behind the lines of a file that a commit brought. Where a shallow clone ends, every line that is
// older seems to come from the commit: only those count that a session is known to have written in it.
func (b *claimFinder) claims(ctx context.Context, s source) ([][]attribution.Claim, error) {
	if s.Cut {
		return b.claimsByWriters(ctx, s, claimsOfNobody)
	}
	return b.claimsByWriters(ctx, s, b.claimsByTies)
}

// claimsOfNobody claims no line.
func claimsOfNobody(_ context.Context, s source) ([][]attribution.Claim, error) {
	return make([][]attribution.Claim, len(s.lines)), nil
}

// claimsByTies claims lines for the sessions that are tied to their commits, where no record says who wrote them.
func (b *claimFinder) claimsByTies(ctx context.Context, s source) ([][]attribution.Claim, error) {
	sha := string(s.Commit)
	rows, err := b.ties(ctx, b.FollowFrom(sha, b.Predecessors, b.Successors))
	switch {
	case err != nil:
		return nil, err
	case len(rows) > 0:
		claims, err := b.claimsOfCaptured(ctx, s, rows, 0)
		if err != nil || b.looked == maxInferred {
			return claims, err
		}
		b.looked++
		return claims, b.dropByHand(ctx, s, claims)
	case b.inferred == maxInferred:
		return make([][]attribution.Claim, len(s.lines)), nil
	}
	b.inferred++
	return b.claimsOfUncaptured(ctx, s)
}

// dropByHand drops claims on lines of a squash that a hook captured, and that its branch brought without a session: in
// a commit of nobody's, or, in a file whose writers are known, in no commit that a session is behind.
func (b *claimFinder) dropByHand(ctx context.Context, s source, claims [][]attribution.Claim) error {
	parts, copied, err := b.madeOf(ctx, s.Commit)
	if err != nil || copied || len(parts) == 0 {
		return err
	}
	if err := b.Extend(ctx, b.index, parts); err != nil {
		return err
	}
	t, err := b.trace(ctx, s, b.independentTips(parts), b.parent(s.Commit), b.claimsOfPart(0))
	hasWriters := slices.ContainsFunc(b.wrote[string(s.Commit)].makers,
		func(w attribution.LineRecord) bool { return w.Path == s.Path })
	for i := range claims {
		if len(t.found[i]) == 0 && (t.known[i] || t.complete && hasWriters) {
			claims[i] = nil
		}
	}
	return err
}

// claimsOfCaptured claims the lines of a commit that hooks captured, or whose former version they captured. If only one
// session is behind all of these commits, every line is that session's. Else a line belongs to the session of the
// commit in which it stood first.
func (b *claimFinder) claimsOfCaptured(ctx context.Context, s source, rows []attribution.Tie,
	depth int,
) ([][]attribution.Claim, error) {
	sha := string(s.Commit)
	rest := b.owned.OwnersOf(rows, s.Path)
	before := b.DirectPredecessors(sha, b.Maker(sha))
	if len(rest) < 2 || depth == maxDepth || len(before) == 0 {
		return slices.Repeat([][]attribution.Claim{rest}, len(s.lines)), nil
	}
	if len(b.rows[sha]) > 0 {
		rest = b.owned.OwnersOf(b.rows[sha], s.Path)
	}
	t, err := b.trace(ctx, s, b.independentTips(before), b.parent(s.Commit), b.claimsOfPart(depth))
	return t.claims(rest), err
}

// claimsOfUncaptured are those of the lines of a commit that was made elsewhere, as far as can be told. What is in none
// of the commits that it was made of is nobody's, unless some of these are not here.
func (b *claimFinder) claimsOfUncaptured(ctx context.Context, s source) ([][]attribution.Claim, error) {
	parts, copied, err := b.madeOf(ctx, s.Commit)
	if err != nil {
		return nil, err
	}
	if err := b.Extend(ctx, b.index, parts); err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		t, err := b.trace(ctx, s, b.beforeReverted(s.Commit), "", b.claims)
		return t.inferredClaims(nil), err
	}
	var all, gone []attribution.Commit
	var here []string
	for _, p := range parts {
		was, is := b.FollowFrom(p, b.Predecessors), commits.SHAs(b.FollowFrom(p, b.Successors))
		all = append(all, was...)
		if len(b.independentTips(is)) > 0 {
			here = append(here, is...)
		} else {
			gone = append(gone, was...)
		}
	}
	rows, err := b.ties(ctx, all)
	if err != nil {
		return nil, err
	}
	t, err := b.trace(ctx, s, b.independentTips(here), b.parent(s.Commit), b.claimsOfPart(0))
	if err != nil || copied || !t.complete {
		return t.inferredClaims(b.owned.OwnersOf(rows, s.Path)), err
	}
	rows, err = b.ties(ctx, gone)
	return t.inferredClaims(b.owned.OwnersOf(rows, s.Path)), err
}

// squashSources is what commits.SquashedFrom found.
type squashSources struct {
	parts  []string
	copied bool
}

// madeOf asks once for each commit: it may have lines in many files.
func (b *claimFinder) madeOf(ctx context.Context, id git.OID) (parts []string, copied bool, err error) {
	found, ok := b.parts[id]
	if !ok {
		if found.parts, found.copied, err = commits.SquashedFrom(ctx, b.index, b.repo, id); err != nil {
			return nil, false, err
		}
		b.parts[id] = found
	}
	return found.parts, found.copied, nil
}

// beforeReverted is what stood before the commit that another one reverts: that brings back lines of it.
func (b *claimFinder) beforeReverted(id git.OID) []git.OID {
	c, err := b.repo.Commit(id)
	if err != nil {
		return nil
	}
	m := history.RevertOf.FindStringSubmatch(c.Message)
	if m == nil {
		return nil
	}
	if c, err = b.repo.Commit(git.OID(m[1])); err != nil || len(c.Parents) == 0 {
		return nil
	}
	return c.Parents[:1]
}

// independentTips are those of the given commits that are in this clone and are no ancestor of another of them, the
// latest first.
func (b *claimFinder) independentTips(shas []string) (out []git.OID) {
	var here []git.Commit
	for _, sha := range shas {
		if c, err := b.repo.Commit(git.OID(sha)); err == nil {
			here = append(here, c)
		}
	}
	slices.SortStableFunc(here, func(x, y git.Commit) int { return y.Committer.When.Compare(x.Committer.When) })
	for _, c := range here {
		leads := func(tip git.OID) bool {
			ok, err := b.repo.IsAncestor(c.OID, tip)
			return ok || err != nil
		}
		if len(out) < maxTips && !slices.ContainsFunc(out, leads) {
			out = append(out, c.OID)
		}
	}
	return out
}

// tracedLines is what was found out about lines by looking for them in other commits.
type tracedLines struct {
	found    [][]attribution.Claim
	known    []bool
	complete bool // every one of these commits was looked into
}

// claims are what is behind the lines, with the rest for those of which nothing is known.
func (t tracedLines) claims(rest []attribution.Claim) [][]attribution.Claim {
	for i := range t.found {
		if !t.known[i] {
			t.found[i] = rest
		}
	}
	return t.found
}

// inferredClaims are claims, all inferred.
func (t tracedLines) inferredClaims(rest []attribution.Claim) [][]attribution.Claim {
	out := t.claims(rest)
	for i := range out {
		out[i] = slices.Clone(out[i])
		for j := range out[i] {
			out[i][j].Kind = max(out[i][j].Kind, session.TieInferred)
		}
	}
	return out
}

// claimsOfPart tells whose the lines are of a commit that another one was made of.
func (b *claimFinder) claimsOfPart(depth int) func(context.Context, source) ([][]attribution.Claim, error) {
	return func(ctx context.Context, s source) ([][]attribution.Claim, error) {
		if err := b.Extend(ctx, b.index, []string{string(s.Commit)}); err != nil {
			return nil, err
		}
		rows, err := b.ties(ctx, b.FollowFrom(string(s.Commit), b.Predecessors))
		if err != nil {
			return nil, err
		}
		return b.claimsByWriters(ctx, s, func(ctx context.Context, s source) ([][]attribution.Claim, error) {
			return b.claimsOfCaptured(ctx, s, rows, depth+1)
		})
	}
}

// parent is what a commit was made on; "" for a root.
func (b *claimFinder) parent(id git.OID) git.OID {
	c, err := b.repo.Commit(id)
	if err != nil || len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// mayTrace reports whether lines may be looked for in one commit more.
func (b *claimFinder) mayTrace() bool {
	select {
	case <-b.late:
		b.traced = maxTraced
	default:
		b.traced++
	}
	return b.traced < maxTraced
}

// trace looks for lines in other commits that may have had them before, and asks whose they are of the
// commits that brought them there, but for what the commit older holds.
func (b *claimFinder) trace(ctx context.Context, s source, tips []git.OID, older git.OID,
	claimsOf func(context.Context, source) ([][]attribution.Claim, error),
) (tracedLines, error) {
	t := tracedLines{
		found: make([][]attribution.Claim, len(s.lines)), known: make([]bool, len(s.lines)),
		complete: len(tips) > 0 && len(tips) < maxTips,
	}
	for _, tip := range tips {
		if !b.mayTrace() {
			t.complete = false
			break
		}
		origins, err := history.Trace(ctx, b.repo, s.Commit, s.Path, s.at, tip, older)
		if err := ctx.Err(); err != nil {
			return t, err
		}
		if err != nil { // its past is not here; or it has no such file
			t.complete = t.complete && errors.Is(err, git.ErrNotFound)
			continue
		}
		for i := range origins {
			if t.known[i] || origins[i].Cut {
				origins[i] = history.Origin{}
			}
		}
		for _, part := range groupByCommit(origins) {
			claims, err := claimsOf(ctx, part)
			if err != nil {
				return t, err
			}
			for i, line := range part.lines {
				t.found[line], t.known[line] = claims[i], true
			}
		}
	}
	return t, nil
}

// lineRecords say who wrote lines of a commit: the records in ledgers of the commit's maker, and the records in other
// ledgers.
type lineRecords struct{ makers, others []attribution.LineRecord }

// readWrote reads what sessions wrote in commits.
func (b *claimFinder) readWrote(ctx context.Context, shas []string) error {
	shas = slices.DeleteFunc(slices.Clone(shas), func(sha string) bool {
		_, ok := b.wrote[sha]
		return ok
	})
	wrote, err := b.index.LinesWritten(ctx, shas)
	for _, sha := range shas {
		makers, others := attribution.CredibleLines(wrote[sha], b.Maker(sha))
		b.wrote[sha] = lineRecords{makers, others}
	}
	return err
}

// claimsByWriters claims lines for the sessions that wrote them by the ledger of the commit's maker, and asks rest for
// the other lines. If the writers of some lines of a file are known, claims on its other lines are guesses: a
// formatter, a command or a person may have written these. Beside a guess stands what other people's ledgers say.
func (b *claimFinder) claimsByWriters(ctx context.Context, s source,
	rest func(context.Context, source) ([][]attribution.Claim, error),
) ([][]attribution.Claim, error) {
	if err := b.readWrote(ctx, []string{string(s.Commit)}); err != nil {
		return nil, err
	}
	wrote := b.wrote[string(s.Commit)]
	out, others := make([][]attribution.Claim, len(s.lines)), source{Origin: s.Origin}
	var at []int
	for i, line := range s.at {
		if w, at := attribution.Writer(wrote.makers, s.Path, line); w != "" {
			out[i] = []attribution.Claim{{Session: w, Kind: session.TieWrote, Exact: true, At: at, Turn: -1}}
			continue
		}
		at, others.lines, others.at = append(at, i), append(others.lines, s.lines[i]), append(others.at, line)
	}
	if len(at) == 0 {
		return out, nil
	}
	claims, err := rest(ctx, others)
	known := slices.ContainsFunc(wrote.makers, func(w attribution.LineRecord) bool { return w.Path == s.Path })
	for i := range claims {
		of, sure := slices.Clone(claims[i]), false
		for j := range of {
			sure = sure || !known && !of[j].Kind.IsWeak()
		}
		if w, when := attribution.Writer(wrote.others, s.Path, others.at[i]); w != "" {
			j := slices.IndexFunc(of, func(c attribution.Claim) bool { return c.Session == w })
			if j >= 0 {
				of[j].At = when
			} else if !sure {
				of = append(of, attribution.Claim{Session: w, Kind: session.TieAlleged, At: when, Turn: -1})
			}
		}
		out[at[i]] = of
	}
	return out, err
}
