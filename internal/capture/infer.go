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

// planImport plans the import: the sessions as they are, tied to nothing, then one checkpoint for each earlier commit behind which some
// of them stand (attribution.TieImported), and what they wrote in any commit. Nothing is tied to HEAD just because the import happened there.
func (g *collector) planImport(ctx context.Context) ([]session.Entry, error) {
	var drafts []session.Entry
	if n := len(g.fresh); n > 0 {
		drafts = append(drafts, session.Entry{Sessions: g.sessions(), Subject: "import of " + session.Count(n, "session")})
	}
	spans := g.spans()
	commits, err := g.commitsToCompare(ctx, scope{everywhere: true, again: true})
	if err != nil {
		return nil, err
	}
	g.reflogs = marksBehind(history.Reflogs(g.Repo, g.st.Reflogs), g.st.Reflogs, nil) // no commit is missed that stands there
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
		// A time of its own keeps the order of the commits.
		d.Checkpoint.TS = g.now.Add(time.Duration(len(drafts)) * time.Millisecond)
		d.Wrote = g.st.unrecorded(c.wrote)
		drafts = append(drafts, d)
	}
	return append(drafts, wroteEntry(rest)...), nil
}

// comparedCommit is a commit with what it changed, and what sessions wrote in it.
type comparedCommit struct {
	git.Commit
	changes []git.Change
	wrote   []session.Wrote
}

// ownAddresses are those of this user, in lower case: those that the mailmap says, and those of the authors of commits in which
// lines of the transcripts are.
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

// wroteEntry says what sessions wrote in commits of which no checkpoint is made now.
func wroteEntry(wrote []session.Wrote) []session.Entry {
	if len(wrote) == 0 {
		return nil
	}
	commits := map[string]bool{}
	for _, w := range wrote {
		commits[w.GitSHA] = true
	}
	return []session.Entry{{Wrote: wrote, Subject: "lines of " + session.Count(len(commits), "commit")}}
}

func (g *collector) isMine(c git.Commit) bool {
	return slices.ContainsFunc([]string{c.Committer.Email, c.Author.Email}, func(email string) bool {
		return strings.EqualFold(email, g.Email) || g.mine[strings.ToLower(email)]
	})
}

// spans are when sessions were in use: those of this import so far, by their turns, and those that the ledgers know.
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
		for n := 0; parents[out[i].Top] != "" && n < maxNames; n++ { // who means harm names them in a ring
			out[i].Top = parents[out[i].Top]
		}
	}
	return out
}

// knowsTies is the version that knows what a link's tie is.
const knowsTies = "0.2.0"

// inferCheckpoint makes the checkpoint of a commit that some sessions made by the word of who kept them, or of this user's own, where no checkpoint
// names it already. The entry is empty when there are none.
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
		e.Needs = knowsTies
	}
	return e
}

// trailer is a line of a commit's message by which an agent's host names its session, mostly by an address that ends in the session's ID. Entire's
// names a checkpoint, which Stated knows.
var trailer = lazy.Expr(`(?mi)^(?:claude|duo)-session:[ \t]*(?:\S*/)?([\w-]{8,100})[ \t]*$`)

// statedLinks ties a commit to sessions of this import, by the word of who kept them or of the commit's own message: where it is no older than what
// is new of them.
func (g *collector) statedLinks(c git.Commit) (links []session.Link, said bool) {
	tie := func(s *session.Session) {
		named := func(l session.Link) bool { return l.Session == s.ID }
		if !attribution.Before(c.Committer.When, s.FirstTS()) && !slices.ContainsFunc(links, named) {
			links = append(links, session.Link{Session: s.ID, Tie: session.TieTalked})
		}
	}
	var named []session.NativeRef
	if g.Stated != nil {
		named, said = g.Stated(c)
	}
	inMessage := trailer.FindAllStringSubmatch(c.Message, maxTrailers)
	for _, s := range g.fresh {
		stated := slices.ContainsFunc(named, func(n session.NativeRef) bool {
			return n.NativeID == s.NativeID && (n.Source == "" || n.Source == s.Source)
		})
		if slices.ContainsFunc(inMessage, func(m []string) bool { return m[1] == s.NativeID }) {
			stated, said = true, true
		}
		if stated {
			tie(s)
		}
	}
	slices.SortFunc(links, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return links, said
}

// maxTrailers is how many sessions a commit's message can name.
const maxTrailers = 20
