package capture

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/notes"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// How notes that agents keep in files come into the ledger: each section of a file is a memory (package notes), whose
// source names it, and whose number At its place in the file. A section that changed is another memory, and the former
// one is purged. So what is not purged is what stands in the files: of a section that two machines changed, both
// versions, until one of them has merged them.
//
// A section that is gone is purged only if it was here: a machine that never had a file deletes nothing. Which versions
// a file holds says the state; without it, a text that the ledger holds under the same name is not stored again.
//
// While nobody has agreed to send notes, they go to the ledger that is never sent, and so do those of a file that a
// private session wrote to. What was written during a pause is left out: by the time of the file, and as a later text
// may give that another time, by what the sections said when the pause ended (NotesSince). A file with a conflict
// waits.

// Notes says what becomes of notes.
type Notes struct {
	Off  bool // none is read
	Sent bool // the user agreed that they are sent
}

// NoteFile is what the ledger holds of a file of notes, by its path in NoteFiles.
type NoteFile struct {
	_        struct{} `cbor:",toarray"`
	Size     int64
	ModTime  int64
	Private  bool // in the ledger that is never sent
	Sections []NoteSection
}

// NoteSection is a section as it was when it was last looked at.
type NoteSection struct {
	_      struct{} `cbor:",toarray"`
	Source string
	Sum    string   // of its text
	At     int      // see session.Memory
	IDs    []string // the memories that it replaces when it changes; none: it is not in the ledger
}

// noteGap is the distance at first between two sections' places: others go between them.
const noteGap = 1 << 10

// noteDraft is what a capture is about to store of notes.
type noteDraft struct {
	session.Entry
	changed int
}

// withNotes adds what is new of notes to what a capture has planned, once all transcripts are read.
func (g *collector) withNotes(ctx context.Context, drafts []session.Entry, err error) ([]session.Entry, error) {
	nowhere := !g.Notes.Sent && g.Private.Ledger == nil
	if g.Notes.Off || nowhere && g.edits.inMemory == nil || g.moreLeft || err != nil { // a preview stores nothing
		return drafts, err
	}
	more, err := g.planNotes(ctx)
	return append(drafts, more...), err
}

// noteEnv is where notes are looked for.
func (c *Capturer) noteEnv() transcript.Env {
	return transcript.Env{Home: c.Home, Getenv: c.Getenv, Roots: c.roots()}
}

// listNoteFolders are the folders of notes, looked for once in a capture.
func (g *collector) listNoteFolders() []transcript.NoteFolder {
	if g.noteFolders == nil {
		g.noteFolders = append([]transcript.NoteFolder{}, transcript.NoteFolders(g.noteEnv())...)
	}
	return g.noteFolders
}

// KeepsNotesHere reports whether there are notes that nobody has agreed to send: they need a ledger that is never sent.
func (c *Capturer) KeepsNotesHere() bool {
	if c.Notes.Off || c.Notes.Sent {
		return false
	}
	env := c.noteEnv()
	return slices.ContainsFunc(transcript.NoteFolders(env), func(folder transcript.NoteFolder) bool {
		files, _ := folder.Files() // what can't be read, the capture says
		return slices.ContainsFunc(files, func(f transcript.NoteFile) bool {
			if !f.Shared {
				return true
			}
			text, err := f.Read()
			return err == nil && len(sectionsOf(f, text, env.Roots)) > 0
		})
	})
}

// planNotes plans what is new of notes: what may be sent, and what may not.
func (g *collector) planNotes(ctx context.Context) ([]session.Entry, error) {
	env := g.noteEnv()
	next := map[string]NoteFile{}
	var drafts []noteDraft
	for _, folder := range g.listNoteFolders() {
		files, err := folder.Files()
		if err != nil {
			g.out.Warnings = append(g.out.Warnings, fmt.Errorf("capture: notes of %s: %w", folder.Agent, err))
			for path, had := range g.st.Notes { // not to be read is not to be gone
				if strings.HasPrefix(path, folder.Dir+"/") {
					next[path] = had
				}
			}
		}
		for _, f := range files {
			had := g.st.Notes[f.Path()]
			stamp := NoteFile{Size: f.Size, ModTime: f.ModTime.UnixNano(), Private: had.Private, Sections: had.Sections}
			moves := had.Private && g.Notes.Sent && !g.isWrittenPrivately(f.Path())
			if had.Size == stamp.Size && had.ModTime == stamp.ModTime && !moves {
				next[f.Path()] = had
				continue
			}
			d, now, err := g.planNoteFile(ctx, f, env.Roots, stamp, moves)
			if err != nil {
				return nil, err
			}
			next[f.Path()] = now
			if d.changed > 0 {
				drafts = append(drafts, d)
			}
		}
	}
	drafts = append(drafts, g.planGoneNotes(next)...)
	if len(drafts) > 0 || !maps.EqualFunc(next, g.st.Notes, NoteFile.isSameStamp) {
		g.st.Notes, g.anyRead = next, true
	}
	return joinNotes(drafts), nil
}

