// Package templates carries the two texts that git-rekal writes for others to read: the
// skill that tells a coding agent when and how to recall, and the README at the root of
// a ledger branch.
//
// In: nothing. Out: the texts, and the fingerprints of skills that earlier releases
// installed, so that setup can tell them from a file that a person wrote or edited. Both
// describe only what this release does. The package never touches a disk.
package templates

import _ "embed"

//go:embed SKILL.md
var skill string

//go:embed ledger-README.md
var ledgerReadme string

// Skill is the text of .claude/skills/rekal/SKILL.md.
func Skill() string { return skill }

// FormerSkills are the hex SHA-256 sums of every skill that an earlier release
// installed. Whoever changes a released skill adds the sum of the old text here:
// otherwise it would be taken for a file that its user edited, and never updated.
func FormerSkills() []string {
	return nil // nothing has been released yet
}

// LedgerReadme is the text of README.md on a ledger branch.
func LedgerReadme() string { return ledgerReadme }
