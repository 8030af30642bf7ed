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

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/setup"
)

// Our hooks for all repositories of a user lie beside the list, in a file that a few lines at the head of git's global
// configuration include. Comments in it say which file has these lines, and what is excluded.
const (
	hooksFile    = "hooks.gitconfig"
	hooksOffFile = git.HooksOffFile
)

// ErrNoHome is a user without a home folder.
var ErrNoHome = errors.New("there is no home folder to keep it in")

// global is what the comments of the file of hooks say, a word and a tab before each text.
type global struct {
	Exclusions
	config string // the file with the lines
	made   bool   // it was not there before
	binary string // what hooks fall back to
}

// Global is what is excluded from hooks for all repositories; on is whether there are such hooks.
func (m Machine) Global() (e Exclusions, on bool, err error) {
	g, err := m.readGlobal()
	return g.Exclusions, g.config != "", err
}

func (m Machine) readGlobal() (g global, err error) {
	lines, err := m.readLines(hooksFile, func(line string) bool { return strings.HasPrefix(line, commentMark) })
	for _, line := range lines {
		switch word, rest, _ := strings.Cut(strings.TrimPrefix(line, commentMark), "\t"); word {
		case "in":
			g.config = rest
		case "binary":
			g.binary = rest
		case "made":
			g.made = true
		case "path":
			g.Paths = append(g.Paths, rest)
		case "remote":
			g.Remotes = append(g.Remotes, rest)
		case "cleaned":
			g.Cleaned = append(g.Cleaned, rest)
		}
	}
	return g, err
}

// commentMark begins each of these comments.
const commentMark = "# git-rekal: "

// writeGlobal writes what git includes.
func (m Machine) writeGlobal(g global) error {
	lines := []string{commentMark + "by \"git rekal init --global\", which writes it anew"}
	note := func(word string, all ...string) {
		for _, text := range all {
			lines = append(lines, commentMark+word+"\t"+text)
		}
	}
	note("in", g.config)
	if g.made {
		note("made", g.config)
	}
	note("binary", g.binary)
	note("path", g.Paths...)
	note("remote", g.Remotes...)
	note("cleaned", g.Cleaned...)
	lines = append(lines, strings.TrimSuffix(setup.ConfigHooks(g.binary, "--global ", ""), "\n"))
	for _, condition := range g.conditions() {
		lines = append(lines, "[includeIf "+setup.QuoteForConfig(condition)+"]", "\tpath = "+hooksOffFile)
	}
	return errors.Join(m.writeLines(hooksFile, lines),
		m.writeLines(hooksOffFile, []string{strings.TrimSuffix(setup.ConfigHooksOff(), "\n")}))
}

// InstallGlobal has git run our hooks in every repository of this user but those that are excluded. What a clean left
// stays excluded.
func (m Machine) InstallGlobal(ctx context.Context, env []string, home, binary string, e Exclusions) error {
	if m.dir == "" || home == "" {
		return fmt.Errorf("machine: set up all repositories: %w", ErrNoHome)
	}
	if !git.SupportsConfiguredHooks(ctx, env) {
		return errors.New("this git has no configured hooks: init --global needs git 2.54 or newer; git rekal init --all DIR sets up what is there")
	}
	return m.withFolderLock(ctx, func() error {
		g, err := m.readGlobal()
		if err != nil {
			return err
		}
		if g.config == "" {
			g.config = globalConfig(home, env)
			_, err := os.Stat(g.config)
			g.made = errors.Is(err, fs.ErrNotExist)
		}
		g.Paths, g.Remotes, g.binary = e.Paths, e.Remotes, binary
		if err := m.writeGlobal(g); err != nil {
			return err
		}
		block := setup.ConfigBlock("[include]\n\tpath = "+setup.QuoteForConfig(filepath.Join(m.dir, hooksFile))+"\n",
			"git rekal clean --all")
		return setup.EditConfig(g.config, func(text string) string { return setup.WithConfigBlock(text, block) })
	})
}

// RemoveGlobal undoes InstallGlobal, and reports whether there was something to undo.
func (m Machine) RemoveGlobal(ctx context.Context) (removed bool, err error) {
	if _, on, err := m.Global(); !on || err != nil {
		return false, err
	}
	err = m.withFolderLock(ctx, func() error {
		g, err := m.readGlobal()
		if err != nil {
			return err
		}
		empty := false
		err = setup.EditConfig(g.config, func(text string) string {
			rest := setup.CutConfigBlock(text)
			empty = rest == ""
			return rest
		})
		if err == nil && empty && g.made {
			err = os.Remove(g.config)
		}
		if err == nil {
			err = errors.Join(m.writeLines(hooksFile, nil), m.writeLines(hooksOffFile, nil))
		}
		return err
	})
	return err == nil, err
}

// SetCleaned has the hooks for all repositories leave one alone, or no longer do so. It reports whether there are such
// hooks.
func (m Machine) SetCleaned(ctx context.Context, commonDir string, cleaned bool) (on bool, err error) {
	e, on, err := m.Global()
	if err != nil || !on || slices.Contains(e.Cleaned, commonDir) == cleaned || strings.Contains(commonDir, "\n") {
		return on, err
	}
	return on, m.withFolderLock(ctx, func() error {
		g, err := m.readGlobal()
		if err != nil {
			return err
		}
		g.Cleaned = slices.DeleteFunc(g.Cleaned, func(one string) bool { return one == commonDir })
		if cleaned {
			g.Cleaned = append(g.Cleaned, commonDir)
		}
		return m.writeGlobal(g)
	})
}

// globalConfig is the file that `git config --global` writes to.
func globalConfig(home string, env []string) string {
	value := func(key string) (out string) {
		for _, v := range env {
			if rest, ok := strings.CutPrefix(v, key+"="); ok {
				out = rest
			}
		}
		return out
	}
	if file := value("GIT_CONFIG_GLOBAL"); file != "" {
		return file
	}
	file, above := filepath.Join(home, ".gitconfig"), value("XDG_CONFIG_HOME")
	if above == "" {
		above = filepath.Join(home, ".config")
	}
	other := filepath.Join(above, "git", "config")
	if _, err := os.Stat(file); err != nil {
		if _, err := os.Stat(other); err == nil {
			return other
		}
	}
	return file
}
