package session_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
)

// TestPurpose: of a plan its reason is taken, before its steps; all else is taken whole.
func TestPurpose(t *testing.T) {
	for name, tt := range map[string]struct{ prompt, want string }{
		"words":           {"fix the clock\nplease\n", "fix the clock\nplease"},
		"a plan":          {"Implement the following plan:\n\n# Plan: dark mode\n\n## Context\n\nPeople read at night.\n\n### More\n\nYes.\n\n## Steps\n1. a", "People read at night.\n\n### More\n\nYes."},
		"why":             {"# Dark mode\n\n## 1. Files\n\na.css\n\n## 2. Why?\n\nIt is too bright.", "It is too bright."},
		"no such heading": {"# Dark mode\n\nMake it dark.\n\n## Steps\n\n1. a", "Make it dark."},
		"own words": {
			"let's do this now, but without the toggle:\n\n# Dark mode\n\n## Context\n\nx",
			"let's do this now, but without the toggle:\n\n# Dark mode\n\n## Context\n\nx",
		},
		"in code":        {"```\n# Context\n```\nwhat is this", "```\n# Context\n```\nwhat is this"},
		"headings alone": {"# Dark mode\n## Context", "# Dark mode\n## Context"},
		"an issue":       {"see #12\n#tag is no heading", "see #12\n#tag is no heading"},
		"nothing":        {"", ""},
	} {
		if got := session.PurposeOfPrompt(tt.prompt); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
