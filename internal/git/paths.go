package git

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// linkedRoot reads a linked worktree's root from its "gitdir" file, which names the
// worktree's .git file, absolute or (git 2.48's relative worktrees) from the file's own
// folder.
func linkedRoot(gitdirFile string) (string, bool) {
	b, err := os.ReadFile(gitdirFile)
	if err != nil {
		return "", false
	}
	dotGit := strings.TrimSpace(string(b))
	if dotGit == "" {
		return "", false
	}
	if !filepath.IsAbs(dotGit) {
		dotGit = filepath.Join(filepath.Dir(gitdirFile), dotGit)
	}
	return filepath.Dir(dotGit), true
}

// PathInside is a path, as it was typed in the folder in which the repository was opened, from the
// repository's root; false where it leads out of it.
func (r *Repo) PathInside(name string) (string, bool) {
	root := r.layout.WorkTree
	if root == "" {
		return path.Clean(filepath.ToSlash(name)), filepath.IsLocal(name)
	}
	dir := r.dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	full := absoluteFrom(dir, name)
	if real, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		full = filepath.Join(real, filepath.Base(full))
	}
	rel, err := filepath.Rel(root, full)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || strings.HasPrefix(rel, ".git/") {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
