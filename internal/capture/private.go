package capture

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// splitPrivate splits entries into those that may be sent and private ones, which isPrivate marks.
func (g *collector) splitPrivate(drafts []session.Entry) (split []session.Entry, isPrivate []bool) {
	if len(g.Private.Sessions)+len(g.privateNotes) == 0 {
		return drafts, make([]bool, len(drafts))
	}
	private := g.privateIDs()
	maps.Copy(private, g.privateNotes)
	for _, d := range drafts {
		rest, those := d.Split(func(id string) bool { return private[id] })
		for i, e := range []session.Entry{those, rest} {
			if e.SaysAnything() {
				split, isPrivate = append(split, e), append(isPrivate, i == 0)
			}
		}
	}
	return split, isPrivate
}

// privateIDs are the private sessions, with all that they spawned and all that was forked from them.
func (g *collector) privateIDs() map[string]bool {
	ids := map[string]bool{}
	for _, n := range slices.Concat(g.Private.Sessions, g.privateKin) {
		if id := g.sessionID(n.Source, n.NativeID); id != "" {
			ids[id] = true
		}
	}
	for before := -1; before < len(ids); {
		before = len(ids)
		for _, k := range g.st.Sessions {
			if ids[k.Parent] || ids[k.ForkedFrom] {
				ids[k.ID] = true
			}
		}
		for _, s := range g.fresh {
			if ids[s.Parent] || ids[s.ForkedFrom] {
				ids[s.ID] = true
			}
		}
	}
	return ids
}

// has reports whether a session is private, by its agent and the agent's ID of it.
func (p Private) has(source, native string) bool {
	return native != "" && slices.Contains(p.Sessions, session.NativeRef{Source: source, NativeID: native})
}

// SessionsNamed are the sessions with transcripts on this machine whose agent's ID is or begins with name, or
// AGENT/ID is it.
func (c *Capturer) SessionsNamed(ctx context.Context, name string) (out []session.NativeRef, err error) {
	_, err = c.eachFile(ctx, newState(), 0, func(rd reader, f transcript.File) error {
		if n := (session.NativeRef{Source: rd.agent.Name(), NativeID: f.NativeID}); !slices.Contains(out, n) &&
			(strings.HasPrefix(f.NativeID, name) || n.Source+"/"+n.NativeID == name) {
			out = append(out, n)
		}
		return nil
	})
	return out, err
}
