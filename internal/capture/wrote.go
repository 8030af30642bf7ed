package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Which commits are compared with the edits of sessions: a capture takes the new commits of HEAD. A pull (post-merge) and a rebase take
// the commits that they brought. A sync, a checkpoint by hand and init take all branches, remote-tracking branches and tags. So a
// squash merge on a server is tied in the author's clone, and the team gets that with the ledger. Binary files and files above 1 MB
// are not compared. attribution.Match says how lines are compared.

// Bounds of what is looked at in a commit; beyond them its lines are nobody's for certain.
const (
	maxChanges = 2000   // files
	maxAdded   = 20_000 // lines of a file
)

// wroteIn says what a commit changed, and which of its lines the sessions wrote that were at work here. Of a commit whose objects are
// not here (a partial clone), or damaged, nothing is told: it must not keep a session from being captured.
func (g *collector) wroteIn(c git.Commit) (changes []git.Change, out []session.Wrote) {
	changes, err := g.Repo.Changes(c.OID)
	if err != nil || len(changes) > maxChanges {
		return changes, nil
	}
	for _, ch := range changes {
		if ch.OID == "" || !storable(ch.Path) || ch.OldPath != "" && !storable(ch.OldPath) {
			continue
		}
		if ch.OldPath != "" {
			if err := g.edits.add(ch.Path, []editLine{{FormerPath: ch.OldPath}}); err != nil {
				g.editsLost = true
				g.out.Warnings = append(g.out.Warnings, err)
			}
		}
		edits := g.editsBefore(c, g.edits.ofPath(ch.Path))
		if len(edits) == 0 {
			continue
		}
		lines, err := g.addedLines(c, ch)
		if err == nil && len(lines.Added) <= maxAdded {
			out = append(out, slices.DeleteFunc(wroteLines(c, ch, lines, edits), func(w session.Wrote) bool { return w.Session == "" })...)
		}
	}
	return changes, out
}

// addedLines is what a commit brought into a file: of a merge what none of its parents has.
func (g *collector) addedLines(c git.Commit, ch git.Change) (history.Lines, error) {
	out, err := history.CompareBlobs(g.Repo, ch.Before, ch.OID)
	for _, parent := range c.Parents[min(1, len(c.Parents)):] {
		if err != nil {
			break
		}
		var there *worktree.Content
		if there, err = worktree.Open(g.Repo, parent); err != nil {
			break
		}
		var other history.Lines
		other, err = history.CompareBlobs(g.Repo, there.Blob(ch.Path, nil), ch.OID)
		there.Close()
		out.Gone = nil
		out.Added = slices.DeleteFunc(out.Added, func(i int) bool {
			_, brought := slices.BinarySearch(other.Added, i)
			return !brought
		})
	}
	return out, err
}

