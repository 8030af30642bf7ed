package attribution

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/session"
)

// SessionWork is what is known of the sessions of a checkpoint.
type SessionWork interface {
	// Edited are the paths that a session edited through its tools since its last commit that holds them. The value is
	// false of an import's edit, which a commit may have taken before: it ties nothing by itself.
	Edited(id string) map[string]bool
	// Part is what the checkpoint adds of a session; false for nothing.
	Part(id string) (session.Session, bool)
}

// Share says that a file of a checkpoint belongs to a session, and by which rule: it wrote to it through a tool, made
// the commit, or is named by it.
type Share struct {
	File    session.File
	Session string
	Kind    session.TieKind
}

// maxShares is how many files of a commit belong to sessions at most: as of one of 2,000 files behind 50 sessions.
const maxShares = 100_000

// Files makes one link of all that a checkpoint says of a session, and sets by which rule that is tied to the commit,
// and by which evidence: 0 for a session that is not. It drops what an import guessed by times. It gives the files of
// the checkpoint to those of these sessions who wrote lines of them, else to those who edited them, else to those who
// made the commit or are named by it. So a session is not found by a file that only its neighbour in the same commit
// touched.
func Files(cp *session.Checkpoint, wrote []session.Wrote, work SessionWork) (out []Share) {
	g := assignment{cp, wrote, work, map[string]Evidence{}}
	running := g.runningCommit()
	var links []session.Link
	for _, l := range cp.Links {
		if _, again := g.known[l.Session]; again {
			continue
		}
		all := slices.DeleteFunc(slices.Clone(cp.Links), func(o session.Link) bool { return o.Session != l.Session })
		e := g.evidence(l.Session, all, running)
		g.known[l.Session] = e
		l.Tie, l.Evidence = e.Tie()
		if _, isPart := work.Part(l.Session); l.Tie != 0 || isPart || cp.Via != session.ViaImport {
			links = append(links, l)
		}
	}
	cp.Links = links
	for _, f := range cp.Files {
		if len(out) < maxShares {
			out = append(out, g.owners(f)...)
		}
	}
	return out
}

// assignment is one call of Files.
type assignment struct {
	cp    *session.Checkpoint
	wrote []session.Wrote
	work  SessionWork
	known map[string]Evidence // by session
}

// runningCommit is the session whose call `git commit` ran when the checkpoint was made, if one alone had such a call.
func (g assignment) runningCommit() (only string) {
	for _, l := range g.cp.Links {
		p, ok := g.work.Part(l.Session)
		if !ok || g.cp.Via != session.ViaCommit || CommitRunning(p) == "" || l.Session == only {
			continue
		}
		if only != "" {
			return ""
		}
		only = l.Session
	}
	return only
}

// evidence is what the ledger says of a session and the commit: what the capture stored or, of earlier versions, what
// can be told from the rest.
func (g assignment) evidence(id string, links []session.Link, running string) (e Evidence) {
	e = Evidence{session.TieWrote: LinesOf(g.wrote, g.cp.GitSHA, id)}
	stored := false
	for _, l := range links {
		switch {
		case l.Inferred, l.Tie == session.TieInferred: // by times alone
			stored = true
		case l.Evidence == "" && l.Tie == session.TieTalked && g.cp.Via == session.ViaImport:
			stored, e[session.TieNamed] = true, ByRecord
		case l.Tie != 0:
			stored = true
			e.add(l)
		}
	}
	if stored {
		return e
	}
	part, isPart := g.work.Part(id)
	edited := g.work.Edited(id)
	if i := slices.IndexFunc(g.cp.Files, func(f session.File) bool {
		return edited[f.Path] ||
			edited[f.OldPath]
	}); i >= 0 {
		e[session.TieEdited] = g.cp.Files[i].Path
	}
	if running == id {
		e[session.TieMade] = CommitRunning(part)
	}
	switch {
	case len(g.cp.Files) == 0 && slices.Contains([]string{
		session.ViaPush, session.ViaSync, session.ViaManual,
		session.ViaMerge,
	}, g.cp.Via):
		// the commit was made before the capture, or by others
	case isPart:
		e[session.TieTalked] = ActiveIn(part)
	case g.cp.Via != session.ViaImport:
		e[session.TieTalked] = byUse
	case !g.hasParts() && !g.tookLines(id): // version 0.1.0 took removed lines for a tie
		e[session.TieNamed] = ByRecord
	}
	return e
}

// hasParts reports whether the checkpoint is no import, but of a commit that no hook saw.
func (g assignment) hasParts() bool {
	return slices.ContainsFunc(g.cp.Links, func(l session.Link) bool {
		_, ok := g.work.Part(l.Session)
		return ok
	})
}

// tookLines reports whether a session took lines of a file away.
func (g assignment) tookLines(id string) bool {
	return slices.ContainsFunc(g.wrote, func(w session.Wrote) bool {
		return w.Session == id && w.GitSHA == g.cp.GitSHA &&
			len(w.Lines) == 0
	})
}

// owners are the sessions of a file by the first rule that names any.
func (g assignment) owners(f session.File) (out []Share) {
	for _, owns := range []func(l session.Link) session.TieKind{
		func(l session.Link) session.TieKind { return g.wroteIn(l.Session, f) },
		func(l session.Link) session.TieKind { return g.edited(l.Session, f) },
		func(l session.Link) session.TieKind { return g.ofWhole(l.Session) },
	} {
		for _, l := range g.cp.Links {
			if kind := owns(l); kind != 0 && l.Tie != 0 && l.Tie != session.TieTalked {
				out = append(out, Share{f, l.Session, kind})
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

func (g assignment) wroteIn(id string, f session.File) session.TieKind {
	if slices.ContainsFunc(g.wrote, func(w session.Wrote) bool {
		return w.Session == id && w.GitSHA == g.cp.GitSHA && w.Path == f.Path && len(w.Lines) > 0
	}) {
		return session.TieEdited
	}
	return 0
}

func (g assignment) edited(id string, f session.File) session.TieKind {
	paths := g.work.Edited(id)
	if _, ok := paths[f.Path]; ok {
		return session.TieEdited
	}
	if _, ok := paths[f.OldPath]; ok {
		return session.TieEdited
	}
	return 0
}

func (g assignment) ofWhole(id string) session.TieKind {
	if g.cp.Via == session.ViaMerge { // others made what it brings
		return 0
	}
	for kind := session.TieWrote; kind <= session.TieTalked; kind++ {
		if kind.IsOfWhole() && g.known[id][kind] != "" {
			return kind
		}
	}
	return 0
}
