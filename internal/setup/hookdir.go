package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/hooks"
)

// installHooks has git's configuration name the hooks, where git has that. Files that an older git, maybe one that a
// graphical client brings along, was given stay beside it, up to date: the second run of an event does nothing.
func installHooks(l Layout, r *Report) error {
	if l.Runs == nil {
		return installHookFiles(l, r)
	}
	errs := []error{installConfigHooks(l, r)}
	for _, dir := range hookDirs(l) {
		for _, name := range allHooks() {
			if holdsScript(dir, name) {
				_, err := hook{dir, name}.install(l, r)
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// installHookFiles writes the hooks where they are this repository's own: in the git
// directory. Everywhere else it says which lines to add. That covers core.hooksPath in
// the worktree (tracked files, or a folder like .husky/_ that its manager writes anew),
// in the global or system configuration (it serves every repository), and a hooks folder
// that is a link to one of these.
func installHookFiles(l Layout, r *Report) error {
	if l.HooksOff {
		r.addHint("%s", l.hooksOffNote())
	}
	if !l.inGit(l.HooksDir) {
		hintMissingCalls(l, r)
		return nil
	}
	if err := os.MkdirAll(l.HooksDir, 0o777); err != nil {
		return fmt.Errorf("setup: make the hooks folder: %w", err)
	}
	names := map[outcome][]string{}
	var errs []error
	for _, name := range allHooks() {
		h := hook{l.HooksDir, name}
		switch there := holdsScript(h.dir, name); {
		case slices.Contains(l.hookNames(), name), name == hooks.ForLFS && l.usesLFS() && (there || !exists(h.path())):
			did, err := h.install(l, r)
			errs = append(errs, err)
			names[did] = append(names[did], name)
		case there: // of trailers, or Git LFS, that are not wanted any more
			_, err := h.remove(l, r)
			errs = append(errs, err)
		}
	}
	if n := names[made]; n != nil {
		r.addDone("hooks %s in %s", strings.Join(n, ", "), l.pathForUser(l.HooksDir))
	}
	if n := names[chained]; n != nil {
		r.addDone("hooks %s in %s; yours run first, from the same names with %s", strings.Join(n, ", "),
			l.pathForUser(l.HooksDir), chainMark)
	}
	hintLefthook(l, r)
	if hint := l.simpleGitHooksHint(); hint != "" {
		r.addHint("%s", hint)
	}
	return errors.Join(errs...)
}

// hintMissingCalls says which line to add to which hook, for each hook that does not call git-rekal.
func hintMissingCalls(l Layout, r *Report) {
	if p := l.noHooks(); p != nil {
		r.addHint("%s: %s", p.What, p.Fix)
		return
	}
	dir := l.editableHooksDir()
	var lines []string
	for _, name := range l.hookNames() {
		if path := filepath.Join(dir, name); !callsRekal(readText(path), name) {
			lines = append(lines, fmt.Sprintf("    %s:  %s", l.pathForUser(path), callLine(name)))
		}
	}
	if lines != nil {
		r.addHint("no hooks were written: %s; to record sessions add these lines, each at the end of its%s hook:\n%s",
			l.whyNoHooks(), l.executableNote(), strings.Join(lines, "\n"))
	}
}

// hooksOffNote says that commits made here are captured later. An agent that empties core.hooksPath for its git does so
// for ours, too.
func (l Layout) hooksOffNote() string {
	return fmt.Sprintf("this environment empties core.hooksPath, so git runs no hooks here; those in %s run elsewhere; "+
		"the next one, or `git rekal checkpoint`, captures what is committed here", l.pathForUser(l.HooksDir))
}

// editableHooksDir is where the hooks are that call git-rekal or may be made to: ours, or a person's own. husky's are
// one level above the folder that git calls, which husky generates.
func (l Layout) editableHooksDir() string {
	if filepath.Base(l.HooksDir) == "_" && !l.inGit(l.HooksDir) {
		return filepath.Dir(l.HooksDir)
	}
	return l.HooksDir
}

// executableNote says of a hook of a person that it has to be executable. husky runs it by sh, as it is.
func (l Layout) executableNote() string {
	if l.editableHooksDir() != l.HooksDir {
		return ""
	}
	return " (executable)"
}

// noHooks says why git runs no hooks here at all; nil where it runs them. A relative core.hooksPath may lead into the
// .git of the main worktree, where a linked one has but a file.
func (l Layout) noHooks() *Problem {
	below, err := filepath.Rel(filepath.Join(l.WorkTree, ".git"), l.HooksDir)
	if l.WorkTree != "" && l.GitDir != l.CommonDir && err == nil && filepath.IsLocal(below) {
		return &Problem{
			What: "core.hooksPath leads to " + l.pathForUser(l.HooksDir) +
				", which is no folder in a linked worktree, so git runs no hooks here",
			Fix: fmt.Sprintf("git config core.hooksPath %q", filepath.Join(l.CommonDir, below)),
		}
	}
	if info, err := os.Stat(l.HooksDir); err == nil && !info.IsDir() { // usually /dev/null
		return &Problem{
			What: fmt.Sprintf("core.hooksPath is %s, so git runs no hooks here", l.HooksDir),
			Fix:  "git config --unset core.hooksPath, or run git rekal checkpoint now and then",
		}
	}
	return nil
}

func (l Layout) whyNoHooks() string {
	real := followLinks(l.HooksDir)
	switch {
	case l.HooksPathScope == "":
		return fmt.Sprintf("the hooks folder is a link to %s", l.pathForUser(real))
	case filepath.Base(l.HooksDir) == "_":
		return fmt.Sprintf("core.hooksPath is %s, which a hook manager overwrites", l.pathForUser(l.HooksDir))
	case l.WorkTree != "" && isWithin(real, followLinks(l.WorkTree)):
		return fmt.Sprintf("core.hooksPath is %s, which belongs to the project's files", l.pathForUser(l.HooksDir))
	case l.HooksPathScope == "global" || l.HooksPathScope == "system":
		return fmt.Sprintf("core.hooksPath is %s in the %s configuration, which serves every repository", l.HooksDir,
			l.HooksPathScope)
	}
	return fmt.Sprintf("core.hooksPath is %s, outside this repository", l.HooksDir)
}

// hookDirs are the folders in which our scripts may be: the one that git uses now, and the
// usual one, from before core.hooksPath was set.
func hookDirs(l Layout) []string {
	dirs := []string{l.HooksDir, filepath.Join(l.CommonDir, "hooks")}
	return slices.DeleteFunc(slices.Compact(dirs), func(d string) bool { return !l.inGit(d) })
}

// allHooks are all that Install may write.
func allHooks() []string { return append(append(hooks.Names(), hooks.ForMessages()...), hooks.ForLFS) }

// holdsOurScript reports whether one of our scripts is in a folder.
func holdsOurScript(dir string) bool {
	return slices.ContainsFunc(allHooks(), func(name string) bool { return holdsScript(dir, name) })
}

func holdsScript(dir, name string) bool { return len(hook{dir, name}.scriptCopies()) > 0 }

func removeHooks(l Layout, r *Report) error {
	var errs []error
	for _, dir := range hookDirs(l) {
		var gone []string
		for _, name := range allHooks() {
			did, err := hook{dir, name}.remove(l, r)
			errs = append(errs, err)
			if did {
				gone = append(gone, name)
			}
		}
		if gone != nil {
			r.addDone("hooks %s in %s", strings.Join(gone, ", "), l.pathForUser(dir))
		}
	}
	for _, name := range l.hookNames() {
		if !l.inGit(l.HooksDir) {
			hintLineThatStays(l, filepath.Join(l.editableHooksDir(), name), name, r)
		}
	}
	return errors.Join(errs...)
}
