package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// record is the list of folders and files that were not there before Install, parents before children, and of the files
// of others to which it added something. It lies in .git/rekal/made, one path a line, relative to .git/rekal so that a
// repository can be moved; behind a file to which something was added stands a tab:
//
//	../hooks
//	../../.gemini
//	../../.gemini/settings.json
//	../../.gemini/settings.json	added
//
// It is written before anything is made, so it may name more than there is, never less. What Install
// makes nowhere is not removed.
type record struct {
	layout  Layout
	paths   []string
	addedTo []string
	pieces  map[string][]piece // of a file, what former versions added, in that order
}

// piece is a text, and the offset where it was put.
type piece struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

// cut takes the piece out of a text: from where it was put, else from where it stands now.
func (p piece) cut(text []byte) []byte {
	at := p.At
	if at < 0 || at > len(text) || !bytes.HasPrefix(text[at:], []byte(p.Text)) {
		at = bytes.Index(text, []byte(p.Text))
	}
	if at < 0 {
		return text
	}
	return slices.Concat(text[:at], text[at+len(p.Text):])
}

const (
	recordFile = "made"
	addedMark  = "\tadded" // former versions had pieces there, as JSON
)

func (r *record) file() string { return filepath.Join(r.layout.RekalDir, recordFile) }

func (r *record) has(path string) bool { return slices.Contains(r.paths, path) }

// readRecord reads the list. If it is lost while other parts of us are there, all that
// Install could have made counts as made.
func readRecord(l Layout) (*record, error) {
	r := &record{layout: l, pieces: map[string][]piece{}}
	text, err := os.ReadFile(r.file())
	if absentIsFine(err) != nil {
		return nil, fmt.Errorf("setup: read what was made: %w", err)
	}
	r.parse(string(text), l.RekalDir)
	if err == nil {
		return r, nil
	}
	var lost []string
	if l.WorkTree != "" {
		for _, path := range worktreePaths() {
			lost = append(lost, filepath.Join(l.WorkTree, path))
		}
	}
	if hasHooksOf(l.CommonDir) || slices.ContainsFunc(hookDirs(l), holdsOurScript) ||
		slices.ContainsFunc(lost, l.isIgnoreFile) {
		r.paths, r.addedTo = append([]string{l.HooksDir}, lost...), lost
	}
	return r, nil
}

// parse takes the lines of a record that lies in a folder.
func (r *record) parse(text, dir string) {
	for line := range strings.Lines(text) {
		name, what, added := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		path := filepath.Join(dir, filepath.FromSlash(name))
		var p piece
		switch {
		case !added:
			r.paths = append(r.paths, path)
		case "\t"+what == addedMark:
			r.addedTo = append(r.addedTo, path)
		case json.Unmarshal([]byte(what), &p) == nil && strings.Contains(p.Text, serverName):
			r.pieces[path] = append(r.pieces[path], p)
		}
	}
}

// isMade reports whether a path is one that Install makes, in whichever worktree.
func (r *record) isMade(path string) bool {
	l := r.layout
	return path == l.HooksDir && l.inGit(path) || slices.ContainsFunc(worktreePaths(), func(tail string) bool {
		return strings.HasSuffix(filepath.ToSlash(path), "/"+tail)
	}) || path == l.Exclude || path == filepath.Dir(l.Exclude) // of versions before 0.2
}

// worktreePaths are all that Install makes in a worktree, slash-separated, behind the folders above.
func worktreePaths() (all []string) {
	files := append(pointerFiles(), skillFiles()...)
	for _, f := range agentFiles() {
		files = append(files, f.path)
	}
	for _, path := range files {
		for i, c := range path {
			if c == '/' {
				all = append(all, path[:i])
			}
		}
		all = append(all, path)
	}
	return all
}

// plan lists what is about to be made in any case.
func (r *record) plan() error {
	var errs []error
	if r.layout.inGit(r.layout.HooksDir) {
		errs = append(errs, r.note(r.layout.HooksDir))
	}
	for _, path := range skillFiles() {
		if r.layout.WorkTree != "" {
			errs = append(errs, r.note(filepath.Join(r.layout.WorkTree, path)))
		}
	}
	for _, path := range r.skills() { // of other worktrees
		errs = append(errs, r.note(ignoreFileOf(path)))
	}
	return errors.Join(errs...)
}

// note lists a path that is about to be made, and the folders above it that are missing.
func (r *record) note(path string) error {
	at := len(r.paths)
	for ; !r.has(path); path = filepath.Dir(path) {
		switch _, err := os.Lstat(path); {
		case err == nil:
			return nil
		case absentIsFine(err) != nil:
			return fmt.Errorf("setup: look for %s: %w", path, err)
		}
		r.paths = slices.Insert(r.paths, at, path) // parents first
	}
	return nil
}

// noteAddition lists a file that something is about to be added to.
func (r *record) noteAddition(path string) error {
	err := r.note(path)
	if err == nil && !slices.Contains(r.addedTo, path) {
		r.addedTo = append(r.addedTo, path)
		err = r.write()
	}
	return err
}

func (r *record) write() error {
	var b strings.Builder
	list := func(path, behind string) {
		rel, err := filepath.Rel(r.layout.RekalDir, path)
		if err == nil && !strings.ContainsAny(rel, "\n\t") { // else it can't be listed; at worst an empty folder stays
			b.WriteString(filepath.ToSlash(rel) + behind + "\n")
		}
	}
	for _, path := range r.paths {
		list(path, "")
	}
	for _, path := range slices.Sorted(maps.Keys(r.pieces)) {
		for _, p := range r.pieces[path] {
			quoted, _ := json.Marshal(p) // it can be
			list(path, "\t"+string(quoted))
		}
	}
	for _, path := range r.addedTo {
		list(path, addedMark)
	}
	if old, err := os.ReadFile(r.file()); err == nil && string(old) == b.String() {
		return nil
	}
	if err := writeFile(r.file(), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("setup: note what was made: %w", err)
	}
	return nil
}

// remove takes out what was added, deletes the listed skills that nobody edited, then what has become empty.
func (r *record) remove(rep *Report) error {
	var errs []error
	// the first version listed paths alone
	touched := slices.Concat(r.addedTo, slices.Collect(maps.Keys(r.pieces)), r.paths)
	slices.Sort(touched)
	for _, path := range slices.Compact(touched) {
		errs = append(errs, removeAdditions(r.layout, path, r, rep))
	}
	for _, p := range slices.Backward(r.paths) {
		if !r.isMade(p) {
			continue
		}
		errs = append(errs, removeHalfWritten(p))
		switch {
		case filepath.Base(p) == skillFile:
			errs = append(errs, removeSkill(r.layout, p, rep))
		case r.layout.isIgnoreFile(p):
			errs = append(errs, os.Remove(p))
		default:
			errs = append(errs, removeEmpty(p))
		}
	}
	return errors.Join(errs...)
}

// removeEmpty removes an empty folder or file; anything else stays. A link stays too: we make none.
func removeEmpty(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return absentIsFine(err)
	}
	if !info.IsDir() && (!info.Mode().IsRegular() || info.Size() > 0) {
		return nil
	}
	err = os.Remove(path)
	if errors.Is(err, fs.ErrExist) || absentIsFine(err) == nil { // a folder with something in it
		return nil
	}
	return fmt.Errorf("setup: remove what is empty: %w", err)
}
