package materialize

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Whose a file of a checkpoint is: theirs who edited it through a tool; where nobody did, theirs who read
// it or named it in a command (a formatter or a `sed -i` may have changed it). Where nobody did that either,
// it is inferred: of those who have another file of the commit, or else of those who make commits themselves. Who writes nothing
// through tools may still be behind the commit (the user may type what it says): the tie is as firm, and no file is theirs.
// A capture takes in all that is said at the time, also by an agent that edits something else while a
// person commits: such a session has a file only where it is the only one, and its tie to the commit is
// inferred, too.

// named is what the calls of a session name.
type named struct {
	loaded   bool // what the tables hold of it is here
	paths    map[string]bool
	commands []string
	words    map[string]bool // of the commands: file names with nothing odd in them
}

func (n *named) add(calls []session.ToolCall) {
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
func (n *named) names(file string) bool {
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

func (b *batch) namedBy(id string) *named {
	if b.named[id] == nil {
		b.named[id] = &named{paths: map[string]bool{}, words: map[string]bool{}}
	}
	return b.named[id]
}

// commits reports whether a call made a commit.
func (n *named) commits() bool {
	return slices.ContainsFunc(n.commands, func(cmd string) bool { return strings.Contains(cmd, "git commit") })
}

// maxShared is to how many pairs of a session and a file that it never named a checkpoint comes at most: a commit of 2,000 files
// behind 50 sessions. Beyond it such files are nobody's.
const maxShared = 100_000

// give gives the files of a checkpoint to its sessions, and marks the ties that are inferred. Those who wrote lines of a file have it,
// and nobody else. Without files nothing tells who made the commit: it is the tail of a session, or a talk.
func (b *batch) give(ctx context.Context, cp *session.Checkpoint, wrote []session.Wrote) error {
	if len(cp.Files) == 0 {
		for i := range cp.Links {
			if cp.GitSHA == session.ZeroSHA {
				break // there is nothing to be tied to
			}
			cp.Links[i].Inferred = true
		}
		return nil
	}
	writers := writersOf(cp, wrote)
	if len(cp.Files)*len(cp.Links) > 10*maxShared { // nobody has that; asking each about each would take minutes
		for i := range cp.Links {
			cp.Links[i].Inferred = true
		}
		return nil
	}
	owners, some := make([][]string, len(cp.Files)), map[string]bool{}
	for i, f := range cp.Files {
		err := ctx.Err()
		if err != nil {
			return fmt.Errorf("materialize: %w", err)
		}
		if owners[i] = writers[f.Path]; len(owners[i]) == 0 {
			owners[i], err = b.owners(ctx, cp.Links, f)
		}
		if err != nil {
			return err
		}
		for _, id := range owners[i] {
			some[id] = true
		}
	}
	rest, talks, err := b.others(ctx, cp.Links, some)
	if err != nil {
		return err
	}
	for _, id := range slices.Concat(rest, talks) {
		some[id] = true
	}
	if len(rest)+len(talks) == 0 && len(cp.Links) == 1 { // nobody else was at work
		rest = []string{cp.Links[0].Session}
	}
	if len(rest)*len(cp.Files) > maxShared {
		rest = nil
	}
	for i, f := range cp.Files {
		theirs := owners[i]
		if len(theirs) == 0 {
			theirs = rest
		}
		for _, id := range theirs {
			b.files = append(b.files, db.FileRow{
				Checkpoint: cp.ID, Session: id, Path: f.Path, Change: f.Change, Blob: db.LeftBy(f), Inferred: len(owners[i]) == 0,
			})
		}
	}
	b.withParents(cp.Links, some)
	for i, l := range cp.Links {
		cp.Links[i].Inferred = l.Inferred || !some[l.Session]
	}
	return nil
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

// withParents adds those of the sessions of a checkpoint that had others of them do it.
func (b *batch) withParents(links []session.Link, ids map[string]bool) {
	for again := true; again; {
		again = false
		for _, l := range links {
			if parent := b.rows[l.Session].Parent; parent != "" && ids[l.Session] && !ids[parent] {
				ids[parent], again = true, true
			}
		}
	}
}

// owners are those of some sessions that named a file.
func (b *batch) owners(ctx context.Context, links []session.Link, f session.File) ([]string, error) {
	var edited, touched []string
	for _, l := range links {
		if b.edited[l.Session][f.Path] || b.edited[l.Session][f.OldPath] {
			edited = append(edited, l.Session)
		}
	}
	if len(edited) > 0 {
		return edited, nil
	}
	for _, l := range links {
		n, err := b.allNamed(ctx, l.Session, func(n *named) bool { return n.names(f.Path) || f.OldPath != "" && n.names(f.OldPath) })
		if err != nil {
			return nil, err
		}
		if n {
			touched = append(touched, l.Session)
		}
	}
	return touched, nil
}

// others are those whose a file is that none of some sessions named, where some files are theirs; and, where no file is anybody's,
// those who wrote nothing.
func (b *batch) others(ctx context.Context, links []session.Link, some map[string]bool) (out, talks []string, err error) {
	for _, l := range links {
		is := some[l.Session]
		if len(some) == 0 {
			if is, err = b.allNamed(ctx, l.Session, (*named).commits); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case is:
			out = append(out, l.Session)
		case len(some) == 0 && !b.writes(l.Session):
			talks = append(talks, l.Session)
		}
	}
	return out, talks, nil
}

// writes reports whether a session wrote a file of the repository through its tools.
func (b *batch) writes(id string) bool {
	for path := range b.edited[id] {
		if filepath.IsLocal(path) && path[0] != '~' {
			return true
		}
	}
	return false
}

// allNamed asks what the calls of a session named so far. What the tables hold of that is read where what
// is new does not say it already.
func (b *batch) allNamed(ctx context.Context, id string, says func(*named) bool) (bool, error) {
	n := b.namedBy(id)
	if n.loaded || says(n) {
		return says(n), nil
	}
	calls, err := b.data.Named(ctx, id)
	if err != nil {
		return false, err
	}
	n.add(calls)
	n.loaded = true
	return says(n), nil
}
