package command_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/command"
)

func TestLeadsTo(t *testing.T) {
	const home, repo, folder = "/home/a", "/home/a/repo", "/home/a/.claude/projects/-home-a-repo/memory"
	for line, want := range map[string]bool{
		"echo x >>~/.claude/projects/-home-a-repo/memory/n.md":          true,
		"cd ~ && echo x >>.claude/projects/-home-a-repo/memory/n.md":    true,
		"cd ~/.claude/projects && echo x >>-home-a-repo/memory/n.md":    true,
		"cd ~/.claude; cd projects; cd *repo/memory; tee n.md":          true,
		`cd "$HOME/.claude/projects/-home-a-repo" && tee memory/n.md`:   true,
		`(cd '/home/a/.claude/projects/-home-a-repo/' && vi memory/n)`:  true,
		`cd "${HOME}/.claude/projects/$(pwd | tr / -)/memory" && tee n`: true,
		"cd ../.claude && tee projects/*/memory/n.md":                   true,
		"pushd ~/.claude/projects/-home-a-repo/memory":                  true,
		"cd ~ && ls":                                  false,
		"cd / && ls":                                  false,
		"cd ~/.claude-other && tee memory/n.md":       false,
		"cd memory && tee n.md":                       false,
		"cd ~/.claude/projects/-home-a-other; ls":     false,
		"cd web && make; cd ../docs && cat n.md":      false,
		"cat ~/.claude/settings.json":                 false,
		"git log --grep 'cd ~' && echo 'memory/n.md'": false,
	} {
		if got := command.LeadsTo(line, folder, home, repo); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
