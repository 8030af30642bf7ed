package attribution

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Which sessions a file of a checkpoint belongs to. The first rule that names a session decides:
//
//  1. the sessions that wrote lines of it;
//  2. those that edited it through a tool, if no earlier commit holds that edit;
//  3. those that read it or named it in a command: a formatter or a `sed -i` may have changed it;
//  4. inferred: those that have another file of the commit;
//  5. inferred: those that make commits themselves.
//
// So a session is not found by a file that only its neighbour in the same commit touched. A session that talked and has no file may
// still be behind the commit, because the user may type what it says: its tie stays.

// Mentions is which files the tool calls of a session name, by path or in a command.
type Mentions struct {
	paths    map[string]bool
	commands []string
	words    map[string]bool // words of the commands, split at odd characters (isOddRune)
}

// NewMentions names nothing yet.
func NewMentions() *Mentions { return &Mentions{paths: map[string]bool{}, words: map[string]bool{}} }

// Add adds the files that some calls name.
func (n *Mentions) Add(calls []session.ToolCall) {
	for _, c := range calls {
		if path := c.TouchedPath(); path != "" {
			n.paths[path] = true
		}
		if c.Cmd != "" {
			n.commands = append(n.commands, c.Cmd)
			for w := range strings.FieldsFuncSeq(c.Cmd, isOddRune) {
				n.words[strings.TrimRight(w, ".")] = true
			}
		}
	}
}

// namesFile reports whether a call named a file.
func (n *Mentions) namesFile(file string) bool {
	name := path.Base(file)
	if strings.ContainsFunc(name, isOddRune) || strings.HasSuffix(name, ".") {
		return n.paths[file] || slices.ContainsFunc(n.commands, func(cmd string) bool { return strings.Contains(cmd, name) })
	}
	return n.paths[file] || n.words[name] // no search through commands: a commit may have thousands of files
}

// isOddRune reports whether a character is unusual in names of files: an ASCII sign other than ".", "_" and "-".
func isOddRune(r rune) bool {
	return r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
}

// madeCommit reports whether a call made a commit.
func (n *Mentions) madeCommit() bool {
	return slices.ContainsFunc(n.commands, func(cmd string) bool { return strings.Contains(cmd, "git commit") })
}

// SessionWork is what is known of the sessions of a checkpoint.
type SessionWork interface {
	// Edited are the paths that a session edited through its tools since its last commit that holds them.
	Edited(id string) map[string]bool
	// AskMentions calls what with the Mentions of a session up to the checkpoint.
	AskMentions(id string, what func(*Mentions) bool) (bool, error)
}

// Share says that a file of a checkpoint belongs to a session.
type Share struct {
	File     session.File
	Session  string
	Inferred bool // nothing that the session called named it
}

// maxInferredShares is how many inferred shares a checkpoint has at most: as a commit of 2,000 files behind 50 sessions. Above it files that no
// session named belong to nobody.
const maxInferredShares = 100_000

// Files gives the files of a checkpoint to its sessions, and sets in its links by which rule each is tied to the commit (see the table
// in commit.go): 0 for a session that was captured without a commit. It drops links that an import of version 0.1.0 guessed. An error comes
// from work.
func Files(cp *session.Checkpoint, wrote []session.Wrote, work SessionWork) ([]Share, error) {
	g := assignment{cp, work, map[string][]string{}, map[string]bool{}}
	for _, w := range wrote {
		if w.GitSHA == cp.GitSHA && len(w.Lines) > 0 {
			g.wrote[w.Path] = append(g.wrote[w.Path], w.Session)
		}
		g.tookLines[w.Session] = g.tookLines[w.Session] || w.GitSHA == cp.GitSHA && len(w.Lines) == 0
	}
	for i, l := range cp.Links {
		cp.Links[i].Tie = g.tieKind(l)
	}
	cp.Links = slices.DeleteFunc(cp.Links, func(l session.Link) bool { return l.Tie == 0 && (l.Inferred || cp.Via == session.ViaImport) })
	if pairs := len(cp.Files) * len(cp.Links); pairs > 10*maxInferredShares { // no real commit has that many, and each pair costs a question to work
		return nil, nil
	}
	owners, haveFile := make([][]string, len(cp.Files)), map[string]bool{}
	for i, f := range cp.Files {
		var err error
		if owners[i], err = g.owners(f); err != nil {
			return nil, err
		}
		for _, id := range owners[i] {
			haveFile[id] = true
		}
	}
	rest, err := g.fallbackOwners(haveFile)
	return g.assign(owners, rest), err
}

// assignment is one call of Files.
type assignment struct {
	cp        *session.Checkpoint
	work      SessionWork
	wrote     map[string][]string // by path: the sessions that wrote lines of it
	tookLines map[string]bool     // sessions that took lines of a file away
}

// tieKind is the rule by which a session is tied to the commit; 0 for none.
func (g assignment) tieKind(l session.Link) session.TieKind {
	edited := g.work.Edited(l.Session)
	switch {
	case slices.ContainsFunc(g.cp.Files, func(f session.File) bool { return slices.Contains(g.wrote[f.Path], l.Session) }):
		return session.TieWrote
	case l.Inferred, l.Tie != 0:
		return l.Tie
	case slices.ContainsFunc(g.cp.Files, func(f session.File) bool { return edited[f.Path] || edited[f.OldPath] }):
		return session.TieEdited
	case len(g.cp.Files) == 0 && slices.Contains([]string{session.ViaPush, session.ViaSync, session.ViaManual, session.ViaMerge}, g.cp.Via):
		return 0 // the commit was made before the capture, or by others
	case g.cp.Via == session.ViaImport && g.tookLines[l.Session]:
		return 0 // version 0.1.0 took removed lines for a tie
	}
	return session.TieTalked
}

// assign gives each file to its owners, or else to the rest.
func (g assignment) assign(owners [][]string, rest []string) (out []Share) {
	if len(rest)*len(g.cp.Files) > maxInferredShares {
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

// owners are the sessions of a file by the first of rules 1 to 3 that names any.
func (g assignment) owners(f session.File) ([]string, error) {
	writers := slices.DeleteFunc(slices.Clone(g.wrote[f.Path]), func(id string) bool {
		return !slices.ContainsFunc(g.cp.Links, func(l session.Link) bool { return l.Session == id })
	})
	if len(writers) > 0 {
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
		named, err := g.work.AskMentions(l.Session, func(n *Mentions) bool { return n.namesFile(f.Path) || f.OldPath != "" && n.namesFile(f.OldPath) })
		if err != nil {
			return nil, err
		}
		if named {
			touched = append(touched, l.Session)
		}
	}
	return touched, nil
}

// fallbackOwners are the sessions of a file that no session named (rules 4 and 5): those that own another file of the commit or, if none does,
// those that ran "git commit".
func (g assignment) fallbackOwners(haveFile map[string]bool) (out []string, err error) {
	for _, l := range g.cp.Links {
		owns := haveFile[l.Session]
		if len(haveFile) == 0 {
			if owns, err = g.work.AskMentions(l.Session, (*Mentions).madeCommit); err != nil {
				return nil, err
			}
		}
		if owns {
			out = append(out, l.Session)
		}
	}
	return out, nil
}