func (f NoteFile) isSameStamp(o NoteFile) bool { return f.Size == o.Size && f.ModTime == o.ModTime }

// planNoteFile plans what is new of one file, and says how the file then stands.
func (g *collector) planNoteFile(ctx context.Context, f transcript.NoteFile, roots []string, stamp NoteFile,
	moves bool,
) (d noteDraft, now NoteFile, err error) {
	text, err := f.Read()
	if err != nil { // the next capture looks at it again
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, transcript.ErrNoText) {
			g.out.Warnings = append(g.out.Warnings, fmt.Errorf("capture: note: %w", err))
		}
		return d, g.st.Notes[f.Path()], nil
	}
	own, _ := notes.WithoutOthers(text)
	if notes.CountConflicts(own) > 0 {
		return d, stamp, nil
	}
	private := g.isNotePrivate(f.Path(), stamp.Private && !moves)
	now = stamp
	now.Private, now.Sections = private, nil
	had := map[string]NoteSection{}
	for _, s := range stamp.Sections {
		had[s.Source] = s
	}
	all := sectionsOf(f, own, roots)
	isPaused := g.Without.isNotePaused(f)
	var changed []int
	for _, s := range all {
		old := had[s.Source]
		delete(had, s.Source)
		sec := NoteSection{Source: s.Source, Sum: textSum(s.Text), At: old.At, IDs: old.IDs}
		if now.Sections = append(now.Sections, sec); strings.TrimSpace(s.Text) != "" && !isPaused(s) &&
			(old.Sum != sec.Sum || moves && len(old.IDs) > 0) {
			changed = append(changed, len(now.Sections)-1)
		}
	}
	for _, i := range placeSections(now.Sections) { // it was moved: stored again where it stands now
		if len(now.Sections[i].IDs) > 0 && !isPaused(all[i]) && !slices.Contains(changed, i) {
			changed = append(changed, i)
		}
	}
	if f.Shared {
		for i := range all {
			all[i].Text = notes.WithoutRoots(all[i].Text, roots)
		}
	}
	clean, err := g.redactSections(ctx, all, changed)
	if err != nil {
		return d, stamp, err
	}
	for n, i := range changed {
		clean[n].At = now.Sections[i].At
		g.addNote(&d, f, clean[n], &now.Sections[i], stamp.Private, private)
	}
	now.Sections = append(now.Sections, g.purgeGone(&d, f, own, had, stamp.Private)...)
	if d.changed > 0 {
		d.Subject = "notes of " + f.Agent + ": " + f.Name
	}
	return d, now, nil
}

// sectionsOf are the sections of a file that belong to the repository.
func sectionsOf(f transcript.NoteFile, text string, roots []string) []notes.Section {
	all := notes.Split(f.Agent, f.Name, text, notes.Depth(f.Agent))
	if f.Shared {
		isHere := transcript.InWorktrees(roots)
		all = slices.DeleteFunc(all, func(s notes.Section) bool { return !isHere(notes.Folder(s.Text)) })
	}
	return all
}

// purgeGone purges the sections that a file held, but for those, which it returns, that it holds still of a folder that
// is gone: a worktree was removed, its notes were not.
func (g *collector) purgeGone(d *noteDraft, f transcript.NoteFile, text string, had map[string]NoteSection,
	wasPrivate bool,
) (kept []NoteSection) {
	for _, s := range notes.Split(f.Agent, f.Name, text, notes.Depth(f.Agent)) {
		if old, ok := had[s.Source]; ok && f.Shared {
			if _, err := os.Stat(notes.Folder(s.Text)); errors.Is(err, fs.ErrNotExist) {
				kept = append(kept, old)
				delete(had, s.Source)
			}
		}
	}
	for _, source := range slices.Sorted(maps.Keys(had)) {
		if g.Notes.Sent || wasPrivate {
			g.purgeNote(d, had[source].IDs, wasPrivate)
		}
	}
	return kept
}

