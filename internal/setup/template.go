package setup

import (
	"errors"
	"path/filepath"
)

// A template is what git copies into each new repository (init.templateDir). Ours makes it set up but for what needs a worktree: the skill. That is
// done by the first command or hook of ours there, mostly by the hook onceHook, which git runs at the end of a clone. Install takes that hook away.

// onceHook is the hook that a template has besides.
const onceHook = "post-checkout"

// InstallTemplate makes a folder with a template into one of ours. What it has stays; hooks are chained.
func InstallTemplate(dir, binary string) (Report, error) {
	l := Layout{
		GitDir: dir, CommonDir: dir, HooksDir: filepath.Join(dir, "hooks"), Exclude: filepath.Join(dir, "info", "exclude"),
		RekalDir: filepath.Join(dir, "rekal"), Binary: binary,
	}
	var r Report
	err := errors.Join(installExclude(l, &r), installHooks(l, &r))
	_, once := hook{l.HooksDir, onceHook}.install(l, &r)
	return r, errors.Join(err, once)
}

// IsTemplateUnfinished reports whether a repository with such a git directory came of a template, and Install was not there yet.
func IsTemplateUnfinished(commonDir string) bool {
	return len(hook{filepath.Join(commonDir, "hooks"), onceHook}.scriptCopies()) > 0
}

func removeTemplateHook(l Layout, r *Report) error {
	if !IsTemplateUnfinished(l.CommonDir) {
		return nil
	}
	_, err := hook{filepath.Join(l.CommonDir, "hooks"), onceHook}.remove(l, r)
	return err
}
