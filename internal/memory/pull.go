package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// Errors of a pull.
var (
	errChanged = advice.New("a file changed while it was merged", "run it again")
	errNoNotes = advice.New("there are no notes of this author",
		`"git rekal sync" fetches ledgers, "git rekal memory list --all" lists whose notes there are`)
)

// Pull brings the user's own notes of other machines into the agents' folders; with dry it writes nothing.
func (n Notes) Pull(ctx context.Context, dry bool) (out result.NotePull, err error) {
	out = result.NotePull{Schema: result.Schema, DryRun: dry, Files: []result.PullFile{}}
	from, err := n.trustedLedger(ctx, n.Author.Email)
	if err != nil {
		return out, err
	}
	here, err := n.files()
	if err != nil {
		return out, err
	}
	env := n.env()
	states := capture.NoteFiles(ctx, n.W.RekalDir())
	for _, key := range slices.Sorted(maps.Keys(from)) {
		s := from[key]
		folder := folderFor(env, s.agent)
		if folder.Dir == "" {
			out.Files = n.appendLeft(out.Files, s)
			continue
		}
		file := n.fileIn(here, folder, s)
		if _, err := os.Lstat(file.Path()); err == nil && file.Text == "" && !n.isEmpty(file) {
			out.Files = append(out.Files, result.PullFile{
				Agent: s.agent, Path: n.shown(file.Path()), Left: []string{"it as it is: no plain text, or too large"},
			})
			continue
		}
		if conflicts := notes.CountConflicts(file.own); conflicts > 0 {
			out.Files = append(out.Files, result.PullFile{
				Agent: s.agent, Path: n.shown(file.Path()), Conflicts: conflicts,
				Left: []string{"it as it is: resolve the conflict in it first"},
			})
			continue
		}
		m, err := n.merge(ctx, file, s, held(states[file.Path()]))
		if err != nil {
			return out, err
		}
		told := result.PullFile{
			Agent: s.agent, Path: n.shown(file.Path()), New: file.Text == "" && m.text != "", Sections: m.taken,
			Removed: m.removed, Conflicts: m.conflicts, InConflict: m.inConflict, Left: append(m.left, s.distrusted...),
		}
		if m.text == file.own && len(told.Left) == 0 {
			err = n.noteState(ctx, file, m, dry)
		} else {
			out.Files = append(out.Files, told)
			if m.text != file.own && !dry {
				err = errors.Join(n.write(file, m.text+file.others), n.noteState(ctx, file, m, dry))
			}
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// trustedLedger is what the ledger of an author says, without sections of which a version may not come into an agent's
// folder, or was written by no capture: who may push to a remote can add to a ledger. Without that version the others
// would say that the section is gone, or what it was before.
func (n Notes) trustedLedger(ctx context.Context, email string) (map[string]*stored, error) {
	from, err := n.ledger(ctx, email)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range from {
		for _, v := range s.sections {
			for _, r := range v.all {
				ids = append(ids, r.ID)
			}
		}
	}
	trusted, err := n.At.IsTrusted(ctx, ids)
	if err != nil {
		return nil, err
	}
	isDistrusted := func(r noteRow) bool { return r.Content != session.PlainText(r.Content) || !trusted(r.ID) }
	for _, s := range from {
		s.sections = slices.DeleteFunc(s.sections, func(v *versions) bool {
			drop := slices.ContainsFunc(v.all, isDistrusted)
			if drop {
				s.distrusted = append(s.distrusted, headingIn(v.source)+": a version of it is signed by no key that it needs")
			}
			return drop
		})
	}
	return from, nil
}

// appendLeft tells of a file for which this machine has no folder.
func (n Notes) appendLeft(all []result.PullFile, s *stored) []result.PullFile {
	if s.text() == "" {
		return appendDistrusted(all, s)
	}
	why := "the agent keeps no folder for this repository here yet: start it once"
	if s.agent == (transcript.Codex{}).Name() {
		why = "Codex reads its notes in all repositories: what others noted in this one stays out"
	}
	return append(all, result.PullFile{Agent: s.agent, Path: s.name, Left: []string{why}})
}

// appendDistrusted tells of sections that stay out.
func appendDistrusted(all []result.PullFile, s *stored) []result.PullFile {
	if len(s.distrusted) == 0 {
		return all
	}
	return append(all, result.PullFile{Agent: s.agent, Path: s.name, Left: s.distrusted})
}

// fileIn is the file on this machine, perhaps an empty one.
func (n Notes) fileIn(here []local, folder transcript.NoteFolder, s *stored) local {
	for _, l := range here {
		if l.Agent == s.agent && l.Name == s.name {
			return l
		}
	}
	return local{NoteFile: transcript.NoteFile{NoteFolder: folder, Name: s.name}}
}

// isEmpty reports whether a file of notes is there, and says nothing.
func (n Notes) isEmpty(file local) bool {
	info, err := os.Lstat(file.Path())
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// held are the sections of a file as they were, by source.
func held(f capture.NoteFile) map[string]capture.NoteSection {
	out := map[string]capture.NoteSection{}
	for _, s := range f.Sections {
		out[s.Source] = s
	}
	return out
}

// noteState notes which versions a file holds now.
func (n Notes) noteState(ctx context.Context, file local, m merged, dry bool) error {
	if dry {
		return nil
	}
	return capture.NotePulled(ctx, n.W.RekalDir(), file.Path(), m.sections)
}

// write replaces a file, if it still says what was merged. Nothing outside the agent's folder is touched, wherever
// links in it lead.
func (n Notes) write(file local, text string) error {
	if !transcript.IsNoteName(file.Name) || len(text) > transcript.MaxNoteFile {
		return fmt.Errorf("memory: %q: no file of notes", file.Name)
	}
	if err := os.MkdirAll(file.Dir, 0o700); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	root, err := os.OpenRoot(file.Dir)
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	defer root.Close()
	return writeIn(root, file, text)
}

func writeIn(root *os.Root, file local, text string) error {
	if dir := path.Dir(file.Name); dir != "." {
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	name := filepath.FromSlash(file.Name)
	now, err := root.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("memory: %w", err)
	}
	if string(now) != file.Text {
		return fmt.Errorf("memory: %s: %w", file.Path(), errChanged)
	}
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("memory: %s: no plain file", file.Path())
	}
	if strings.TrimSpace(text) == "" {
		return root.Remove(name)
	}
	made := name + ".rekal"
	if err := root.WriteFile(made, []byte(text), 0o600); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return root.Rename(made, name)
}

// index is the file that each session of an agent reads.
const index = "MEMORY.md"

// mostOfOthers bounds what somebody else's notes take in an index, in bytes.
const mostOfOthers = 16 << 10

// PullFrom puts the notes of somebody else, quoted, behind the user's own in the index of each agent; with dry it
// writes nothing. What agents expand is taken out: paths, commands, links.
func (n Notes) PullFrom(ctx context.Context, author string, dry bool) (out result.NotePull, err error) {
	out = result.NotePull{Schema: result.Schema, DryRun: dry, Files: []result.PullFile{}}
	from, err := n.trustedLedger(ctx, strings.ToLower(author))
	if err != nil {
		return out, err
	}
	if len(from) == 0 {
		return out, errNoNotes
	}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		out.Files = appendDistrusted(out.Files, from[key])
	}
	here, err := n.files()
	if err != nil {
		return out, err
	}
	env := n.env()
	for agent, files := range byAgent(from) {
		folder := folderFor(env, agent)
		if folder.Dir == "" || folder.Shared {
			if len(files) > 0 {
				out.Files = n.appendLeft(out.Files, files[0])
			}
			continue
		}
		file := n.fileIn(here, folder, &stored{agent: agent, name: index})
		others := notes.ReplaceOthers(file.others, gate.Line(author, gate.MostName), quoted(author, files))
		if others == file.others {
			continue
		}
		told := result.PullFile{
			Agent: agent, Path: n.shown(file.Path()), New: file.Text == "", From: author, Sections: headings(files),
		}
		if len(files) == 0 {
			told.Removed = []string{"what was quoted of " + author}
		}
		if out.Files = append(out.Files, told); !dry {
			if err := n.write(file, joinOthers(file.own, others)); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// byAgent are the files that say something, of each agent that somebody has notes of: of one that says nothing now, or
// nothing that may be read, something may have been quoted before.
func byAgent(from map[string]*stored) map[string][]*stored {
	out := map[string][]*stored{}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		s := from[key]
		files := out[s.agent]
		if s.text() != "" {
			files = append(files, s)
		}
		out[s.agent] = files
	}
	return out
}

func headings(files []*stored) (out []string) {
	for _, s := range files {
		for _, v := range s.sections {
			if len(v.heads()) > 0 {
				out = append(out, headingIn(v.source))
			}
		}
	}
	return out
}

// quoted is what somebody noted, as an agent may read it; empty without files.
func quoted(author string, files []*stored) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	for _, s := range files {
		fmt.Fprintf(&b, "%s:\n\n%s\n", gate.Code(s.name, gate.MostName), gate.Quote(s.text(), mostOfOthers/len(files)))
	}
	return notes.OthersBlock(gate.Line(author, gate.MostName), b.String())
}

// joinOthers puts others' notes behind a file's own text.
func joinOthers(own, others string) string {
	if !strings.HasSuffix(own, "\n") && own != "" && others != "" {
		own += "\n"
	}
	return own + others
}

// noteRow is short for a version.
type noteRow = ask.NoteRow

// Diff compares the files here with the ledger, as a patch that leads from the ledger to the files.
func (n Notes) Diff(ctx context.Context) (string, error) {
	from, err := n.trustedLedger(ctx, n.Author.Email)
	if err != nil {
		return "", err
	}
	here, err := n.files()
	if err != nil {
		return "", err
	}
	var pairs []pair
	for _, l := range here {
		text := ""
		for _, s := range l.sections {
			clean, err := n.clean(ctx, l, s)
			if err != nil {
				return "", err
			}
			text += clean
		}
		before := ""
		if s := from[l.key()]; s != nil {
			before = s.text()
		}
		delete(from, l.key())
		pairs = append(pairs, pair{l.Agent + "/" + l.Name, before, text})
	}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		pairs = append(pairs, pair{from[key].agent + "/" + from[key].name, from[key].text(), ""})
	}
	return n.patch(ctx, pairs)
}

// pair is a file before and after.
type pair struct{ name, before, after string }

// patch is what changes files, in git's form.
func (n Notes) patch(ctx context.Context, pairs []pair) (string, error) {
	dir, err := os.MkdirTemp("", "rekal-memory-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	root, err := os.OpenRoot(dir) // ledgers name the files
	if err != nil {
		return "", fmt.Errorf("memory: %w", err)
	}
	defer root.Close()
	for _, p := range pairs {
		for side, text := range map[string]string{"a": p.before, "b": p.after} {
			at := filepath.Join(side, filepath.FromSlash(p.name))
			err := root.MkdirAll(filepath.Dir(at), 0o700)
			if err == nil && text != "" {
				err = root.WriteFile(at, []byte(text), 0o600)
			}
			if err != nil {
				return "", fmt.Errorf("memory: %w", err)
			}
		}
	}
	if len(pairs) == 0 {
		return "", nil
	}
	cmd := n.W.Repo.Command(ctx, "-c", "core.quotePath=false", "diff", "--no-index", "--no-color", "--no-ext-diff",
		"--no-renames", "--no-prefix", "a", "b")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "GIT_DIR="+filepath.Join(dir, "none"), "GIT_CEILING_DIRECTORIES="+dir)
	out, err := cmd.Output()
	if len(out) > 0 || err == nil {
		return session.PlainText(nameBothSides(string(out))), nil
	}
	return "", fmt.Errorf("memory: git diff: %w", err)
}

// nameBothSides has the first line of each file name a/ and b/: git takes the side that is there for both.
func nameBothSides(patch string) string {
	const begin = "diff --git "
	var b strings.Builder
	for line := range strings.Lines(patch) {
		names, _ := strings.CutPrefix(line, begin)
		if name := names[:(len(names)-1)/2]; line == begin+name+" "+name+"\n" {
			at := strings.IndexByte(name, '/') - 1 // it may be quoted
			line = begin + name[:at] + "a" + name[at+1:] + " " + name[:at] + "b" + name[at+1:] + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
