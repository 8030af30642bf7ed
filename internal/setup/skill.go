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

// installSkills writes the skill where agents read one.
func installSkills(l Layout, made *record, r *Report) error {
	if l.WorkTree == "" {
		return nil // a bare repository has no place for it; each worktree's init makes its own
	}
	var errs []error
	for _, root := range skillRoots() {
		errs = append(errs, installSkill(l, root, made, r))
	}
	for _, path := range made.skills() {
		if ignore := filepath.Join(filepath.Dir(path), ignoreFile); exists(path) && !exists(ignore) {
			errs = append(errs, writeFile(ignore, []byte(ignoreAll), 0o666))
		}
	}
	return errors.Join(errs...)
}

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

// installSkill writes .claude/skills/rekal/SKILL.md, or that of another root. A file that a person wrote or edited
// stays; so does one that was here before us, because it may be tracked.
func installSkill(l Layout, root string, made *record, r *Report) error {
	dir, link := l.skillDir(root)
	if link != "" {
		r.addHint("%s is a link, and its target may serve other repositories: the skill was not installed",
			l.pathForUser(link))
		return nil
	}
	path := filepath.Join(dir, skillFile)
	text, err := os.ReadFile(path)
	switch {
	case absentIsFine(err) != nil:
		return fmt.Errorf("setup: read the skill: %w", err)
	case err == nil && string(text) == templates.Skill():
		return nil
	case exists(path) && (err != nil || !mayOverwrite(made, path, text)):
		r.addHint("%s is not as git-rekal wrote it and was left alone; to have the current one, remove it and run `git rekal init`", l.pathForUser(path))
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("setup: make the skill's folder: %w", err)
	}
	if err := writeFile(path, []byte(templates.Skill()), 0o666); err != nil {
		return fmt.Errorf("setup: write the skill: %w", err)
	}
	r.addDone("skill %s", l.pathForUser(path))
	return nil
}

// skillDir is the folder of the skill below a root, and the link on the way to it, if there is one.
func (l Layout) skillDir(root string) (dir, link string) {
	path := root + "/skills/rekal"
	return filepath.Join(l.WorkTree, filepath.FromSlash(path)), l.firstLinkTo(path)
}

// mayOverwrite reports whether Install writes over a skill that is there: one that it made and nobody edited.
func mayOverwrite(made *record, path string, text []byte) bool {
	return made.has(path) && templates.Unedited(string(text))
}

// inspectSkill says what keeps agents from the current skill; nil where nothing does.
func inspectSkill(l Layout, root string, made *record) *Problem {
	dir, link := l.skillDir(root)
	path := filepath.Join(dir, skillFile)
	text, err := os.ReadFile(path)
	p := &Problem{Hint: true}
	switch {
	case err == nil && string(text) == templates.Skill():
		if made.has(path) && !exists(filepath.Join(dir, ignoreFile)) {
			return &Problem{What: l.pathForUser(dir) + " is not kept out of git"}
		}
		return nil
	case absentIsFine(err) == nil && err != nil:
		p.What = l.pathForUser(path) + " is not there: agents don't know of git-rekal"
	default:
		p.What = l.pathForUser(path) + " is not as this version writes it"
	}
	switch {
	case link != "":
		p.Fix = fmt.Sprintf("git rekal init installs it where %s is a folder, not a link", l.pathForUser(link))
	case exists(path) && !mayOverwrite(made, path, text):
		p.Fix = fmt.Sprintf("rm %q && git rekal init: that drops what was changed in it", path)
	}
	return p
}

// removeSkill deletes a skill that Install made, unless it was edited, or committed and so given to others.
func removeSkill(l Layout, path string, r *Report) error {
	if isLink(path) {
		return nil // not made by us
	}
	text, err := readIfThere(path)
	if err != nil {
		return fmt.Errorf("setup: read the skill: %w", err)
	}
	if text == nil {
		return nil
	}
	if !templates.Unedited(string(text)) {
		r.addHint("%s was edited and stays", l.pathForUser(path))
		return nil
	}
	if l.Tracked != nil && l.Tracked(path) {
		r.addHint("%s stays: git tracks it", l.pathForUser(path))
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("setup: remove the skill: %w", err)
	}
	r.addDone("skill %s", l.pathForUser(path))
	return nil
}
