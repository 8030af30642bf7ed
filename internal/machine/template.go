package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/setup"
)

// The template lies beside the list: a copy of the one that git would use, with our hooks. git adds the setting that names it to its global
// configuration, behind those that are there, so that it wins. templateFile says of that file whether it was there before.
const (
	templateDir  = "template"
	templateFile = "template-set"
	templateKey  = "init.templateDir"
	fileIsNew    = "made"
)

// ErrNoHome is a user without a home folder.
var ErrNoHome = errors.New("there is no home folder to keep it in")

// InstallTemplate has new repositories of this user come set up, with a binary for their hooks. Run again, it takes up what changed in the template
// that there was before.
func (m Machine) InstallTemplate(ctx context.Context, env []string, home, binary string) (report setup.Report, err error) {
	if m.dir == "" || home == "" {
		return report, fmt.Errorf("machine: install a template: %w", ErrNoHome)
	}
	err = m.withFolderLock(ctx, func() error {
		ours, fresh := m.path(templateDir), m.path(templateDir+".new")
		set, _ := runGit(ctx, home, env, "config", "-z", "--type=path", "--get-all", templateKey) // it fails where none is set
		all := strings.Split(strings.TrimSuffix(set, "\x00"), "\x00")
		isSet, former := slices.Contains(all, ours), ""
		if others := slices.DeleteFunc(all, func(dir string) bool { return dir == ours }); len(others) > 0 {
			former = others[len(others)-1]
		}
		err := os.RemoveAll(fresh)
		if err == nil {
			err = copyTemplate(ctx, home, env, former, fresh)
		}
		if err == nil {
			report, err = setup.InstallTemplate(fresh, binary)
		}
		if err == nil {
			err = errors.Join(os.RemoveAll(ours), os.Rename(fresh, ours))
		}
		if err == nil && !isSet {
			err = m.setTemplate(ctx, home, env)
		}
		return errors.Join(err, os.RemoveAll(fresh))
	})
	return report, err
}

// setTemplate names the template in git's configuration.
func (m Machine) setTemplate(ctx context.Context, home string, env []string) error {
	state := ""
	if _, err := runGit(ctx, home, env, "config", "--global", "--list"); err != nil {
		state = fileIsNew
	}
	if err := os.WriteFile(m.path(templateFile), []byte(state), 0o600); err != nil {
		return err
	}
	_, err := runGit(ctx, home, env, "config", "--global", "--add", templateKey, m.path(templateDir))
	return err
}

// RemoveTemplate undoes InstallTemplate, and reports whether there was something to undo.
func (m Machine) RemoveTemplate(ctx context.Context, env []string, home string) (removed bool, err error) {
	state, err := os.ReadFile(m.path(templateFile))
	if m.dir == "" || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err = m.withFolderLock(ctx, func() error {
		ours := "^" + regexp.QuoteMeta(m.path(templateDir)) + "$"
		set, none := runGit(ctx, home, env, "config", "-z", "--show-origin", "--global", "--get-all", templateKey, ours)
		if none == nil { // else somebody took it out
			if _, err := runGit(ctx, home, env, "config", "--global", "--unset-all", templateKey, ours); err != nil {
				return err
			}
			file, _, _ := strings.Cut(strings.TrimPrefix(set, "file:"), "\x00")
			if info, err := os.Stat(file); err == nil && info.Size() == 0 && string(state) == fileIsNew {
				if err := os.Remove(file); err != nil {
					return err
				}
			}
		}
		return errors.Join(os.RemoveAll(m.path(templateDir)), os.Remove(m.path(templateFile)))
	})
	return err == nil, err
}

func (m Machine) path(name string) string { return filepath.Join(m.dir, name) }

// copyTemplate makes a folder with what git's template was before ours; "" for git's own.
func copyTemplate(ctx context.Context, home string, env []string, former, dir string) error {
	if former != "" {
		return os.CopyFS(dir, os.DirFS(former))
	}
	_, err := runGit(ctx, home, append(slices.Clip(env), "GIT_CONFIG_GLOBAL=/dev/null"), "init", "-q", "--bare", dir)
	if err != nil { // there is no other way to get git's own
		return fmt.Errorf("make a copy of git's template: %w", err)
	}
	for _, own := range []string{"HEAD", "config", "objects", "refs"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, own)))
	}
	return err
}

// runGit runs git in the home folder, in no repository that the environment names, and gives what it prints.
func runGit(ctx context.Context, home string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = home
	cmd.Env = slices.DeleteFunc(git.WithoutRepositoryVariables(env), func(v string) bool { return strings.HasPrefix(v, "GIT_TEMPLATE_DIR=") })
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(failed.Stderr)))
	}
	return string(out), err
}
