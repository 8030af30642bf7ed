package templates_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

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

// Whatever skill main ever had, somebody may have installed.
func TestFormerSkills(t *testing.T) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", args...).Output()
		return string(out), err
	}
	commits, err := git("rev-list", "--first-parent", "HEAD", "--", "SKILL.md")
	if err != nil || commits == "" {
		t.Skip("no history here")
	}
	for _, c := range strings.Fields(commits) {
		text, err := git("show", c+":./SKILL.md")
		if err != nil {
			continue // a clone that was cut off
		}
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		if text != templates.Skill() && !slices.Contains(templates.FormerSkills(), sum) {
			t.Errorf("FormerSkills lacks the skill of commit %.7s: %q", c, sum)
		}
	}
}

// The texts must not send an agent to what this release does not have.
func TestOnlyWhatIsShipped(t *testing.T) {
	shipped := map[string]bool{"query": true, "log": true, "clean": true, "sync": true, "save": true, "purge": true, "restore": true, "why": true, "run": true, "show": true, "compress": true, "handoff": true}
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
