package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// record is the list of folders and files that were not there before Install, parents before children, and of the
// pieces that Install put into files that others write, too. It lies in .git/rekal/made, one path a line, relative to
// .git/rekal so that a repository can be moved; a piece stands behind its file's path, as JSON:
//
//	../hooks
//	../../.gemini
//	../../.gemini/settings.json
//	../../.gemini/settings.json	{"at":1,"text":"\n  \"mcpServers\": …"}
//
// It is written before anything is made, so it may name more than there is, never less. What Install
// makes nowhere is not taken from it.
type record struct {
	layout Layout
	paths  []string
	pieces map[string][]piece // of each file, in the order in which they were added
}

// readRecord reads the list. If it is lost while other parts of us are there, all that
// Install could have made counts as made.
func readRecord(l Layout) (*record, error) {
	r := &record{layout: l, pieces: map[string][]piece{}}
	text, err := os.ReadFile(r.file())
	if absentIsFine(err) != nil {
		return nil, fmt.Errorf("setup: read what was made: %w", err)
	}
	could := pathsToMake(l)
	for line := range strings.Lines(string(text)) {
		name, quoted, isPiece := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		path := filepath.Join(l.RekalDir, filepath.FromSlash(name))
		var p piece
		switch {
		case isPiece:
			if json.Unmarshal([]byte(quoted), &p) == nil && strings.Contains(p.Text, serverName) && len(additionsTo(path)) > 0 {
				r.pieces[path] = append(r.pieces[path], p)
			}
		case slices.Contains(could, path) || inAnyWorktree(path) || path == l.Exclude || path == filepath.Dir(l.Exclude):
			// of versions before 0.2
			r.paths = append(r.paths, path)
		}
	}
	if err != nil && (hasHooksOf(l.CommonDir) || slices.ContainsFunc(hookDirs(l), holdsOurScript) ||
		slices.ContainsFunc(could, l.isIgnoreFile)) {
		r.paths = could
		for _, path := range worktreePaths() {
			if p := filepath.Join(l.WorkTree, path); l.WorkTree != "" && !r.has(p) {
				r.paths = append(r.paths, p)
			}
		}
	}
	return r, nil
}

// worktreePaths are all that Install makes in a worktree, slash-separated, and the folders above.
func worktreePaths() (all []string) {
	files := pointerFiles()
	for _, root := range skillRoots() {
		files = append(files, root+"/skills/rekal/"+skillFile, root+"/skills/rekal/"+ignoreFile)
	}
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

// inAnyWorktree reports whether Install makes such a path, in whichever worktree.
func inAnyWorktree(path string) bool {
	return slices.ContainsFunc(worktreePaths(), func(tail string) bool {
		return strings.HasSuffix(filepath.ToSlash(path),
			"/"+tail)
	})
}

// pathsToMake are the paths that Install makes where they are missing. Our own folder is
// not among them: it goes with its caches.
func pathsToMake(l Layout) []string {
	var paths []string
	if l.inGit(l.HooksDir) {
		paths = append(paths, l.HooksDir)
	}
	if l.WorkTree != "" {
		for _, root := range skillRoots() {
			skills := filepath.Join(l.WorkTree, root, "skills")
			dir := filepath.Join(skills, "rekal")
			paths = append(paths, filepath.Dir(skills), skills, dir, filepath.Join(dir, skillFile),
				filepath.Join(dir, ignoreFile))
		}
	}
	return paths
}

func (r *record) file() string { return filepath.Join(r.layout.RekalDir, recordFile) }

const recordFile = "made"

func (r *record) has(path string) bool { return slices.Contains(r.paths, path) }

// noteAddition adds the pieces that are about to be put into a file, and the file and the folders above it that are
// missing.
func (r *record) noteAddition(path string, pieces []piece) error {
	at := len(r.paths)
	for missing := path; !exists(missing) && !r.has(missing); missing = filepath.Dir(missing) {
		r.paths = slices.Insert(r.paths, at, missing) // parents first
	}
	r.pieces[path] = append(r.pieces[path], pieces...)
	return r.write()
}

// planMissing adds what is missing now and is about to be made.
func (r *record) planMissing() error {
	paths := pathsToMake(r.layout)
	for _, p := range r.skills() { // of other worktrees
		paths = append(paths, filepath.Join(filepath.Dir(p), ignoreFile))
	}
	for _, p := range paths {
		switch _, err := os.Lstat(p); {
		case err == nil || r.has(p):
		case absentIsFine(err) == nil:
			r.paths = append(r.paths, p)
		default:
			return fmt.Errorf("setup: look for %s: %w", p, err)
		}
	}
	return nil
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
			quoted, err := json.Marshal(p)
			if err != nil {
				return fmt.Errorf("setup: note what was added: %w", err)
			}
			list(path, "\t"+string(quoted))
		}
	}
	if old, err := os.ReadFile(r.file()); err == nil && string(old) == b.String() {
		return nil
	}
	if err := writeFile(r.file(), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("setup: note what was made: %w", err)
	}
	return nil
}

// remove takes out the pieces, deletes the listed skills that nobody edited, then what has become empty.
func (r *record) remove(rep *Report) error {
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(r.pieces)) {
		errs = append(errs, removeAdditions(r.layout, path, r, rep))
	}
	for _, p := range slices.Backward(r.paths) {
		errs = append(errs, removeHalfWritten(p))
		switch {
		case filepath.Base(p) == skillFile:
			errs = append(errs, removeSkill(r.layout, p, rep))
		case r.layout.isIgnoreFile(p):
			errs = append(errs, os.Remove(p))
		case r.pieces[p] == nil && len(additionsTo(p)) > 0:
			errs = append(errs, removeAdditions(r.layout, p, r, rep))
		default:
			errs = append(errs, removeEmpty(p))
		}
	}
	return errors.Join(errs...)
}

// removeEmpty removes an empty folder or file; anything else stays. A link stays too: we
// make none.
func removeEmpty(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return absentIsFine(err)
	}
	switch {
	case info.IsDir():
		entries, err := os.ReadDir(path)
		if err != nil {
			return fmt.Errorf("setup: look into a folder: %w", err)
		}
		if len(entries) > 0 {
			return nil
		}
	case !info.Mode().IsRegular() || info.Size() > 0:
		return nil
	}
	if err := os.Remove(path); absentIsFine(err) != nil {
		return fmt.Errorf("setup: remove what is empty: %w", err)
	}
	return nil
}
