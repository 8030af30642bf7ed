package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-rekal/git-rekal/templates"
)

const (
	skillFile = "SKILL.md"
	// ignoreFile in the skill's folder keeps that out of git, and of what packages take along; as info/exclude does not.
	ignoreFile = ".gitignore"
	ignoreAll  = "*\n"
)

// skillRoots are the folders in whose skills/ agents look. Claude Code, Copilot CLI, OpenCode and Cursor read the
// first, Codex, Gemini CLI, Pi, Kilo and Cline the second. Both are written: an agent that is tried later looks there,
// too, and leaves no sign in a repository before.
func skillRoots() []string { return []string{".claude", ".agents"} }

// skillFiles are the files that Install makes for them, below the worktree.
func skillFiles() (all []string) {
	for _, root := range skillRoots() {
		all = append(all, root+"/skills/rekal/"+skillFile, root+"/skills/rekal/"+ignoreFile)
	}
	return all
}

// ignoreFileOf is the file that keeps a skill out of git.
func ignoreFileOf(skill string) string { return filepath.Join(filepath.Dir(skill), ignoreFile) }

// isIgnoreFile reports whether a file is that of ours which keeps a skill out of git. One that git tracks belongs to
// the repository.
func (l Layout) isIgnoreFile(path string) bool {
	return filepath.Base(path) == ignoreFile && readText(path) == ignoreAll && !isLink(path) &&
		(l.Tracked == nil || !l.Tracked(path))
}

// skills are the skills that Install made, in all worktrees.
func (r *record) skills() []string {
	return slices.DeleteFunc(slices.Clone(r.paths), func(p string) bool { return filepath.Base(p) != skillFile })
}

// skill is what stands where agents look for one.
type skill struct {
	path    string
	link    string // on the way to it; "" for none
	there   bool
	current bool // it is that of this version
	// it is there, and not ours to replace: a person wrote or edited it, or it was here before us and may be tracked
	foreign bool
}

func (l Layout) skillAt(root string, made *record) (skill, error) {
	dir := root + "/skills/rekal"
	s := skill{path: filepath.Join(l.WorkTree, filepath.FromSlash(dir), skillFile), link: l.firstLinkTo(dir)}
	text, err := os.ReadFile(s.path)
	s.there = exists(s.path)
	s.current = err == nil && string(text) == templates.Skill()
	s.foreign = s.there && !s.current && (err != nil || !made.has(s.path) || !templates.Unedited(string(text)))
	if absentIsFine(err) != nil {
		return s, fmt.Errorf("setup: read the skill: %w", err)
	}
	return s, nil
}

// installSkills writes the skill where agents read one.
func installSkills(l Layout, made *record, r *Report) error {
	if l.WorkTree == "" {
		return nil // a bare repository has no place for it; each worktree's init makes its own
	}
	var errs []error
	for _, root := range skillRoots() {
		s, err := l.skillAt(root, made)
		switch {
		case s.link != "":
			r.addHint("%s is a link, and its target may serve other repositories: the skill was not installed",
				l.pathForUser(s.link))
		case err == nil && s.foreign:
			r.addHint("%s is not as git-rekal wrote it and was left alone; to have the current one, remove it and run `git rekal init`",
				l.pathForUser(s.path))
		case err == nil && !s.current:
			if err = os.MkdirAll(filepath.Dir(s.path), 0o777); err == nil {
				err = writeFile(s.path, []byte(templates.Skill()), 0o666)
			}
			if err == nil {
				r.addDone("skill %s", l.pathForUser(s.path))
			}
		}
		errs = append(errs, err)
	}
	for _, path := range made.skills() {
		if exists(path) && !exists(ignoreFileOf(path)) {
			errs = append(errs, writeFile(ignoreFileOf(path), []byte(ignoreAll), 0o666))
		}
	}
	return errors.Join(errs...)
}

// inspectSkill says what keeps agents from the current skill; nil where nothing does.
func inspectSkill(l Layout, root string, made *record) *Problem {
	s, _ := l.skillAt(root, made) // what can't be read is not as this version writes it
	p := &Problem{Hint: true, What: l.pathForUser(s.path) + " is not as this version writes it"}
	switch {
	case s.current && made.has(s.path) && !exists(ignoreFileOf(s.path)):
		return &Problem{What: l.pathForUser(filepath.Dir(s.path)) + " is not kept out of git"}
	case s.current:
		return nil
	case !s.there:
		p.What = l.pathForUser(s.path) + " is not there: agents don't know of git-rekal"
	}
	switch {
	case s.link != "":
		p.Fix = fmt.Sprintf("git rekal init installs it where %s is a folder, not a link", l.pathForUser(s.link))
	case s.foreign:
		p.Fix = fmt.Sprintf("rm %q && git rekal init: that drops what was changed in it", s.path)
	}
	return p
}

// removeSkill deletes a skill that Install made, unless it was edited, or committed and so given to others.
func removeSkill(l Layout, path string, r *Report) error {
	text := readText(path)
	switch {
	case isLink(path) || !exists(path): // we make no links
		return nil
	case !templates.Unedited(text):
		r.addHint("%s was edited and stays", l.pathForUser(path))
		return nil
	case l.Tracked != nil && l.Tracked(path):
		r.addHint("%s stays: git tracks it", l.pathForUser(path))
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("setup: remove the skill: %w", err)
	}
	r.addDone("skill %s", l.pathForUser(path))
	return nil
}
