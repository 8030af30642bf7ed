// Package setup installs git-rekal in a repository and removes it again: the folder .git/rekal, the hooks, the agents'
// skill and, on request, the MCP server and hooks in the agents' configurations.
//
// In: a Layout with all paths, as git told them. Out: a Report in plain words.
//
// Promises: Install is idempotent, repairs what is missing, and never overwrites somebody else's hook, skill or line;
// Remove brings back every byte and mode from before, whatever was edited in between; each file is complete or absent;
// one part's failure does not stop the others. Sums identify our own texts of this and former releases. .git/rekal/made
// lists what Install made, so that Remove keeps folders that were there before. Without that file, every empty folder
// counts as ours.
//
// It writes only inside the git directories, .claude/skills/rekal, .agents/skills/rekal and agents' configurations
// (config.go). If hooks belong to a hook manager, to tracked files or to several repositories, the Report says which
// line to add. It never runs git, reads no settings and does not lock.
package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/hooks"
)

// Layout says where things are in one repository. All paths are absolute.
type Layout struct {
	WorkTree  string // root of the worktree; empty in a bare repository
	GitDir    string // of this worktree
	CommonDir string // shared by all worktrees; GitDir in the main one
	HooksDir  string // `git rev-parse --git-path hooks`
	// HooksPathScope is where core.hooksPath is set, as `git config --show-scope` prints
	// it: "local", "worktree", "global", "system" or "command"; empty when it is not set.
	HooksPathScope string
	HooksOff       bool // the environment switches hooks off; the above is what counts without it
	LFS            bool // git's configuration has the filter of Git LFS
	// Runs tells whether git's configuration has our hook for an event; nil where git is older than such hooks (2.54).
	Runs func(event string) bool
	// ByMachine says that the configuration of the machine's user has our hooks, and this repository's needs none.
	ByMachine bool
	Exclude   string // `git rev-parse --git-path info/exclude`
	RekalDir  string // the folder of caches and state in CommonDir
	// Binary is the running git-rekal. Hooks fall back to it where PATH does not hold
	// one, as under graphical clients. Empty: no fallback.
	Binary string
	// Trailers has the hooks that write them.
	Trailers bool
	// MCP asks Install to register the MCP server, too.
	MCP bool
	// Brief asks it for hooks of agents that have them told what they did not ask for, Pointer for lines in the files that
	// they read.
	Brief   Brief
	Pointer bool
	// Agents are the names of those that have sessions of this repository.
	Agents []string
	// Tracked tells whether git tracks a file, in whichever worktree: Remove leaves a skill that it does. nil: nothing is.
	Tracked func(path string) bool
}

// hookNames are the hooks that are wanted.
func (l Layout) hookNames() []string {
	if l.Trailers {
		return append(hooks.Names(), hooks.ForMessages()...)
	}
	return hooks.Names()
}

// Report says what was done, a phrase an entry, for a person to read.
type Report struct {
	Done  []string // what was made or repaired; by Remove: what was taken away or restored
	Hints []string // what was left alone, and what the user may do about it
}

func (r *Report) addDone(format string, a ...any) { r.Done = append(r.Done, fmt.Sprintf(format, a...)) }

func (r *Report) addHint(format string, a ...any) {
	r.Hints = append(r.Hints, fmt.Sprintf(format, a...))
}

// Install sets the repository up, or repairs what is missing. The error joins one error
// for each part that failed, naming its file; the Report holds what was done besides.
func Install(l Layout) (Report, error) {
	if err := l.check(); err != nil {
		return Report{}, err
	}
	var r Report
	made, err := readRecord(l)
	if err != nil {
		return Report{}, err
	}
	errs := []error{made.plan()}
	if errs[0] == nil {
		errs[0] = installDir(l, made, &r)
	}
	errs = append(errs, installHooks(l, &r), installSkills(l, made, &r), installAdditions(l, made, &r))
	_, err = removeExclude(l)
	return r, errors.Join(append(errs, err)...)
}

// Remove takes out all that Install made, in every worktree, and restores the hooks that
// were chained. It keeps what a user edited, and says so. The ledger is not its business.
// When a part fails, the record stays, so that the next Remove still knows what was made.
func Remove(l Layout) (Report, error) {
	if err := l.check(); err != nil {
		return Report{}, err
	}
	var r Report
	made, err := readRecord(l)
	if err != nil {
		return Report{}, err
	}
	errs := []error{removeHooks(l, &r), removeConfigHooks(l, &r)}
	excluded, err := removeExclude(l)
	if errs = append(errs, err); excluded {
		r.addDone("exclude lines in %s", l.pathForUser(l.Exclude))
	}
	errs = append(errs, made.remove(&r))
	if err := errors.Join(errs...); err != nil {
		return r, err
	}
	return r, removeDir(l, &r)
}

