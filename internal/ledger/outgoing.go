package ledger

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Outgoing is what a Push would send, as far as is known without asking the remote.
type Outgoing struct {
	Commits  int
	Bytes    uint64 // of segments
	Sessions []Part // in their order
	Memories int
}

// Part is what goes of one session.
type Part struct {
	ID, Source       string
	Prompt           string // the beginning of the first one that goes; "" for none
	Turns, ToolCalls int
	Bytes            int // of text
}

// Outgoing lists what the remote is not known to hold of one's own ledger.
func (l *Ledger) Outgoing(ctx context.Context, remote string) (out Outgoing, err error) {
	tip, err := l.Tip()
	if err != nil || tip == "" {
		return out, err
	}
	had := l.lastSeenAt(remote)
	if _, err := l.repo.Commit(had); err != nil {
		had = "" // nothing is known, then
	}
	commits, err := Since(ctx, l.repo, tip, had)
	if err != nil {
		return out, err
	}
	out.Commits = len(commits)
	for _, c := range commits {
		for i := range c.Segments {
			size, err := c.Segments[i].Bytes(l.repo)
			if err != nil {
				return Outgoing{}, err
			}
			out.Bytes += size
		}
	}
	err = eachEntry(ctx, l.repo, commits, func(_ Commit, e session.Entry) error {
		out.Memories += len(e.Memories)
		for _, s := range e.Sessions {
			out.add(s)
		}
		return nil
	})
	return out, err
}

func (o *Outgoing) add(s session.Session) {
	i := slices.IndexFunc(o.Sessions, func(p Part) bool { return p.ID == s.ID })
	if i < 0 {
		i = len(o.Sessions)
		o.Sessions = append(o.Sessions, Part{ID: s.ID, Source: s.Source})
	}
	p := &o.Sessions[i]
	p.Turns, p.ToolCalls = p.Turns+len(s.Turns), p.ToolCalls+len(s.ToolCalls)
	for _, t := range s.Turns {
		p.Bytes += len(t.Content)
		if t.Role == session.RoleHuman {
			first, _, _ := strings.Cut(strings.TrimSpace(t.Content), "\n")
			p.Prompt = cmp.Or(p.Prompt, session.Shorten(first, session.MaxTitle))
		}
	}
	for _, c := range s.ToolCalls {
		p.Bytes += len(c.Path) + len(c.Cmd) + len(c.Terms)
	}
}
