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

// installHooks writes the hooks where they are this repository's own: in the git
// directory. Everywhere else it says which lines to add. That covers core.hooksPath in
// the worktree (tracked files, or a folder like .husky/_ that its manager writes anew),
// in the global or system configuration (it serves every repository), and a hooks folder
// that is a link to one of these.
func installHooks(l Layout, r *Report) error {
	if l.HooksOff {
		r.hint("%s", l.hooksOff())
	}
	if !l.inGit(l.HooksDir) {
		hintHooks(l, r)
		return nil
	}
	if err := os.MkdirAll(l.HooksDir, 0o777); err != nil {
		return fmt.Errorf("setup: make the hooks folder: %w", err)
	}
	names := map[outcome][]string{}
	var errs []error
	for _, name := range hooks.Names() {
		did, err := hook{l.HooksDir, name}.install(l, r)
		errs = append(errs, err)
		names[did] = append(names[did], name)
	}
	if n := names[made]; n != nil {
		r.done("hooks %s in %s", strings.Join(n, ", "), l.show(l.HooksDir))
	}
	if n := names[chained]; n != nil {
		r.done("hooks %s in %s; yours run first, from the same names with %s", strings.Join(n, ", "), l.show(l.HooksDir), chainMark)
	}
	hintLefthook(l, r)
	return errors.Join(errs...)
}

// hintHooks says which line to add to which hook, for those that lack it.
func hintHooks(l Layout, r *Report) {
	if l.noHooks() { // usually /dev/null
		r.hint("core.hooksPath is %s, so git runs no hooks here: run `git rekal checkpoint` to record sessions", l.HooksDir)
		return
	}
	dir := l.callDir()
	var lines []string
	for _, name := range hooks.Names() {
		if path := filepath.Join(dir, name); !calls(readText(path), name) {
			lines = append(lines, fmt.Sprintf("    %s:  %s", l.show(path), callLine(name)))
		}
	}
	if lines != nil {
		r.hint("no hooks were written: %s; to record sessions add these lines, each at the end of its (executable) hook:\n%s",
			l.whyNot(), strings.Join(lines, "\n"))
	}
}

// hooksOff says that commits made here are captured later. An agent that empties core.hooksPath for its git does so for ours, too.
func (l Layout) hooksOff() string {
	return fmt.Sprintf("this environment empties core.hooksPath, so git runs no hooks here; those in %s run elsewhere; "+
		"the next one, or `git rekal checkpoint`, captures what is committed here", l.show(l.HooksDir))
}

// callDir is where the hooks are that call git-rekal: ours, or a person's own. husky's are one level above the folder that
// git calls, which husky generates.
func (l Layout) callDir() string {
	if filepath.Base(l.HooksDir) == "_" && !l.inGit(l.HooksDir) {
		return filepath.Dir(l.HooksDir)
	}
	return l.HooksDir
}

func (l Layout) whyNot() string {
	real := resolve(l.HooksDir)
	switch {
	case l.HooksPathScope == "":
		return fmt.Sprintf("the hooks folder is a link to %s", l.show(real))
	case filepath.Base(l.HooksDir) == "_":
		return fmt.Sprintf("core.hooksPath is %s, which a hook manager overwrites", l.show(l.HooksDir))
	case l.WorkTree != "" && within(real, resolve(l.WorkTree)):
		return fmt.Sprintf("core.hooksPath is %s, which belongs to the project's files", l.show(l.HooksDir))
	case l.HooksPathScope == "global" || l.HooksPathScope == "system":
		return fmt.Sprintf("core.hooksPath is %s in the %s configuration, which serves every repository", l.HooksDir, l.HooksPathScope)
	}
	return fmt.Sprintf("core.hooksPath is %s, outside this repository", l.HooksDir)
}

// hookDirs are the folders in which our scripts may be: the one that git uses now, and the
// usual one, from before core.hooksPath was set.
func hookDirs(l Layout) []string {
	dirs := []string{l.HooksDir, filepath.Join(l.CommonDir, "hooks")}
	return slices.DeleteFunc(slices.Compact(dirs), func(d string) bool { return !l.inGit(d) })
}

// hasOurs reports whether one of our scripts is in a folder.
func hasOurs(dir string) bool {
	return slices.ContainsFunc(hooks.Names(), func(name string) bool { return len(hook{dir, name}.copies()) > 0 })
}

func removeHooks(l Layout, r *Report) error {
	var errs []error
	for _, dir := range hookDirs(l) {
		var gone []string
		for _, name := range hooks.Names() {
			did, err := hook{dir, name}.remove(l, r)
			errs = append(errs, err)
			if did {
				gone = append(gone, name)
			}
		}
		if gone != nil {
			r.done("hooks %s in %s", strings.Join(gone, ", "), l.show(dir))
		}
	}
	if !l.inGit(l.HooksDir) {
		hintCalls(l, r)
	}
	return errors.Join(errs...)
}

// hintCalls names the lines that a person added and that stay.
func hintCalls(l Layout, r *Report) {
	for _, name := range hooks.Names() {
		if path := filepath.Join(l.callDir(), name); calls(readText(path), name) {
			r.hint("hook %s calls git-rekal in a line that you added; it is harmless and stays", l.show(path))
		}
	}
}