// check refuses a layout with which Remove could delete a folder that is not ours.
func (l Layout) check() error {
	if filepath.Dir(l.RekalDir) != l.CommonDir || !strings.HasPrefix(filepath.Base(l.RekalDir), "rekal") {
		return fmt.Errorf("setup: folder %q is not that of git-rekal in %q", l.RekalDir, l.CommonDir)
	}
	for _, p := range []string{l.GitDir, l.CommonDir, l.HooksDir, l.Exclude, l.RekalDir, cmp.Or(l.WorkTree, "/")} {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("setup: path %q is not absolute", p)
		}
	}
	return nil
}

// installDir makes the folder of caches and state, which is nobody else's to read: it holds conversations.
func installDir(l Layout, made *record, r *Report) error {
	if err := os.Mkdir(l.RekalDir, 0o700); err == nil {
		r.addDone("folder %s", l.pathForUser(l.RekalDir))
	} else if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("setup: make the folder: %w", err)
	}
	info, err := os.Stat(l.RekalDir)
	if err != nil {
		return fmt.Errorf("setup: look at the folder: %w", err)
	}
	if info.IsDir() && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(l.RekalDir, 0o700); err != nil {
			return fmt.Errorf("setup: make the folder private: %w", err)
		}
	}
	return errors.Join(made.write(), os.RemoveAll(l.goneDir()))
}

// goneDir is where caches are that are being removed, or that a killed process left so. It lies in our folder, which
// may be a link to another file system, and is as private.
func (l Layout) goneDir() string { return filepath.Join(l.RekalDir, "gone") }

// removeTries is how often removeDir begins again when a hook that still runs put its cache
// back meanwhile.
const removeTries = 20

// removeDir removes the caches, and then the folder if nothing is kept in it. Each is taken out of the way in one step:
// a process that is about to take a lock in a folder would make its file anew while the others are being removed.
func removeDir(l Layout, r *Report) error {
	gone := l.goneDir()
	for range removeTries {
		kept := false
		err := absentIsFine(os.RemoveAll(gone))
		entries, unread := os.ReadDir(l.RekalDir)
		if err == nil && errors.Is(unread, fs.ErrNotExist) {
			return nil
		}
		err = errors.Join(err, unread, os.Mkdir(gone, 0o700))
		for _, e := range entries {
			if kept = kept || isKept(e.Name()); err == nil && !isKept(e.Name()) {
				err = absentIsFine(os.Rename(filepath.Join(l.RekalDir, e.Name()), filepath.Join(gone, e.Name())))
			}
		}
		if err = errors.Join(err, os.RemoveAll(gone)); err != nil {
			return fmt.Errorf("setup: remove the caches: %w", err)
		}
		if kept {
			r.addDone("caches in %s", l.pathForUser(l.RekalDir))
			return nil
		}
		err = os.Remove(l.RekalDir)
		if err == nil {
			r.addDone("folder %s", l.pathForUser(l.RekalDir))
			return nil
		}
		if !errors.Is(err, fs.ErrExist) { // something came into it
			return fmt.Errorf("setup: remove the folder: %w", err)
		}
	}
	return fmt.Errorf("setup: remove the folder: %s: other processes keep writing there", l.RekalDir)
}

// isKept reports whether a name below .git/rekal is of something that nothing makes again: the ledger of private
// sessions, the fingerprints of secrets and of what is to be looked at before it is sent, the records of what commands
// printed.
func isKept(name string) bool {
	for _, own := range []string{"private", "remembered", "excused", "records"} {
		if name == own || strings.HasPrefix(name, own+".") {
			return true
		}
	}
	return false
}

// pathForUser is a path for messages: relative to the worktree if it lies in it, else absolute.
func (l Layout) pathForUser(path string) string {
	if l.WorkTree != "" {
		if rel, err := filepath.Rel(l.WorkTree, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

// inGit reports whether a path is really in the git directory, links followed, and not in
// a worktree that lies in there (as some people keep them beside a bare repository).
func (l Layout) inGit(path string) bool {
	path, tree := followLinks(path), followLinks(l.WorkTree)
	for _, dir := range []string{followLinks(l.CommonDir), followLinks(l.GitDir)} {
		nested := l.WorkTree != "" && isWithin(tree, dir) && isWithin(path, tree)
		if isWithin(path, dir) && !nested {
			return true
		}
	}
	return false
}

func isWithin(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
