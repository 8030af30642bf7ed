package templates_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/hooks"
	"github.com/git-rekal/git-rekal/templates"
)

// Claude Code reads name (as its folder is called) and description (at most 1,024
// characters) from the frontmatter; the rest only when the skill is used.
func TestSkillFrontmatter(t *testing.T) {
	head := regexp.MustCompile(`\A---\nname: rekal\ndescription: ([^\n:]+)\n---\n\n`).FindStringSubmatch(templates.Skill())
	if head == nil {
		t.Fatalf("no frontmatter with name and a one-line description:\n%.200s", templates.Skill())
	}
	if n := len(head[1]); n > 1024 {
		t.Errorf("description of %d bytes", n)
	}
}

// A text that git-rekal wrote is known by its sum; one that was edited is not.
func TestUnedited(t *testing.T) {
	hook := hooks.Script("post-commit", "'/it'\\''s/x'", "..")
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"skill":          {templates.Skill(), true},
		"skill, edited":  {strings.Replace(templates.Skill(), "name: rekal", "name: recall", 1), false},
		"hook":           {hook, true},
		"hook, edited":   {strings.Replace(hook, "exit", "return", 1), false},
		"hook, extended": {hook + "\n", false},
		"another's":      {"#!/bin/sh\n", false},
		"cut off":        {hook[:strings.Index(hook, "sum ")+20], false},
		"empty":          {"", false},
	} {
		if got := templates.Unedited(c.text); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The texts must not send an agent to what this release does not have.
func TestOnlyWhatIsShipped(t *testing.T) {
	shipped := map[string]bool{
		"query": true, "log": true, "clean": true, "sync": true, "save": true, "purge": true,
		"restore": true, "why": true, "run": true, "show": true, "compress": true, "handoff": true,
	}
	commands := regexp.MustCompile("git rekal ([a-z]+)")
	unshipped := regexp.MustCompile(`\bmcp\b`)
	for name, text := range map[string]string{"skill": templates.Skill(), "ledger README": templates.LedgerReadme()} {
		t.Run(name, func(t *testing.T) {
			found := commands.FindAllStringSubmatch(text, -1)
			if len(found) == 0 {
				t.Error("no command in it")
			}
			for _, m := range found {
				if !shipped[m[1]] {
					t.Errorf("it names %q", m[0])
				}
			}
			if m := unshipped.FindString(text); m != "" {
				t.Errorf("it names %q", m)
			}
		})
	}
}

// The example line of the README is a line of the format.
func TestLedgerExample(t *testing.T) {
	for line := range strings.Lines(templates.LedgerReadme()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") {
			var turn struct{ T, Role, TS, Content string }
			if err := json.Unmarshal([]byte(line), &turn); err != nil || turn.T != "turn" || turn.Content == "" {
				t.Errorf("example %s: %v", line, err)
			}
			return
		}
	}
	t.Error("no example")
}
