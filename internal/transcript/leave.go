package transcript

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// A session belongs to the repository in whose work tree its agent works at the moment. Here it begins with
// the first record made in this one. A part made in another one is left out, and a turn that says
// session.Elsewhere stands for it where something made here follows. What is made in no repository (a
// temporary folder, one that is gone) belongs to the one where the session was before; before it was in any,
// to none. What is said before a record names a folder belongs where that folder is.

// An edit of a file of this repository belongs here from wherever it was made: by a session of another repository (a
// superproject, the clone beside this one), or of a folder above. It comes with the prompt that led to it, and is all
// that is taken of there.

// workElsewhere is what a session does in other repositories.
type workElsewhere struct {
	mark  *session.Turn // stands for what was left out and nothing has followed yet; nil: nothing was
	repos []string      // in which that was, where they may be named
	from  int64         // offset of the record with which that part begins; -1: it is here, and mark is nil
	ever  bool          // something was left out, in this read or before
}

// moveTo notes that a record names a folder.
func (d *decoder) moveTo(p *part, to whereabouts) {
	if p.from == "" {
		p.from = p.cwd
	}
	if to == nowhere && p.where != unknown {
		return
	}
	if !p.begun && to != inside && p.where != to {
		d.dropUnbegun(p, to)
	}
	p.where = to
	switch {
	case to == outside && p.leave.from < 0:
		p.leave.from = d.start
	case to == inside && p.leave.mark == nil:
		p.leave.from = -1
	}
	if to == inside && !p.begun {
		p.begun = true
		if p.first >= 0 {
			d.out = d.start
		}
	}
}

// enterByEdit takes an edit here that is made from elsewhere: what was left out before has its mark, and the last
// prompt is kept.
func (d *decoder) enterByEdit(p *part) {
	prompt := p.passed
	p.passed = nil
	if prompt != nil {
		if m := p.leave.mark; m != nil && m.Role == prompt.Role && m.TS.Equal(prompt.TS) {
			p.leave.mark, p.leave.repos = nil, nil // nothing else was left out
		}
		p.admitsFrom(inside, prompt.Role, prompt.TS)
		p.add(prompt.Role, prompt.Content, prompt.TS, d.start)
	}
	p.begun, p.leave.ever, p.leave.from = true, true, -1
	if d.isOfSeveral(p.cwd) {
		p.where = outside
	}
}

// isOfSeveral reports whether a session that was begun in a folder, and works there, is of several repositories, of
// which each has its own part.
func (d *decoder) isOfSeveral(cwd string) bool {
	return cwd == d.started && d.places.whereIs(cwd) == nowhere && d.places.isAbove(cwd)
}

// noteLeftOut notes that what the record says is not taken, and names some paths. One of which something else was taken
// is not read again.
func (d *decoder) noteLeftOut(p *part, paths ...string) {
	d.noteRepositories(p, paths)
	if p.where == outside && p.leave.from < 0 && d.out < d.start {
		p.leave.from = d.start
	}
}

// noteRepositories notes in which repositories that is which the mark stands for, of those that may be named.
func (d *decoder) noteRepositories(p *part, paths []string) {
	if p.leave.mark == nil || d.opt.NameRepo == nil {
		return
	}
	dirs := []string{p.cwd}
	for _, path := range paths {
		dirs = append(dirs, d.folderOf(p, path))
	}
	for _, dir := range dirs {
		if repo := d.places.locate(dir).repo; repo != "" {
			if name := d.opt.NameRepo(repo); name != "" && !slices.Contains(p.leave.repos, name) {
				p.leave.repos = append(p.leave.repos, name)
			}
		}
	}
}

// folderOf is the folder of a file that a call names.
func (d *decoder) folderOf(p *part, path string) string {
	if path = d.places.asLocalPath(path); !filepath.IsAbs(path) && filepath.IsAbs(p.cwd) {
		path = filepath.Join(p.cwd, path)
	}
	return filepath.Dir(path)
}

// keepEditsHere reports whether a call edits files of this repository, and drops the call's other files. A file belongs
// to the repository of the innermost worktree that holds it.
func (d *decoder) keepEditsHere(p *part, u *toolUse) bool {
	isHere := func(path string) bool { return d.places.whereIs(d.folderOf(p, path)) == inside }
	if u.act != session.ActEdit || !slices.ContainsFunc(u.paths, isHere) {
		return false
	}
	u.paths = slices.DeleteFunc(slices.Clone(u.paths), func(path string) bool { return !isHere(path) })
	u.edits = slices.DeleteFunc(u.edits, func(e Edit) bool { return !isHere(e.Path) })
	return true
}

// dropUnbegun takes out of a session that has not begun what it holds, now that it stands elsewhere.
func (d *decoder) dropUnbegun(p *part, at whereabouts) {
	if len(p.Turns) > 0 {
		p.admitsFrom(at, p.Turns[0].Role, p.Turns[0].TS)
	} else if len(p.ToolCalls) > 0 {
		p.admitsFrom(at, session.RoleAssistant, d.ts)
	}
	d.noteRepositories(p, nil)
	p.Turns, p.ToolCalls, p.Edits, p.calls, p.first, p.queue.taken = nil, nil, nil, make(map[string][]int), -1, nil
	p.Usage, p.at.turns, p.at.calls, p.at.edits, p.at.usage = nil, nil, nil, nil, nil
	p.Commits, p.at.commits = nil, nil
	for id := range p.heard.pending {
		delete(d.open, id)
	}
	p.command = ""
	p.Outputs, p.heard, p.counted = nil, outputsRead{}, make(map[string]int)
	p.model = modelTrack{now: p.model.now, told: -1}
	if at == outside {
		p.Title, p.TitleKind = "", TitleNone
		for id, of := range d.seen {
			if of == p {
				d.seen[id] = nil
			}
		}
	}
}

// admitsFrom reports whether a turn or call that was made somewhere is part of the session here. If so, the mark of
// what was left out before it is set; if not, it may be the first that is left out.
func (p *part) admitsFrom(where whereabouts, role string, ts time.Time) bool {
	switch where {
	case nowhere:
		return false
	case outside:
		p.leave.ever = true
		if p.leave.mark == nil {
			p.leave.mark = &session.Turn{Role: role, TS: ts, Content: session.Elsewhere}
		}
		return false
	}
	if m := p.leave.mark; m != nil {
		p.add(m.Role, strings.TrimSpace(m.Content+" "+strings.Join(p.leave.repos, ", ")), m.TS, p.leave.from)
		p.leave.mark, p.leave.repos = nil, nil
	}
	if p.where == inside {
		p.leave.from = -1
	}
	return true
}

// isUndivided reports whether nothing of the session was left out so far, so that a title that it is given speaks
// of what was said here.
func (p *part) isUndivided() bool { return p.where != outside && !p.leave.ever }

// setSessionTitle sets a title that was given to the session as a whole.
func (p *part) setSessionTitle(kind TitleKind, s string) {
	if p.isUndivided() {
		p.raiseTitle(kind, s)
	}
}

// raiseTitle sets a title unless the part has one of a higher kind. It is not shortened here: a cut before
// redaction may leave the beginning of a secret, which no rule knows.
func (p *Part) raiseTitle(kind TitleKind, s string) {
	if s = session.OneLine(session.PlainText(s)); s != "" && kind >= p.TitleKind {
		p.Title, p.TitleKind = s, kind
	}
}
