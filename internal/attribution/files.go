package attribution

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Which sessions a file of a checkpoint belongs to. The first rule that names a session decides:
//
//  1. the sessions that wrote lines of it;
//  2. those that edited it through a tool;
//  3. those that read it or named it in a command: a formatter or a `sed -i` may have changed it;
//  4. inferred: those that have another file of the commit;
//  5. inferred: those that make commits themselves.
//
// So a session is not found by a file that only its neighbour in the same commit touched. A session that wrote nothing through tools
// has no file that it neither read nor named. It may still be behind the commit, because the user may type what it says: its tie stays.
//
// A capture takes in all that is said at the time, also by an agent that edits something else while a person commits. Such a
// session has a file of the commit only where it is the only session. Its tie is inferred in any case, unless its children changed
// the files.

// Mentions is what the calls of a session name.
type Mentions struct {
	paths    map[string]bool
	commands []string
	words    map[string]bool // of the commands: file names with nothing odd in them
}

// NewMentions is what some calls name.
func NewMentions() *Mentions { return &Mentions{paths: map[string]bool{}, words: map[string]bool{}} }

// Add adds what more calls name.
func (n *Mentions) Add(calls []session.ToolCall) {
	for _, c := range calls {
		if path := c.Touched(); path != "" {
			n.paths[path] = true
		}
		if c.Cmd != "" {
			n.commands = append(n.commands, c.Cmd)
			for w := range strings.FieldsFuncSeq(c.Cmd, odd) {
				n.words[strings.TrimRight(w, ".")] = true
			}
		}
	}
}

// names reports whether a call named a file.
func (n *Mentions) names(file string) bool {
	name := path.Base(file)
	if strings.ContainsFunc(name, odd) || strings.HasSuffix(name, ".") {
		return n.paths[file] || slices.ContainsFunc(n.commands, func(cmd string) bool { return strings.Contains(cmd, name) })
	}
	return n.paths[file] || n.words[name] // a commit may have thousands of files
}

// odd reports whether a character is none of most names, in any language.
func odd(r rune) bool {
	return r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
}

// commits reports whether a call made a commit.
func (n *Mentions) commits() bool {
	return slices.ContainsFunc(n.commands, func(cmd string) bool { return strings.Contains(cmd, "git commit") })
}

// SessionWork is what is known of the sessions of a checkpoint.
type SessionWork interface {
	// Edited are the paths that a session has written to through its tools so far.
	Edited(id string) map[string]bool
	// Says asks what the calls of a session named so far.
	Says(id string, what func(*Mentions) bool) (bool, error)
	// Parent is the session that spawned one; "" at the top.
	Parent(id string) string
}

// Share says that a file of a checkpoint is a session's.
type Share struct {
	File     session.File
	Session  string
	Inferred bool // nothing that the session called named it
}

// maxShared is to how many pairs of a session and a file that it never named a checkpoint comes at most: a commit of 2,000 files
// behind 50 sessions. Beyond it such files are nobody's.
const maxShared = 100_000

// Files gives the files of a checkpoint to its sessions, and marks in it the ties that are inferred. Without files nothing tells who
// made the commit: it is the tail of a session, or a talk. An error is that of the work.
func Files(cp *session.Checkpoint, wrote []session.Wrote, work SessionWork) ([]Share, error) {
	switch pairs := len(cp.Files) * len(cp.Links); {
	case cp.GitSHA == session.ZeroSHA && pairs == 0:
		return nil, nil // there is nothing to be tied to
	case pairs == 0, pairs > 10*maxShared: // nobody has that many; asking each about each would take minutes
		for i := range cp.Links {
			cp.Links[i].Inferred = true
		}
		return nil, nil
	}
	g := giving{cp, work, writersOf(cp, wrote)}
	owners, some := make([][]string, len(cp.Files)), map[string]bool{}
	for i, f := range cp.Files {
		var err error
		if owners[i], err = g.owners(f); err != nil {
			return nil, err
		}
		for _, id := range owners[i] {
			some[id] = true
		}
	}
	rest, talks, err := g.others(some)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Concat(rest, talks) {
		some[id] = true
	}
	g.withParents(some)
	for i, l := range cp.Links {
		cp.Links[i].Inferred = l.Inferred || !some[l.Session]
	}
	if len(rest)+len(talks) == 0 && len(cp.Links) == 1 { // nobody else was at work
		rest = []string{cp.Links[0].Session}
	}
	return g.share(owners, rest), nil
}

// giving is the work on one checkpoint.
type giving struct {
	cp      *session.Checkpoint
	work    SessionWork
	writers map[string][]string // by path
}

// share gives each file to its owners, or else to the rest.
func (g giving) share(owners [][]string, rest []string) (out []Share) {
	if len(rest)*len(g.cp.Files) > maxShared {
		rest = nil
	}
	for i, f := range g.cp.Files {
		theirs := owners[i]
		if len(theirs) == 0 {
			theirs = rest
		}
		for _, id := range theirs {
			out = append(out, Share{f, id, len(owners[i]) == 0})
		}
	}
	return out
}

// writersOf are those of the sessions of a checkpoint that wrote lines of its files, by path.
func writersOf(cp *session.Checkpoint, wrote []session.Wrote) map[string][]string {
	out := map[string][]string{}
	for _, w := range wrote {
		if w.GitSHA == cp.GitSHA && slices.ContainsFunc(cp.Links, func(l session.Link) bool { return l.Session == w.Session }) {
			out[w.Path] = append(out[w.Path], w.Session)
		}
	}
	return out
}

// withParents adds those of the sessions that had others of them do it.
func (g giving) withParents(ids map[string]bool) {
	for again := true; again; {
		again = false
		for _, l := range g.cp.Links {
			if parent := g.work.Parent(l.Session); parent != "" && ids[l.Session] && !ids[parent] {
				ids[parent], again = true, true
			}
		}
	}
}

// owners are those of the sessions that wrote in a file or named it.
func (g giving) owners(f session.File) ([]string, error) {
	if writers := g.writers[f.Path]; len(writers) > 0 {
		return writers, nil
	}
	var edited, touched []string
	for _, l := range g.cp.Links {
		if paths := g.work.Edited(l.Session); paths[f.Path] || paths[f.OldPath] {
			edited = append(edited, l.Session)
		}
	}
	if len(edited) > 0 {
		return edited, nil
	}
	for _, l := range g.cp.Links {
		named, err := g.work.Says(l.Session, func(n *Mentions) bool { return n.names(f.Path) || f.OldPath != "" && n.names(f.OldPath) })
		if err != nil {
			return nil, err
		}
		if named {
			touched = append(touched, l.Session)
		}
	}
	return touched, nil
}

// others are those whose a file is that none of the sessions named, where some files are theirs; and, where no file is anybody's,
// those who wrote nothing.
func (g giving) others(some map[string]bool) (out, talks []string, err error) {
	for _, l := range g.cp.Links {
		is := some[l.Session]
		if len(some) == 0 {
			if is, err = g.work.Says(l.Session, (*Mentions).commits); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case is:
			out = append(out, l.Session)
		case len(some) == 0 && !writes(g.work.Edited(l.Session)):
			talks = append(talks, l.Session)
		}
	}
	return out, talks, nil
}

// writes reports whether one of the paths that a session wrote to is of the repository.
func writes(edited map[string]bool) bool {
	for path := range edited {
		if filepath.IsLocal(path) && path[0] != '~' {
			return true
		}
	}
	return false
}