// editsBefore are the edits that were made before a commit, each once: those that a fork copied are its origin's, and those that were scrubbed
// nobody's. A record of these would bring back the path.
func (g *collector) editsBefore(c git.Commit, all []attribution.Edit) (out []attribution.Edit) {
	end := c.Committer.When.Add(time.Second) // git leaves out milliseconds
	at := map[string]int{}
	for _, e := range all {
		if !e.At.Before(end) || e.At.IsZero() { // nobody knows when: no record can say it
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

// isScrubbed reports whether an edit is of what its session, or one that this is a fork of, said before it was scrubbed.
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

// editKey is what an edit did, and when.
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

// originOf is the session of which one is a fork; "" where it is none.
func (g *collector) originOf(id string) string {
	if i := slices.IndexFunc(g.fresh, func(s *session.Session) bool { return s.ID == id }); i >= 0 && g.fresh[i].ForkedFrom != "" {
		return g.fresh[i].ForkedFrom
	}
	if k := g.st.sessionByID(id); k != nil {
		return k.ForkedFrom
	}
	return ""
}

func wroteLines(c git.Commit, ch git.Change, lines history.Lines, edits []attribution.Edit) (out []session.Wrote) {
	f := attribution.CommittedFile{Lines: attribution.Prints(lines.Text), Added: map[int]bool{}, Removed: attribution.Prints(lines.Gone)}
	for _, i := range lines.Added {
		f.Added[i] = true
	}
	for _, w := range attribution.Match(f, edits) {
		for i := range w.Lines {
			w.Lines[i]++ // as people count
		}
		out = append(out, session.Wrote{
			GitSHA: string(c.OID), Blob: string(ch.OID), Session: w.Session, Path: ch.Path,
			Lines: session.RangesOf(w.Lines), Gone: w.Removed, TS: w.At.UTC(),
		})
	}
	return out
}

// unrecorded leaves out what the ledgers say already.
func (st *state) unrecorded(all []session.Wrote) []session.Wrote {
	return slices.DeleteFunc(all, func(w session.Wrote) bool {
		_, said := slices.BinarySearch(st.Wrote, wroteKey(w))
		return said
	})
}

// wroteKey is a record as a number.
func wroteKey(w session.Wrote) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %s %s %d", w.GitSHA, w.Session, w.Path, w.Lines, w.Gone)
	return h.Sum64()
}

// scope says how far commits are looked at.
type scope struct {
	everywhere bool // at those of all refs; else at HEAD's
	again      bool // also at those that were looked at before
	most       int  // at how many, the newest; 0: all
}

// commitsToCompare are the commits that were not looked at yet, and those in which an edit may be that was not known when they
// were; the newest first. Older ones than the first session hold nothing of any.
func (g *collector) commitsToCompare(ctx context.Context, l scope) ([]git.Commit, error) {
	head, err := g.Repo.Head()
	tips := []git.OID{head.OID}
	if l.everywhere {
		tips, err = history.Tips(g.Repo)
	}
	if err != nil || len(tips) == 0 || tips[0] == "" {
		return nil, err
	}
	hide := g.st.Examined
	if l.again {
		hide = nil
	}
	out, all, err := g.commitsSince(ctx, tips, hide, g.earliestStart(), l.most)
	if err != nil {
		return nil, err
	}
	if all || l.everywhere {
		g.examined = examinedTips(g.st.Examined, tips, out, l.everywhere)
	}
	if !l.again && !g.newEditsSince.IsZero() {
		most := lookedAt
		if l.everywhere {
			most = l.most
		} else {
			tips = g.Repo.Heads()
		}
		late, _, err := g.commitsSince(ctx, tips, nil, g.newEditsSince.Truncate(time.Second), most)
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

// examinedTips are tips behind which everything was examined, once that holds of more. What is older than the first session is left out.
func examinedTips(before, tips []git.OID, commits []git.Commit, everywhere bool) []git.OID {
	behind, here := map[git.OID]bool{}, map[git.OID]bool{}
	for _, c := range commits {
		here[c.OID] = true
		for _, p := range c.Parents {
			behind[p] = true
		}
	}
	all := slices.Clone(before)
	if everywhere {
		all = slices.DeleteFunc(all, func(id git.OID) bool { return !slices.Contains(tips, id) })
	}
	all = append(all, slices.DeleteFunc(slices.Clone(tips), func(id git.OID) bool { return !here[id] })...)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(id git.OID) bool { return behind[id] })
}

// commitsSince are the commits that tips lead to and hide does not, made at a moment or later. It says whether these are all.
func (g *collector) commitsSince(ctx context.Context, tips, hide []git.OID, from time.Time, most int) (out []git.Commit, all bool, err error) {
	for c, err := range g.Repo.Newest(ctx, tips, hide) {
		switch {
		case errors.Is(err, git.ErrNotFound): // a gap in the history
			return out, true, nil
		case err != nil:
			return nil, false, err
		case c.Committer.When.Before(from):
			return out, true, nil
		case most > 0 && len(out) == most:
			return out, false, nil
		}
		out = append(out, c)
	}
	return out, true, ctx.Err()
}

// earliestStart is when the first of all sessions did.
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
	return first.Truncate(time.Second)
}