// addNote adds one section, in place of the memories that it replaces.
func (g *collector) addNote(d *noteDraft, f transcript.NoteFile, m session.Memory, sec *NoteSection,
	wasPrivate, private bool,
) {
	m.TS, m.ActorType = f.ModTime.UTC().Truncate(time.Millisecond), session.ActorAgent
	if m.TS.After(g.now) {
		m.TS = g.now
	}
	if id := g.st.heldNote(m); id != "" && !slices.Contains(sec.IDs, id) {
		// another machine stored it, or the state is lost; what this file had before, and has again, is stored again
		_, seen := g.st.Notes[f.Path()]
		if purged, _ := g.st.Marks[id].Outcome(); !purged || !seen {
			g.replaceNotes(d, sec, id, wasPrivate)
			return
		}
	}
	for {
		m.ID = session.NewMemoryID(m.TS, strings.ToLower(g.Email), m.Title, m.Content)
		taken := func(o session.Memory) bool { return o.ID == m.ID }
		if !slices.Contains(sec.IDs, m.ID) && !slices.ContainsFunc(d.Memories, taken) && !g.st.hasMemory(m) {
			break
		}
		m.TS = m.TS.Add(time.Millisecond) // the same words, at the same time
	}
	g.replaceNotes(d, sec, m.ID, wasPrivate)
	d.Memories, d.changed = append(d.Memories, m), d.changed+1
	if private {
		g.keepPrivate(m.ID)
	}
}

// replaceNotes puts a version in the place of those that a section held. What stays in this clone takes nothing from
// others.
func (g *collector) replaceNotes(d *noteDraft, sec *NoteSection, id string, wasPrivate bool) {
	if g.Notes.Sent || wasPrivate {
		g.purgeNote(d, sec.IDs, wasPrivate)
	}
	sec.IDs = []string{id}
}

// purgeNote hides versions that no file here holds any more.
func (g *collector) purgeNote(d *noteDraft, ids []string, private bool) {
	for _, id := range ids {
		purged, n := g.st.Marks[id].Outcome()
		if purged {
			continue
		}
		d.Purges = append(d.Purges, session.Mark{ID: id, N: min(n+1, session.MaxMark), TS: g.now})
		d.changed++
		if private {
			g.keepPrivate(id)
		}
	}
}

func (g *collector) keepPrivate(id string) {
	if g.privateNotes == nil {
		g.privateNotes = map[string]bool{}
	}
	g.privateNotes[id] = true
}

// NoteKept is a section of notes that the ledger holds, or would.
type NoteKept struct {
	Source  string
	Private bool // it is not sent
	New     bool
}

