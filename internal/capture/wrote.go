package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Which commits are compared with the edits of sessions: a capture takes the new commits of HEAD. A pull (post-merge)
// and a rebase take the commits that they brought. A sync, a checkpoint by hand and init take all branches,
// remote-tracking branches and tags. So a squash merge on a server is tied in the author's clone, and the team gets
// that with the ledger. Binary files and files above 1 MB are not compared. attribution.Match says how lines are
// compared.

// Bounds of what is compared in a commit; beyond them no line is known to be a session's.
const (
	maxChanges = 2000   // files
	maxAdded   = 20_000 // lines of a file
)

// wroteIn is what a commit changed, and which of its lines sessions wrote. Both are empty if objects of the commit are
// not here (a partial clone) or damaged: that must not keep a session from being captured.
func (g *collector) wroteIn(ctx context.Context, c git.Commit) (changes []git.Change, out []session.Wrote) {
	changes, err := g.Repo.Changes(c.OID)
	if err != nil {
		return changes, nil
	}
	behind := g.pastOf(ctx, c.OID)
	defer behind.stop()
	behind.known[string(c.OID)] = false
	return changes, g.wroteInChanges(ctx, c, changes, behind)
}

// wroteInChanges is which lines of the changes of a commit sessions wrote. What is staged is a commit without an OID.
func (g *collector) wroteInChanges(ctx context.Context, c git.Commit, changes []git.Change,
	behind *past,
) (out []session.Wrote) {
	if len(changes) > maxChanges {
		return nil
	}
	var compared []git.Change
	var paths []string
	for _, ch := range changes {
		if ch.OID == "" || !storable(ch.Path) || ch.OldPath != "" && !storable(ch.OldPath) {
			continue
		}
		if ch.OldPath != "" {
			g.edits.rename(ch.Path, ch.OldPath)
		}
		compared, paths = append(compared, ch), append(paths, ch.Path)
	}
	if g.edits.load(ctx, paths) != nil { // the store of edits keeps why: the next capture compares the commit again
		return nil
	}
	for _, ch := range compared {
		edits := g.editsBefore(c, g.edits.cache[ch.Path])
		if len(edits) == 0 {
			continue
		}
		lines, err := g.addedLines(c, ch)
		if err != nil || len(lines.Added) > maxAdded {
			continue
		}
		wrote := wroteLines(c, ch, lines, edits, behind.holds)
		wrote = slices.DeleteFunc(wrote, func(w session.Wrote) bool { return w.Session == "" })
		out = append(out, wrote...)
		if c.OID != "" {
			g.edits.take(ch.Path, string(c.OID), editsOf(wrote))
		}
	}
	return out
}

// past tells what is behind a commit, by one walk that goes as far as it must.
type past struct {
	repo  *git.Repo
	seen  map[git.OID]bool
	known map[string]bool // answers
	last  time.Time       // of the walk
	next  func() (git.Commit, error, bool)
	stop  func()
}

func (g *collector) pastOf(ctx context.Context, tip git.OID) *past {
	p := &past{repo: g.Repo, seen: map[git.OID]bool{}, known: map[string]bool{}}
	p.next, p.stop = iter.Pull2(g.Repo.Newest(ctx, []git.OID{tip}, nil))
	return p
}

// holds reports whether a commit is behind the one of the walk.
func (p *past) holds(id string) bool {
	is, ok := p.known[id]
	if !ok {
		is = p.walkTo(git.OID(id))
		p.known[id] = is
	}
	return is
}

func (p *past) walkTo(id git.OID) bool {
	sought, err := p.repo.Commit(id)
	if err != nil {
		return false
	}
	for !p.seen[id] && !attribution.IsCommittedBefore(p.last, sought.Committer.When) {
		c, err, more := p.next()
		if err != nil || !more {
			break
		}
		p.seen[c.OID], p.last = true, c.Committer.When
	}
	return p.seen[id]
}

