// Package group asks several repositories at once: those that the user put into a group, or all that were set up on
// this machine.
//
// A group is paths, with the shell's globs, in the user's own configuration of git, and nowhere else:
//
//	git config --global --add rekal.group.shop '~/src/shop-*'
//
// In: which repositories, and a question. Out: one list, whose results name their repositories. Each member answers
// from its own index, through package ask, side by side with the others, which it tells how rare words are there, so
// that scores compare.
//
// Promises: what a repository configures or holds puts neither itself nor another one into a group; who is no person at
// a terminal is answered only where a group holds the repository in which they ask, or the caller let them name a
// folder of mirrors; a member that can't answer is told of, and the others answer. Records of what commands printed
// stay out.
package group

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/machine"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Which says which repositories are asked.
type Which struct {
	Name    string      // a group's; "": the groups that hold the repository in which is asked
	All     bool        // all of this machine
	Mirrors string      // all bare repositories that lie in this folder
	Person  bool        // a person asks, at a terminal
	Reader  gate.Reader // who reads the answers: of each repository what its rekal.require allows
	// Restrict opens what who asks may read of a repository; nil: all of each is read. Of those for which it has an error
	// nothing is told. It may be called side by side.
	Restrict func(context.Context, *workspace.Workspace) (*workspace.Workspace, error)
}

// Group is the repositories that are asked. Close it.
type Group struct {
	Names   []string // of groups, sorted; none for all of this machine
	Left    []error  // which are left out, and why
	members []member
	reader  gate.Reader // as of Which
	warn    func(error)
	turns   chan struct{} // as many as may work at once
}

// member is one repository.
type member struct {
	*workspace.Workspace
	path string
}

// Refused is a question that can't be asked.
type Refused struct{ reason, hint string }

func (r *Refused) Error() string { return r.reason }

// Hint is what to do about it.
func (r *Refused) Hint() string { return r.hint }

// ErrNone is in the error of a group in which no repository can be asked.
var ErrNone error = &Refused{"none of these repositories can be asked", `"git rekal init" sets one up`}

// Names are the groups that the user configured, sorted.
func Names(ctx context.Context, p workspace.Process) ([]string, error) {
	groups, err := machine.ReadGroups(ctx, p.Dir, p.Env)
	return groups.Names(), err
}

// HoldingCurrent are the groups that hold the repository in which p runs, sorted; none outside of one.
func HoldingCurrent(ctx context.Context, p workspace.Process) ([]string, error) {
	groups, err := machine.ReadGroups(ctx, p.Dir, p.Env)
	if err != nil || len(groups) == 0 {
		return nil, err
	}
	here, err := machine.RootsAt(ctx, p.Dir, p.Env)
	if err != nil {
		return nil, err
	}
	return groups.Holding(here), nil
}

// Open opens the repositories of a group. The error is a Refused where there is none to ask, or who asks may not.
func Open(ctx context.Context, p workspace.Process, which Which) (*Group, error) {
	var printing sync.Mutex
	g := &Group{reader: which.Reader, turns: make(chan struct{}, atOnce), warn: func(err error) {
		printing.Lock()
		defer printing.Unlock()
		p.Warn(err)
	}}
	named, paths, err := g.chooseFolders(ctx, p, which)
	if err != nil {
		return nil, err
	}
	g.open(ctx, p, which.Restrict, named, paths)
	if len(g.members) == 0 {
		return nil, errors.Join(append(slices.Clone(g.Left), ErrNone)...)
	}
	return g, nil
}

