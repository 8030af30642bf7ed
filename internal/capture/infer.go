package capture

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/trailer"
)

// planImport plans the entries of an import: first the sessions, tied to nothing; then a checkpoint for each earlier
// commit of which lines are theirs, or that names them; then which lines they wrote in other commits. Nothing is tied
// to HEAD just because the import runs there.
func (g *collector) planImport(ctx context.Context) ([]session.Entry, error) {
	var drafts []session.Entry
	if n := len(g.fresh); n > 0 {
		drafts = append(drafts, session.Entry{Subject: "import of " + session.CountNoun(n, "session")})
	}
	commits, err := g.commitsToCompare(ctx, comparedRange{allRefs: true, includeExamined: true})
	if err != nil {
		return nil, err
	}
	// missed.go need not look at commits that the reflogs hold now
	g.reflogs = marksBehind(history.Reflogs(g.Repo, g.st.Reflogs), g.st.Reflogs, nil)
	slices.Reverse(commits)
	seen := make([]comparedCommit, len(commits))
	for i, c := range commits {
		g.Progress.report(Comparing, i, len(commits))
		seen[i].Commit = c
		seen[i].changes, seen[i].wrote = g.wroteIn(ctx, c)
	}
	var rest []session.Wrote
	for _, c := range seen {
		d := g.inferCheckpoint(c)
		if d.Checkpoint == nil {
			rest = append(rest, g.st.unrecorded(c.wrote)...)
			continue
		}
		// Each checkpoint has a time of its own, to keep the order of the commits.
		d.Checkpoint.TS = g.now.Add(time.Duration(len(drafts)) * time.Millisecond)
		d.Wrote = g.st.unrecorded(c.wrote)
		drafts = append(drafts, d)
		for _, s := range g.fresh {
			if slices.ContainsFunc(d.Checkpoint.Links, func(l session.Link) bool { return l.Session == s.ID }) {
				g.titleByCommit(s, c.Subject())
			}
		}
	}
	if len(g.fresh) > 0 {
		drafts[0].Sessions = g.sessions() // with the titles that the commits gave them
	}
	return append(drafts, wroteEntries(rest)...), nil
}

// comparedCommit is a commit with the files that it changed, and which of its lines sessions wrote.
type comparedCommit struct {
	git.Commit
	changes []git.Change
	wrote   []session.Wrote
}

// wroteEntries is an entry for the lines that sessions wrote in commits without a new checkpoint; none for no lines.
func wroteEntries(wrote []session.Wrote) []session.Entry {
	if len(wrote) == 0 {
		return nil
	}
	commits := map[string]bool{}
	for _, w := range wrote {
		commits[w.GitSHA] = true
	}
	return []session.Entry{{Wrote: wrote, Subject: "lines of " + session.CountNoun(len(commits), "commit")}}
}

func (g *collector) isMine(c git.Commit) bool {
	return slices.ContainsFunc([]string{c.Committer.Email, c.Author.Email}, func(email string) bool {
		return strings.EqualFold(email, g.Email)
	})
}

// versionWithTies is the first version that reads the tie of a link, the terms of a call, and the states of memories.
const versionWithTies = "0.2.0"

// inferCheckpoint makes the checkpoint of an earlier commit: of one that names sessions, that git told them they made,
// or of which lines are theirs and that no checkpoint names yet. The entry is empty if nothing is tied to the commit.
func (g *collector) inferCheckpoint(c comparedCommit) session.Entry {
	recorded := g.st.Recorded[shaKey(string(c.OID))]
	mayWrite := len(c.Parents) <= 1 && !recorded
	known := g.namedBy(c.Commit)
	note := func(id string, kind session.TieKind, by string) {
		if known[id] == nil {
			known[id] = attribution.Evidence{}
		}
		known[id][kind] = by
	}
	for _, l := range g.linksTold(c.Commit) {
		note(l.Session, l.Tie, l.Evidence)
	}
	for _, w := range g.ofKnownSessions(slices.Clone(c.wrote)) {
		if mayWrite {
			note(w.Session, session.TieWrote, attribution.LinesOf(c.wrote, w.GitSHA, w.Session))
		}
	}
	var links []session.Link
	for _, id := range slices.Sorted(maps.Keys(known)) {
		links = append(links, known[id].Links(id, false)...)
	}
	if len(links) == 0 {
		return session.Entry{}
	}
	branch := "HEAD"
	if i := slices.IndexFunc(g.fresh, func(s *session.Session) bool { return s.ID == links[0].Session }); i >= 0 {
		branch = cmp.Or(g.fresh[i].Branch, branch)
	}
	cp := &session.Checkpoint{
		GitSHA: string(c.OID), GitBranch: branch, UserEmail: g.Email, TS: g.now,
		Via: session.ViaImport, Links: links,
	}
	if cp.ActorType, cp.AgentID = g.checkpointActor(); !recorded {
		cp.PatchID, cp.Files = history.PatchID(g.Repo, c.Commit), storableFiles(c.changes)
	}
	e := session.Entry{Checkpoint: cp, Subject: fmt.Sprintf("%.7s %s", c.OID, c.Subject())}
	if slices.ContainsFunc(links, func(l session.Link) bool { return l.Tie != 0 }) {
		e.Needs = versionWithTies
	}
	return e
}

// namedBy is which sessions Stated or the commit's own message names: of this import, if the commit is not older than
// their new turns.
func (g *collector) namedBy(c git.Commit) map[string]attribution.Evidence {
	out := map[string]attribution.Evidence{}
	var stated []session.NativeRef
	if g.Stated != nil {
		stated = g.Stated(c)
	}
	inMessage := namedInMessage(c)
	for _, s := range g.fresh {
		if attribution.IsCommittedBefore(c.Committer.When, s.FirstTS()) {
			continue
		}
		switch {
		case slices.Contains(inMessage, s.NativeID):
			out[s.ID] = attribution.Evidence{session.TieNamed: attribution.ByTrailer}
		case slices.ContainsFunc(stated, func(n session.NativeRef) bool {
			return n.NativeID == s.NativeID && (n.Source == "" || n.Source == s.Source)
		}):
			out[s.ID] = attribution.Evidence{session.TieNamed: attribution.ByRecord}
		}
	}
	return out
}

// namedInMessage are the native IDs of the sessions that a commit's message names. (Entire's line names a checkpoint;
// Stated resolves that.)
func namedInMessage(c git.Commit) (ids []string) {
	for _, s := range trailer.InMessage(c.Message) {
		if s.Session != "" {
			ids = append(ids, s.Session)
		}
	}
	return ids
}
