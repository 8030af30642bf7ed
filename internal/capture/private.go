package capture

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/command"
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
			(strings.HasPrefix(f.NativeID, name) || n.String() == name) {
			out = append(out, n)
		}
		return nil
	})
	return out, err
}

// noteCommands notes of a session whether its commands lead to a folder of notes, as agents wrote them: what is stored
// of a command may be cut before that.
func (g *collector) noteCommands(s transcript.Part) {
	by := session.NativeRef{Source: s.Source, NativeID: s.NativeID}
	for _, f := range g.listNoteFolders() {
		names := func(c session.ToolCall) bool { return command.LeadsTo(c.Cmd, f.Dir, g.Home, g.Repo.Layout().WorkTree) }
		if !slices.Contains(g.st.NoteShells[f.Dir], by) && slices.ContainsFunc(s.ToolCalls, names) {
			if g.st.NoteShells == nil {
				g.st.NoteShells = map[string][]session.NativeRef{}
			}
			g.st.NoteShells[f.Dir] = append(g.st.NoteShells[f.Dir], by)
		}
	}
}

// isNotePrivate reports whether a file's notes are not to be sent.
func (g *collector) isNotePrivate(path string, was bool) bool {
	return was || !g.Notes.Sent || g.isWrittenPrivately(path)
}

// isWrittenPrivately reports whether a private session is known to have written to a file, or may have: a command of
// its names the folder.
func (g *collector) isWrittenPrivately(path string) bool {
	if len(g.Private.Sessions) == 0 {
		return false
	}
	private := g.privateIDs()
	short := path
	if rest, ok := strings.CutPrefix(path, g.Home+"/"); ok && g.Home != "" {
		short = "~/" + rest // as redaction leaves it
	}
	for _, k := range g.st.Sessions {
		if private[k.ID] && (!k.Pending[path].IsZero() || !k.Pending[short].IsZero()) {
			return true
		}
	}
	for dir, by := range g.st.NoteShells {
		isPrivate := func(n session.NativeRef) bool { return private[g.sessionID(n.Source, n.NativeID)] }
		if strings.HasPrefix(path, dir+"/") && slices.ContainsFunc(by, isPrivate) {
			return true
		}
	}
	return slices.ContainsFunc(g.fresh, func(s *session.Session) bool {
		return private[s.ID] && slices.ContainsFunc(s.ToolCalls, func(c session.ToolCall) bool {
			return c.EditedPath() == path || c.EditedPath() == short
		})
	})
}