// chooseFolders finds the folders of the repositories to ask. named are those that the user named one by one, which are
// reported if they can't be asked.
func (g *Group) chooseFolders(ctx context.Context, p workspace.Process,
	which Which,
) (named, paths []string, err error) {
	if which.Mirrors != "" {
		names, err := fs.Glob(os.DirFS(which.Mirrors), "*.git")
		for _, name := range names {
			paths = append(paths, filepath.Join(which.Mirrors, name))
		}
		return nil, paths, err
	}
	if which.All {
		if !which.Person {
			return nil, nil, &Refused{
				"only a person at a terminal may ask all repositories",
				`an agent asks those of its repository's group: "git rekal --group"`,
			}
		}
		paths, err = p.Machine().Repositories()
		return paths, paths, err
	}
	groups, err := machine.ReadGroups(ctx, p.Dir, p.Env)
	if err != nil {
		return nil, nil, err
	}
	here, err := machine.RootsAt(ctx, p.Dir, p.Env)
	if err != nil {
		return nil, nil, err
	}
	name, held := strings.ToLower(which.Name), groups.Holding(here)
	switch g.Names = held; {
	case name == "" && len(held) == 0:
		return nil, nil, &Refused{
			"no group holds this repository",
			`the user puts it into one: "git config --global --add rekal.group.NAME PATH", where PATH may have globs`,
		}
	case name != "" && groups[name] == nil:
		return nil, nil, &Refused{
			fmt.Sprintf("there is no group %q", which.Name),
			`"git config --global --get-regexp rekal.group" lists them`,
		}
	case name != "" && !slices.Contains(held, name) && !which.Person:
		return nil, nil, &Refused{fmt.Sprintf("group %q does not hold this repository, and only a person at a terminal may ask others", which.Name), "ask in one of its repositories"}
	case name != "":
		g.Names = []string{name}
	}
	for _, name := range g.Names {
		for _, glob := range groups[name] {
			if !strings.ContainsAny(glob, `*?[\`) {
				named = append(named, filepath.Clean(glob))
			}
			paths = append(paths, machine.ExpandGlobs([]string{glob})...)
		}
	}
	paths = append(paths, named...)
	slices.Sort(paths)
	return named, slices.Compact(paths), nil
}

// open opens what of the folders is a repository that was set up, each once though several worktrees may be of it.
func (g *Group) open(ctx context.Context, p workspace.Process,
	restrict func(context.Context, *workspace.Workspace) (*workspace.Workspace, error), named, paths []string,
) {
	opened, failed := make([]*workspace.Workspace, len(paths)), make([]error, len(paths))
	g.runParallel(len(paths), func(i int) {
		if opened[i], failed[i] = openMember(ctx, p, g.warn, paths[i]); failed[i] == nil && restrict != nil {
			all := opened[i]
			opened[i], failed[i] = restrict(ctx, all)
			all.Close()
		}
	})
	seen := map[string]bool{}
	for i, w := range opened {
		switch {
		case failed[i] != nil:
			if restrict != nil {
				continue // its name may say something already
			}
			if unasked := errors.Is(failed[i], git.ErrNotRepository) ||
				errors.Is(failed[i], workspace.ErrNotInitialised); !unasked || slices.Contains(named, paths[i]) {
				g.Left = append(g.Left, leftOutNotice(paths[i], failed[i]))
			}
		case seen[w.Repo.Layout().CommonDir]:
			w.Close()
		default:
			seen[w.Repo.Layout().CommonDir] = true
			g.members = append(g.members, member{w, paths[i]})
		}
	}
}

// openMember opens the repository whose root a folder is.
func openMember(ctx context.Context, p workspace.Process, warn func(error), path string) (*workspace.Workspace, error) {
	p.Dir, p.Env = path, git.WithoutRepositoryVariables(p.Env)
	p.Warn = func(err error) { warn(fmt.Errorf("%s: %w", filepath.Base(path), err)) }
	if info, err := os.Stat(path); err != nil {
		return nil, errors.Unwrap(err) // the path is told with it
	} else if !info.IsDir() {
		return nil, git.ErrNotRepository
	}
	// a folder of another repository is no member
	if _, err := os.Lstat(filepath.Join(path, ".git")); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(path, "HEAD")); err != nil {
			return nil, git.ErrNotRepository
		}
	}
	w, err := workspace.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := w.CheckReady(); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// leftOutNotice says which repository is not asked.
func leftOutNotice(path string, err error) error { return fmt.Errorf("%s is left out: %w", path, err) }

// Close gives back what Open opened.
func (g *Group) Close() {
	for _, m := range g.members {
		m.Close()
	}
}

// SettingsFrom is the repository whose settings say how answers are shown.
func (g *Group) SettingsFrom() *workspace.Workspace { return g.members[0].Workspace }

// Member is the one at a path, or the first for ""; nil where there is none.
func (g *Group) Member(path string) *workspace.Workspace {
	for _, m := range g.members {
		if path == "" || m.path == path {
			return m.Workspace
		}
	}
	return nil
}

// Paths are the paths of the members.
func (g *Group) Paths() (paths []string) {
	for _, m := range g.members {
		paths = append(paths, m.path)
	}
	return paths
}

// atOnce is how many repositories are worked on at once. Who waits for the others does not count.
const atOnce = 4

// runParallel does something so many times, side by side.
func (g *Group) runParallel(n int, do func(i int)) {
	var beside sync.WaitGroup
	for i := range n {
		beside.Go(func() {
			g.turns <- struct{}{}
			defer func() { <-g.turns }()
			do(i)
		})
	}
	beside.Wait()
}

// whileWaiting does something while another member may work.
func (g *Group) whileWaiting(do func()) {
	<-g.turns
	do()
	g.turns <- struct{}{}
}
