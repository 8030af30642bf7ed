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
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// planImport plans the entries of an import: first the sessions, tied to nothing; then a checkpoint for each earlier commit to which some
// of them are tied (attribution.TieImported); then which lines they wrote in other commits. Nothing is tied to HEAD just because the import runs there.
func (g *collector) planImport(ctx context.Context) ([]session.Entry, error) {
	var drafts []session.Entry
	if n := len(g.fresh); n > 0 {
		drafts = append(drafts, session.Entry{Sessions: g.sessions(), Subject: "import of " + session.CountNoun(n, "session")})
	}
	spans := g.spans()
	commits, err := g.commitsToCompare(ctx, comparedRange{allRefs: true, includeExamined: true})
	if err != nil {
		return nil, err
	}
	g.reflogs = marksBehind(history.Reflogs(g.Repo, g.st.Reflogs), g.st.Reflogs, nil) // missed.go need not look at commits that the reflogs hold now
	slices.Reverse(commits)
	seen := make([]comparedCommit, len(commits))
	for i, c := range commits {
		g.Progress.report(Comparing, i, len(commits))
		seen[i].Commit = c
		seen[i].changes, seen[i].wrote = g.wroteIn(c)
	}
	g.mine = g.ownAddresses(ctx, seen)
	var rest []session.Wrote
	for _, c := range seen {
		d := g.inferCheckpoint(c, spans)
		if d.Checkpoint == nil {
			rest = append(rest, g.st.unrecorded(c.wrote)...)
			continue
		}
		// Each checkpoint has a time of its own, to keep the order of the commits.
		d.Checkpoint.TS = g.now.Add(time.Duration(len(drafts)) * time.Millisecond)
		d.Wrote = g.st.unrecorded(c.wrote)
		drafts = append(drafts, d)
	}
	return append(drafts, wroteEntries(rest)...), nil
}

// comparedCommit is a commit with the files that it changed, and which of its lines sessions wrote.
type comparedCommit struct {
	git.Commit
	changes []git.Change
	wrote   []session.Wrote
}

// ownAddresses are the addresses of this user, in lower case: those that the mailmap knows, and those of the authors of commits that hold
// lines of this user's transcripts.
func (g *collector) ownAddresses(ctx context.Context, commits []comparedCommit) map[string]bool {
	own := strings.ToLower(g.Email)
	mine, all := map[string]bool{own: true}, map[string]bool{own: true}
	for _, c := range commits {
		author := strings.ToLower(c.Author.Email)
		all[author], all[strings.ToLower(c.Committer.Email)] = true, true
		mine[author] = mine[author] || len(c.wrote) > 0
	}
	proper, err := history.Mailmap(ctx, g.Repo, slices.Sorted(maps.Keys(all)))
	if err != nil {
		g.out.Warnings = append(g.out.Warnings, err)
	}
	for address, is := range proper {
		mine[address] = mine[address] || is.Email == proper[own].Email
	}
	return mine
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
		return strings.EqualFold(email, g.Email) || g.mine[strings.ToLower(email)]
	})
}

// spans say when sessions were in use: the sessions that this import read, by their turns, and the sessions in the ledgers.
func (g *collector) spans() (out []attribution.Span) {
	parents := map[string]string{}
	for _, s := range g.fresh {
		parents[s.ID] = s.Parent
		for _, t := range s.Turns {
			g.said[s.ID] = append(g.said[s.ID], t.TS)
		}
	}
	for id, turns := range g.said {
		slices.SortFunc(turns, time.Time.Compare)
		out = append(out, attribution.Span{ID: id, Turns: turns})
	}
	for _, k := range g.st.Sessions {
		parents[k.ID] = k.Parent
		if len(g.said[k.ID]) == 0 {
			out = append(out, attribution.Span{ID: k.ID, From: k.First, To: k.Last})
		}
	}
	for i := range out {
		out[i].Top = out[i].ID
		for n := 0; parents[out[i].Top] != "" && n < maxNames; n++ { // a hostile ledger may name parents in a cycle
			out[i].Top = parents[out[i].Top]
		}
	}
	return out
}

