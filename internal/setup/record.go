package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// record is the list of folders and files that were not there before Install, parents
// before children. It lies in .rekal/made, one path a line, relative to .rekal so that a
// repository can be moved:
//
//	../.git/hooks
//	../.claude
//	../.claude/skills
//
// It is written before anything is made, so it may name more than there is, never less. What Install
// makes nowhere is not taken from it.
type record struct {
	layout Layout
	paths  []string
}

// toolPath are the paths that Install makes for the skill, and the folders of configurations, in whichever worktree.
var toolPath = lazy.Expr(`/(\.(claude|agents)(/skills(/rekal(/` + skillFile + `)?)?)?|\.codex|\.gemini|\.vscode|\.cursor|\.github(/hooks)?)$`)

// readRecord reads the list. If it is lost while other parts of us are there, all that
// Install could have made counts as made.
func readRecord(l Layout) (*record, error) {
	r := &record{layout: l}
	text, err := os.ReadFile(r.file())
	if absentIsFine(err) != nil {
		return nil, fmt.Errorf("setup: read what was made: %w", err)
	}
	could := candidates(l)
	if l.WorkTree != "" {
		for _, c := range configs() {
			could = append(could, filepath.Join(l.WorkTree, filepath.FromSlash(c.path)))
		}
	}
	for line := range strings.Lines(string(text)) {
		path := filepath.Join(l.RekalDir, filepath.FromSlash(strings.TrimSuffix(line, "\n")))
		if slices.Contains(could, path) || toolPath.MatchString(filepath.ToSlash(path)) || len(additionsAt(path)) > 0 {
			r.paths = append(r.paths, path)
		}
	}
	if err != nil && installed(l) {
		r.paths = could
	}
	return r, nil
}

// installed reports whether anything outside .rekal shows that Install was here.
func installed(l Layout) bool {
	text, _ := os.ReadFile(l.Exclude)
	_, found := cutBlock(string(text))
	return found || slices.ContainsFunc(hookDirs(l), hasOurs)
}

// candidates are the paths that Install makes where they are missing. .rekal itself is
// not among them: it goes with all that it holds.
func candidates(l Layout) []string {
	paths := []string{filepath.Dir(l.Exclude), l.Exclude}
	if l.inGit(l.HooksDir) {
		paths = append(paths, l.HooksDir)
	}
	if l.WorkTree != "" {
		for _, root := range skillRoots() {
			skills := filepath.Join(l.WorkTree, root, "skills")
			dir := filepath.Join(skills, "rekal")
			paths = append(paths, filepath.Dir(skills), skills, dir, filepath.Join(dir, skillFile))
		}
	}
	return paths
}

func (r *record) file() string { return filepath.Join(r.layout.RekalDir, "made") }

func (r *record) has(path string) bool { return slices.Contains(r.paths, path) }

// noteFile adds a file that is about to be made or written to, and the folders above it that are missing.
func (r *record) noteFile(path string) error {
	at := len(r.paths)
	for dir := filepath.Dir(path); !exists(dir) && !r.has(dir); dir = filepath.Dir(dir) {
		r.paths = slices.Insert(r.paths, at, dir) // parents first
	}
	if !r.has(path) {
		r.paths = append(r.paths, path)
	}
	return r.write()
}

// plan adds what is missing now and is about to be made.
func (r *record) plan() error {
	for _, p := range candidates(r.layout) {
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
	for _, p := range r.paths {
		rel, err := filepath.Rel(r.layout.RekalDir, p)
		if err != nil || strings.Contains(rel, "\n") {
			continue // can't be listed; at worst an empty folder stays
		}
		b.WriteString(filepath.ToSlash(rel) + "\n")
	}
	if old, err := os.ReadFile(r.file()); err == nil && string(old) == b.String() {
		return nil
	}
	if err := writeFile(r.file(), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("setup: note what was made: %w", err)
	}
	return nil
}

// remove deletes the listed skills that nobody edited, then what has become empty.
func (r *record) remove(rep *Report) error {
	var errs []error
	for _, p := range slices.Backward(r.paths) {
		if err := sweep(p); err != nil {
			errs = append(errs, fmt.Errorf("setup: clear half-written files: %w", err))
		}
		switch {
		case filepath.Base(p) == skillFile:
			errs = append(errs, removeSkill(r.layout, p, rep))
		case len(additionsAt(p)) > 0:
			errs = append(errs, removeAdded(r.layout, p, rep))
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
