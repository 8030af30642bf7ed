package git

import (
	"os"
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
