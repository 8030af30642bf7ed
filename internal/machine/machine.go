// Package machine keeps what git-rekal knows beyond one repository: the list of those that init set up for this user,
// the hooks for all, and which of them the user's configuration of git groups (groups.go).
//
// In: the home folder, and paths of repositories. Out: the list. It stands in one folder, by default
// ~/.config/git-rekal:
//
//	repositories    a path a line: the root of the main worktree, or the git directory where there is none
//	private         a session a line that no clone on this machine sends, as agent/ID
//	hooks.gitconfig the hooks for all repositories, which git's global configuration includes, and what they leave out
//	hooks-off.gitconfig  switches them off
//	made            is there if the folder above was not there before
//
// Promises: several processes may add and remove at once; the file is complete or absent; with the last entry, all that
// Add made is gone. A repository that was moved or deleted is left out, and its line stays, since a disk may come back.
package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/replace"
)

// Machine is the folder of one user; the zero value keeps nothing.
type Machine struct{ dir string }

// ForUser is the machine as a user has it: below $XDG_CONFIG_HOME, else below ~/.config. Without a home folder nothing
// is kept.
func ForUser(home string, getenv func(string) string) Machine {
	switch dir := getenv("XDG_CONFIG_HOME"); {
	case filepath.IsAbs(dir):
		return Machine{filepath.Join(dir, "git-rekal")}
	case home != "":
		return Machine{filepath.Join(home, ".config", "git-rekal")}
	}
	return Machine{}
}

// The files of the folder.
const (
	listFile    = "repositories"
	privateFile = "private"
	madeFile    = "made"
	lockFile    = "lock"
)

// patience is how long a change waits for others, each of which takes a millisecond.
const patience = 5 * time.Second

// ListFile is where the list stands.
func (m Machine) ListFile() string { return filepath.Join(m.dir, listFile) }

// Repositories are the paths of the repositories that were set up and still exist, sorted.
func (m Machine) Repositories() ([]string, error) {
	all, err := m.readList()
	return slices.DeleteFunc(all, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	}), err
}

// PrivateFile is where the private sessions stand; "" where nothing is kept.
func (m Machine) PrivateFile() string {
	if m.dir == "" {
		return ""
	}
	return filepath.Join(m.dir, privateFile)
}

// PrivateSessions are the sessions that no clone on this machine sends, as agent/ID, sorted.
func (m Machine) PrivateSessions() ([]string, error) {
	return m.readLines(privateFile, func(line string) bool { return strings.Contains(line, "/") })
}

// SetPrivate puts sessions on the list of private ones, or takes them off.
func (m Machine) SetPrivate(ctx context.Context, private bool, names []string) error {
	if m.dir == "" || len(names) == 0 {
		return nil
	}
	return m.withFolderLock(ctx, func() error {
		all, err := m.PrivateSessions()
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(name string) bool { return slices.Contains(names, name) })
		if private {
			all = append(all, names...)
		}
		slices.Sort(all)
		return m.writeLines(privateFile, all)
	})
}

func (m Machine) readList() ([]string, error) { return m.readLines(listFile, filepath.IsAbs) }

// readLines reads a file of the folder: the lines that are valid, each once, sorted; none where there is no file.
func (m Machine) readLines(file string, isValid func(string) bool) ([]string, error) {
	if m.dir == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(m.dir, file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("machine: read the list of %s: %w", file, err)
	}
	all := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return !isValid(line) })
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Add puts a repository on the list. If the repository is on the list already, it writes nothing.
func (m Machine) Add(ctx context.Context, path string) error {
	if all, err := m.readList(); m.dir == "" || err == nil && slices.Contains(all, path) {
		return nil
	}
	if strings.Contains(path, "\n") {
		return fmt.Errorf("machine: a path with a line break can't be listed: %q", path)
	}
	return m.changeList(ctx, func(all []string) []string { return append(all, path) })
}

// Remove takes a repository off the list.
func (m Machine) Remove(ctx context.Context, path string) error {
	if all, err := m.readList(); err != nil || !slices.Contains(all, path) {
		return err
	}
	return m.changeList(ctx, func(all []string) []string {
		return slices.DeleteFunc(all, func(one string) bool { return one == path })
	})
}

// ForgetMissing takes off the list what is not there any more, and names it.
func (m Machine) ForgetMissing(ctx context.Context) (gone []string, err error) {
	all, err := m.readList()
	here, err2 := m.Repositories()
	gone = slices.DeleteFunc(all, func(path string) bool { return slices.Contains(here, path) })
	if err = errors.Join(err, err2); err != nil || len(gone) == 0 {
		return nil, err
	}
	return gone, m.changeList(ctx, func(all []string) []string {
		return slices.DeleteFunc(all, func(path string) bool { return slices.Contains(gone, path) })
	})
}

// changeList rewrites the list while nobody else does.
func (m Machine) changeList(ctx context.Context, edit func([]string) []string) error {
	return m.withFolderLock(ctx, func() error {
		all, err := m.readList()
		if err != nil {
			return err
		}
		all = edit(all)
		slices.Sort(all)
		return m.writeLines(listFile, all)
	})
}

// withFolderLock does something to the folder while nobody else does, and removes it where it is empty then.
func (m Machine) withFolderLock(ctx context.Context, do func() error) error {
	held, err := m.lockFolder(ctx)
	if err == nil {
		err = errors.Join(do(), held.Remove())
	}
	if err != nil {
		return fmt.Errorf("machine: change %s: %w", m.dir, err)
	}
	m.removeEmptyFolder()
	return nil
}

// lockFolder makes the folder and takes its lock; one who takes the last entry off may remove the folder, or what it
// lies in, in between.
func (m Machine) lockFolder(ctx context.Context) (held *lock.Lock, err error) {
	for range 10 {
		if err = m.makeFolder(); err == nil {
			held, err = lock.Acquire(ctx, filepath.Join(m.dir, lockFile), lock.ToWrite, patience)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return held, err
}

func (m Machine) makeFolder() error {
	_, err := os.Stat(filepath.Dir(m.dir))
	above := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(m.dir, 0o700); err != nil || !above {
		return err
	}
	return os.WriteFile(filepath.Join(m.dir, madeFile), nil, 0o600)
}

// writeLines replaces a file of the folder; without lines it goes.
func (m Machine) writeLines(file string, all []string) error {
	path := filepath.Join(m.dir, file)
	if len(all) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return replace.File(path, []byte(strings.Join(all, "\n")+"\n"))
}

// removeEmptyFolder removes the folder if it is empty, and then the folder above it if Add made that.
func (m Machine) removeEmptyFolder() {
	made := filepath.Join(m.dir, madeFile)
	entries, err := os.ReadDir(m.dir)
	above := len(entries) == 1 && entries[0].Name() == madeFile
	if err != nil || len(entries) > 0 && !above || above && os.Remove(made) != nil {
		return
	}
	if os.Remove(m.dir) == nil && above {
		_ = os.Remove(filepath.Dir(m.dir)) // stays where something else came into it
	}
}