// editsOf names the edits of which a commit holds lines.
func editsOf(wrote []session.Wrote) map[editName]bool {
	out := map[editName]bool{}
	for _, w := range wrote {
		if len(w.Lines) > 0 {
			out[editName{w.Session, w.TS.UnixMilli()}] = true
		}
	}
	return out
}

// addedLines are the lines that a commit added to a file; for a merge, those that no parent has.
func (g *collector) addedLines(c git.Commit, ch git.Change) (history.Lines, error) {
	out, err := history.CompareBlobs(g.Repo, ch.Before, ch.OID)
	for _, parent := range c.Parents[min(1, len(c.Parents)):] {
		var before git.OID
		if err == nil {
			before, err = g.Repo.FileAt(parent, ch.Path)
		}
		if err != nil {
			break
		}
		var other history.Lines
		other, err = history.CompareBlobs(g.Repo, before, ch.OID)
		out.Gone = nil
		out.Added = slices.DeleteFunc(out.Added, func(i int) bool {
			_, brought := slices.BinarySearch(other.Added, i)
			return !brought
		})
	}
	return out, err
}

// editsBefore are the edits that were made before a commit, each once: an edit that a fork copied counts for the
// origin. A scrubbed edit has no Session, because a record of it would bring back the path.
func (g *collector) editsBefore(c git.Commit, all []attribution.Edit) (out []attribution.Edit) {
	at := map[string]int{}
	for _, e := range all {
		// an edit without a time can't be recorded
		if attribution.IsCommittedBefore(c.Committer.When, e.At) || e.At.IsZero() {
			continue
		}
		key := editKey(e)
		if i, again := at[key]; !again {
			at[key], out = len(out), append(out, e)
		} else if g.isForkOf(out[i].Session, e.Session) {
			out[i] = e
		}
	}
	for i := range out {
		if g.isScrubbed(out[i]) {
			out[i].Session = ""
		}
	}
	return out
}

// isScrubbed reports whether an edit was made in scrubbed turns of its session, or of a session of which that is a
// fork.
func (g *collector) isScrubbed(e attribution.Edit) bool {
	id := e.Session
	for range maxNames {
		if k := g.st.sessionByID(id); k != nil && k.wasScrubbedAt(e.At) {
			return true
		}
		if id = g.originOf(id); id == "" {
			break
		}
	}
	return false
}

// editKey identifies an edit by its time and its lines.
func editKey(e attribution.Edit) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(e.At.UnixMilli()))
	for _, l := range e.Lines {
		b = append(binary.BigEndian.AppendUint64(b, uint64(l.Print)), l.Kind)
	}
	return string(b)
}

// isForkOf reports whether a session is a fork of another one.
func (g *collector) isForkOf(id, origin string) bool {
	for range maxNames {
		if id = g.originOf(id); id == "" || id == origin {
			break
		}
	}
	return id == origin
}

// originOf is the ID of the session of which another one is a fork; "" if that is no fork.
func (g *collector) originOf(id string) string {
	if i := slices.IndexFunc(g.fresh, func(s *session.Session) bool { return s.ID == id }); i >= 0 &&
		g.fresh[i].ForkedFrom != "" {
		return g.fresh[i].ForkedFrom
	}
	if k := g.st.sessionByID(id); k != nil {
		return k.ForkedFrom
	}
	return ""
}

func wroteLines(c git.Commit, ch git.Change, lines history.Lines, edits []attribution.Edit,
	isBehind func(string) bool,
) (out []session.Wrote) {
	f := attribution.CommittedFile{
		Lines: attribution.Prints(lines.Text), Added: map[int]bool{},
		Removed: attribution.Prints(lines.Gone), IsBehind: isBehind,
	}
	for _, i := range lines.Added {
		f.Added[i] = true
	}
	for _, w := range attribution.Match(f, edits) {
		for i := range w.Lines {
			w.Lines[i]++ // from 1 on
		}
		out = append(out, session.Wrote{
			GitSHA: string(c.OID), Blob: string(ch.OID), Session: w.Session, Path: ch.Path,
			Lines: session.RangesOf(w.Lines), Gone: w.Removed, TS: w.At.UTC(),
		})
	}
	return out
}