// versionWithTies is the first version that reads the tie of a link.
const versionWithTies = "0.2.0"

// inferCheckpoint makes the checkpoint of an earlier commit: of one for which statedLinks names sessions, or of this user's own that no checkpoint
// names yet. The entry is empty if nothing is tied to the commit.
func (g *collector) inferCheckpoint(c comparedCommit, spans []attribution.Span) session.Entry {
	recorded := g.st.Recorded[shaKey(string(c.OID))]
	links, said := g.statedLinks(c.Commit)
	if len(c.Parents) <= 1 && g.isMine(c.Commit) && !recorded {
		for _, l := range attribution.TieImported(attribution.Committed{At: c.Committer.When, Files: storableFiles(c.changes), Wrote: c.wrote}, spans) {
			// Before the last round other sessions are still to be read.
			if guessed := l.Inferred && (said || g.moreLeft); !guessed && !slices.ContainsFunc(links, func(s session.Link) bool { return s.Session == l.Session }) {
				links = append(links, l)
			}
		}
	}
	if len(links) == 0 {
		return session.Entry{}
	}
	branch := "HEAD"
	if i := slices.IndexFunc(g.fresh, func(s *session.Session) bool { return s.ID == links[0].Session }); i >= 0 {
		branch = cmp.Or(g.fresh[i].Branch, branch)
	}
	cp := &session.Checkpoint{GitSHA: string(c.OID), GitBranch: branch, UserEmail: g.Email, TS: g.now, Via: session.ViaImport, Links: links}
	if cp.ActorType, cp.AgentID = g.checkpointActor(); !recorded {
		cp.PatchID, cp.Files = history.PatchID(g.Repo, c.Commit), storableFiles(c.changes)
	}
	e := session.Entry{Checkpoint: cp, Subject: fmt.Sprintf("%.7s %s", c.OID, c.Subject())}
	if slices.ContainsFunc(links, func(l session.Link) bool { return l.Tie != 0 }) {
		e.Needs = versionWithTies
	}
	return e
}

// trailer matches a trailer of a commit message in which an agent's host names its session, mostly as an address that ends in the session's ID.
// (Entire's trailer names a checkpoint; Stated resolves that.)
var trailer = lazy.Expr(`(?mi)^(?:claude|duo)-session:[ \t]*(?:\S*/)?([\w-]{8,100})[ \t]*$`)

// statedLinks ties a commit to those sessions of this import that Stated or the commit's own message names, if the commit is not older than their new
// turns.
func (g *collector) statedLinks(c git.Commit) (links []session.Link, anyNamed bool) {
	tie := func(s *session.Session) {
		named := func(l session.Link) bool { return l.Session == s.ID }
		if !attribution.IsCommittedBefore(c.Committer.When, s.FirstTS()) && !slices.ContainsFunc(links, named) {
			links = append(links, session.Link{Session: s.ID, Tie: session.TieTalked})
		}
	}
	var named []session.NativeRef
	if g.Stated != nil {
		named, anyNamed = g.Stated(c)
	}
	inMessage := trailer.FindAllStringSubmatch(c.Message, maxTrailers)
	for _, s := range g.fresh {
		stated := slices.ContainsFunc(named, func(n session.NativeRef) bool {
			return n.NativeID == s.NativeID && (n.Source == "" || n.Source == s.Source)
		})
		if slices.ContainsFunc(inMessage, func(m []string) bool { return m[1] == s.NativeID }) {
			stated, anyNamed = true, true
		}
		if stated {
			tie(s)
		}
	}
	slices.SortFunc(links, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return links, anyNamed
}

// maxTrailers is how many trailers of a commit message count.
const maxTrailers = 20