// keptNotes are the sections that the files hold, as a capture has planned it. New is what it would store.
func (g *collector) keptNotes(drafts []session.Entry) (out []NoteKept) {
	fresh := map[string]bool{}
	for _, d := range drafts {
		for _, m := range d.Memories {
			fresh[m.ID] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(g.st.Notes)) {
		f := g.st.Notes[path]
		for _, s := range f.Sections {
			if len(s.IDs) > 0 {
				isNew := slices.ContainsFunc(s.IDs, func(id string) bool { return fresh[id] })
				out = append(out, NoteKept{s.Source, f.Private, isNew})
			}
		}
	}
	return out
}

// NotesHere is how many sections of notes stay in this clone.
func NotesHere(ctx context.Context, dir string) (n int) {
	for _, f := range readCache(ctx, dir).Notes {
		for _, s := range f.Sections {
			if f.Private && len(s.IDs) > 0 {
				n++
			}
		}
	}
	return n
}

// planGoneNotes purges the sections of files that were here and are gone.
func (g *collector) planGoneNotes(now map[string]NoteFile) (out []noteDraft) {
	for _, path := range slices.Sorted(maps.Keys(g.st.Notes)) {
		if _, stands := now[path]; stands {
			continue
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			now[path] = g.st.Notes[path] // a worktree was moved, or the file is too large
			continue
		}
		d := noteDraft{Entry: session.Entry{Subject: "notes that are gone"}}
		for _, s := range g.st.Notes[path].Sections {
			if private := g.st.Notes[path].Private; (g.Notes.Sent || private) && !isHeld(now, s.IDs) {
				g.purgeNote(&d, s.IDs, private)
			}
		}
		if d.changed > 0 {
			out = append(out, d)
		}
	}
	return out
}

// isHeld reports whether another file holds one of some versions: the folder has another name now.
func isHeld(now map[string]NoteFile, ids []string) bool {
	for _, f := range now {
		for _, s := range f.Sections {
			if slices.ContainsFunc(s.IDs, func(id string) bool { return slices.Contains(ids, id) }) {
				return true
			}
		}
	}
	return false
}

// joinNotes makes one entry of what files say.
func joinNotes(drafts []noteDraft) []session.Entry {
	if len(drafts) == 0 {
		return nil
	}
	all := drafts[0].Entry
	for _, d := range drafts[1:] {
		all.Join(d.Entry)
	}
	if n := len(drafts) - 1; n > 0 {
		all.Subject += fmt.Sprintf(" and %d more", n)
	}
	return []session.Entry{all}
}

// placeSections gives places to sections that have none, and to those that were moved, which it returns.
func placeSections(all []NoteSection) (moved []int) {
	before := 0
	for i := range all {
		if all[i].At > before {
			before = all[i].At
			continue
		}
		if all[i].At != 0 {
			moved = append(moved, i)
		}
		after := before + 2*noteGap
		for _, s := range all[i+1:] {
			if s.At > before {
				after = s.At
				break
			}
		}
		all[i].At = before + max((after-before)/2, 1)
		before = all[i].At
	}
	return moved
}

// redactSections are some of a file's sections as the ledger will hold them: see redactNote.
func (g *collector) redactSections(ctx context.Context, sections []notes.Section,
	which []int,
) (all []session.Memory, err error) {
	for _, i := range which {
		s := sections[i]
		all = append(all, session.Memory{Title: s.Title, Content: s.Text, Source: s.Source})
	}
	return g.redactMemories(ctx, all)
}

func (c *Capturer) redactMemories(ctx context.Context, all []session.Memory) ([]session.Memory, error) {
	for range maxAttempts {
		if len(all) == 0 {
			break
		}
		clean, _, err := c.Redactor.Apply(ctx, session.Entry{Memories: all})
		if err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
		was := all
		if all = clean.Entry().Memories; slices.Equal(was, all) {
			break
		}
	}
	return all, nil
}

func textSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:12])
}

// noteKey is a key in state.Memories of a section of notes: which one it is, and what it says.
func noteKey(m session.Memory) string {
	return "\x00" + memoryKey(session.Memory{Title: m.Source, Content: m.Content})
}

// heldNote is the ID of the same section with the same text, purged or not; "" for none.
func (st *state) heldNote(m session.Memory) string {
	ids := st.Memories[noteKey(m)]
	for _, id := range ids {
		if purged, _ := st.Marks[id].Outcome(); !purged {
			return id
		}
	}
	return cmp.Or(append(ids, "")...)
}

func (st *state) hasMemory(m session.Memory) bool {
	return slices.Contains(st.Memories[memoryKey(m)], m.ID)
}

// NoteFiles are the files of notes as the last capture left them, by path.
func NoteFiles(ctx context.Context, dir string) map[string]NoteFile { return readCache(ctx, dir).Notes }

// NotePulled notes which versions of the ledger a file holds that somebody else wrote: the next capture looks at it,
// and stores what is none of them. A section without a Sum is new in any case.
func NotePulled(ctx context.Context, dir, path string, sections []NoteSection) error {
	st := readCache(ctx, dir)
	if st.Notes == nil {
		st.Notes = map[string]NoteFile{}
	}
	had := st.Notes[path]
	st.Notes[path] = NoteFile{Size: -1, Private: had.Private, Sections: sections}
	return st.save(ctx, dir)
}

// NoteSum is the Sum of a section with a text.
func NoteSum(text string) string { return textSum(text) }