// unrecorded leaves out what the ledgers record already.
func (st *state) unrecorded(all []session.Wrote) []session.Wrote {
	return slices.DeleteFunc(all, func(w session.Wrote) bool {
		_, said := slices.BinarySearch(st.Wrote, wroteKey(w))
		return said
	})
}

// wroteKey is a hash of a record.
func wroteKey(w session.Wrote) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %s %s %d", w.GitSHA, w.Session, w.Path, w.Lines, w.Gone)
	return h.Sum64()
}

// linkKey is a hash of who made a commit.
func linkKey(sha string, l session.Link) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s made", sha, l.Session)
	return h.Sum64()
}

// comparedRange says which commits are compared with edits.
type comparedRange struct {
	allRefs         bool // commits of all refs; else those of HEAD
	includeExamined bool // also commits that were compared before
	limit           int  // how many, the newest; 0: all
}

// commitsToCompare are the commits that were not compared yet, and those that were compared before some edit was known
// that they may hold; the newest first. Commits older than the first session are left out.
func (g *collector) commitsToCompare(ctx context.Context, l comparedRange) ([]git.Commit, error) {
	head, err := g.Repo.Head()
	tips := []git.OID{head.OID}
	if l.allRefs {
		tips, err = history.Tips(g.Repo)
	}
	if err != nil || len(tips) == 0 || tips[0] == "" {
		return nil, err
	}
	hide := g.st.Examined
	if l.includeExamined {
		hide = nil
	}
	out, all, err := g.commitsSince(ctx, tips, hide, g.earliestStart(), l.limit)
	if err != nil {
		return nil, err
	}
	if all || l.allRefs {
		g.examined = examinedTips(g.st.Examined, tips, out, l.allRefs)
	}
	if !l.includeExamined && !g.newEditsSince.IsZero() {
		most := commitsAtHook
		if l.allRefs {
			most = l.limit
		} else {
			tips = g.Repo.Heads()
		}
		late, _, err := g.commitsSince(ctx, tips, nil, g.newEditsSince, most)
		if err != nil {
			return nil, err
		}
		for _, c := range late {
			if !slices.ContainsFunc(out, func(o git.Commit) bool { return o.OID == c.OID }) {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// examinedTips are the tips whose whole history is compared when commits are, too; with allRefs, those of before that
// are gone are left out. What is older than the first session does not count.
func examinedTips(before, tips []git.OID, commits []git.Commit, allRefs bool) []git.OID {
	behind, here := map[git.OID]bool{}, map[git.OID]bool{}
	for _, c := range commits {
		here[c.OID] = true
		for _, p := range c.Parents {
			behind[p] = true
		}
	}
	all := slices.Clone(before)
	if allRefs {
		all = slices.DeleteFunc(all, func(id git.OID) bool { return !slices.Contains(tips, id) })
	}
	all = append(all, slices.DeleteFunc(slices.Clone(tips), func(id git.OID) bool { return !here[id] })...)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(id git.OID) bool { return behind[id] })
}

// commitsSince are the commits reachable from tips and not from hide, made at a time or later; all reports whether
// there are no more than most.
func (g *collector) commitsSince(ctx context.Context, tips, hide []git.OID, from time.Time,
	most int,
) (out []git.Commit, all bool, err error) {
	for c, err := range g.Repo.Newest(ctx, tips, hide) {
		switch {
		case errors.Is(err, git.ErrNotFound): // a gap in the history
			return out, true, nil
		case err != nil:
			return nil, false, err
		case attribution.IsCommittedBefore(c.Committer.When, from):
			return out, true, nil
		case most > 0 && len(out) == most:
			return out, false, nil
		}
		out = append(out, c)
	}
	return out, true, ctx.Err()
}

// earliestStart is the time of the first turn of all sessions.
func (g *collector) earliestStart() time.Time {
	first := g.now
	for _, k := range g.st.Sessions {
		if k.First.Before(first) {
			first = k.First
		}
	}
	for _, s := range g.fresh {
		if s.StartedAt.Before(first) {
			first = s.StartedAt
		}
	}
	return first
}
