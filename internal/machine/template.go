package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/setup"
)

// The template lies beside the list: a copy of the one that git would use, with our hooks. Lines at the end of git's global configuration name it,
// so that they win and what stands above stays. templateFile holds that file's path and, behind it, the lines as they were added.
const (
	templateDir  = "template"
	templateFile = "template-set"
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
		set, err := m.readSet(home, env)
		if err != nil {
			return err
		}
		fresh := m.path(templateDir + ".new")
		err = errors.Join(os.RemoveAll(fresh), set.copyFormerTemplate(ctx, env, fresh))
		if err == nil {
			report, err = setup.InstallTemplate(fresh, binary)
		}
		if err == nil {
			err = errors.Join(os.RemoveAll(m.path(templateDir)), os.Rename(fresh, m.path(templateDir)))
		}
		if err == nil && set.lines == "" {
			err = m.writeSetting(set)
		}
		return errors.Join(err, os.RemoveAll(fresh))
	})
	return report, err
}

// RemoveTemplate undoes InstallTemplate, and reports whether there was something to undo.
func (m Machine) RemoveTemplate(ctx context.Context, env []string, home string) (removed bool, err error) {
	if _, err := os.Stat(m.path(templateFile)); m.dir == "" || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err = m.withFolderLock(ctx, func() error {
		set, err := m.readSet(home, env)
		if err != nil {
			return err
		}
		switch {
		case set.lines == "": // somebody took them out
		case set.rest == "" && set.made:
			err = os.Remove(set.file)
		default:
			err = replaceText(set.file, set.rest)
		}
		if err == nil {
			err = errors.Join(os.RemoveAll(m.path(templateDir)), os.Remove(m.path(templateFile)))
		}
		return err
	})
	return err == nil, err
}

func (m Machine) path(name string) string { return filepath.Join(m.dir, name) }

// setting is what names the template.
type setting struct {
	file  string // of git's configuration
	made  bool   // it was not there before
	lines string // ours in it; "" for none
	rest  string // the file without them
}

// readSet finds our lines in git's configuration. Without such lines it chooses the file to add them to: the one that git writes to.
func (m Machine) readSet(home string, env []string) (s setting, err error) {
	noted, err := os.ReadFile(m.path(templateFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	file, lines, _ := strings.Cut(string(noted), "\n")
	s.file, s.made = strings.CutPrefix(file, "made ")
	if s.file == "" {
		s.file = globalConfig(home, env)
	}
	text, err := os.ReadFile(s.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	if len(noted) == 0 {
		s.made = errors.Is(err, fs.ErrNotExist)
	}
	s.rest = string(text)
	if at := strings.LastIndex(s.rest, lines); lines != "" && at >= 0 {
		s.lines, s.rest = lines, s.rest[:at]+s.rest[at+len(lines):]
	}
	return s, nil
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

// writeSetting notes the lines, then adds them.
func (m Machine) writeSetting(s setting) error {
	path := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(m.path(templateDir))
	lines := "[init]\n\ttemplateDir = \"" + path + "\" # by git rekal init --template; \"git rekal clean --all\" removes it\n"
	if s.rest != "" && !strings.HasSuffix(s.rest, "\n") {
		lines = "\n" + lines
	}
	file := s.file
	if s.made {
		file = "made " + file
	}
	if err := os.WriteFile(m.path(templateFile), []byte(file+"\n"+lines), 0o600); err != nil {
		return err
	}
	return replaceText(s.file, s.rest+lines)
}

// replaceText gives a file another text at once; links to it and its mode stay.
func replaceText(file, text string) error {
	mode := fs.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	fresh := file + ".rekal-new"
	err := os.WriteFile(fresh, []byte(text), mode)
	if err == nil {
		err = os.Chmod(fresh, mode)
	}
	if err == nil {
		err = os.Rename(fresh, file)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	return nil
}

// copyFormerTemplate makes a folder with what git's template would be without our lines.
func (s setting) copyFormerTemplate(ctx context.Context, env []string, dir string) error {
	plain, err := os.CreateTemp("", "git-rekal-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(plain.Name()) }() // in the folder for such files
	_, err = plain.WriteString(s.rest)
	if err = errors.Join(err, plain.Close()); err != nil {
		return err
	}
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = filepath.Dir(s.file) // what its includes are relative to is another matter
		cmd.Env = append(slices.DeleteFunc(slices.Clone(env), func(v string) bool {
			return strings.HasPrefix(v, "GIT_DIR=") || strings.HasPrefix(v, "GIT_WORK_TREE=") || strings.HasPrefix(v, "GIT_TEMPLATE_DIR=")
		}), "GIT_CONFIG_GLOBAL="+plain.Name())
		out, err := cmd.Output()
		return strings.TrimSuffix(string(out), "\n"), err
	}
	if former, err := git("config", "--type=path", "--get", "init.templateDir"); err == nil && former != "" {
		return os.CopyFS(dir, os.DirFS(former))
	}
	if _, err := git("init", "-q", "--bare", dir); err != nil { // there is no other way to get git's own
		return fmt.Errorf("make a copy of git's template: %w", err)
	}
	for _, own := range []string{"HEAD", "config", "objects", "refs"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, own)))
	}
	return err
}
