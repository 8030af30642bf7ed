package capture

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
)

// afterLast is how long after a session's last turn a commit may still be its work.
const afterLast = time.Hour

// span is a session with the time in which it can have made commits.
type span struct {
	s        *session.Session
	from, to time.Time
	edits    map[string]bool
}

// imported plans the import: the sessions as they are, tied to nothing, and then one
// checkpoint for each earlier commit that some of them plausibly made. Nothing is tied to
// HEAD just because the import happened there.
func (g *gathered) imported(ctx context.Context) ([]session.Entry, error) {
	if len(g.fresh) == 0 {
		return nil, nil
	}
	subject := "import of 1 session"
	if n := len(g.fresh); n > 1 {
		subject = fmt.Sprintf("import of %d sessions", n)
	}
	drafts := []session.Entry{{Sessions: g.sessions(), Subject: subject}}
	spans := g.spans()
	commits, err := g.candidates(ctx, spans)
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		d, err := g.infer(c, spans)
		if err != nil {
			return nil, err
		}
		if d.Checkpoint != nil {
			// A time of its own keeps the order of the commits.
			d.Checkpoint.TS = g.now.Add(time.Duration(len(drafts)) * time.Millisecond)
			drafts = append(drafts, d)
		}
	}
	return drafts, nil
}

func (g *gathered) spans() []span {
	var out []span
	for _, s := range g.fresh {
		sp := span{s: s, from: s.FirstTS().Truncate(time.Second), to: s.LastTS().Add(afterLast), edits: map[string]bool{}}
		for _, c := range s.ToolCalls {
			if session.Edits(c.Tool) && c.Path != "" {
				sp.edits[c.Path] = true
			}
		}
		if len(sp.edits) > 0 && len(s.Turns) > 0 {
			out = append(out, sp)
		}
	}
	return out
}

// candidates are this user's own commits, on any branch, that were made while one of the
// sessions was open and that no checkpoint names; the oldest first.
func (g *gathered) candidates(ctx context.Context, spans []span) ([]git.Commit, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	first := slices.MinFunc(spans, func(a, b span) int { return a.from.Compare(b.from) }).from
	tips, err := g.codeTips()
	if err != nil {
		return nil, err
	}
	var out []git.Commit
	for c, err := range g.Repo.Newest(tips) {
		if err != nil {
			return nil, err
		}
		// The walk goes by time, so everything behind a commit older than all sessions is
		// older, too, but for clocks that were wrong.
		if c.Committer.When.Before(first) || ctx.Err() != nil {
			break
		}
		if len(c.Parents) < 2 && g.isMine(c) && !g.st.Recorded[shaKey(string(c.OID))] {
			out = append(out, c)
		}
	}
	slices.Reverse(out)
	return out, ctx.Err()
}

func (g *gathered) isMine(c git.Commit) bool {
	return strings.EqualFold(c.Committer.Email, g.Email) || strings.EqualFold(c.Author.Email, g.Email)
}

func (g *gathered) codeTips() ([]git.OID, error) {
	refs, err := g.Repo.Refs("refs/heads/*")
	if err != nil {
		return nil, err
	}
	var tips []git.OID
	for name, id := range refs {
		if !ledger.IsLedger(name) {
			tips = append(tips, id)
		}
	}
	head, err := g.Repo.Head()
	if err == nil && head.OID != "" {
		tips = append(tips, head.OID)
	}
	slices.Sort(tips)
	return slices.Compact(tips), nil
}

// infer ties the sessions that were open at a commit, and edited a file of it, to a
// checkpoint of that commit. The entry is empty when there are none.
func (g *gathered) infer(c git.Commit, spans []span) (session.Entry, error) {
	var open []span
	for _, sp := range spans {
		if !c.Committer.When.Before(sp.from) && !c.Committer.When.After(sp.to) {
			open = append(open, sp)
		}
	}
	if len(open) == 0 {
		return session.Entry{}, nil
	}
	changes, err := g.Repo.Changes(c.OID)
	if err != nil {
		return session.Entry{}, err
	}
	var links []session.Link
	for _, sp := range open {
		if slices.ContainsFunc(changes, func(ch git.Change) bool { return sp.edits[ch.Path] || sp.edits[ch.OldPath] }) {
			links = append(links, session.Link{Session: sp.s.ID, Inferred: true})
		}
	}
	if len(links) == 0 {
		return session.Entry{}, nil
	}
	slices.SortFunc(links, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return session.Entry{
		Checkpoint: &session.Checkpoint{
			GitSHA: string(c.OID), GitBranch: cmp.Or(open[0].s.Branch, "HEAD"), UserEmail: g.Email, TS: g.now,
			ActorType: g.doer(), PatchID: g.Repo.PatchID(c), Via: session.ViaImport, Files: files(changes), Links: links,
		},
		Subject: fmt.Sprintf("%.7s %s", c.OID, c.Subject()),
	}, nil
}
