// Package templates carries texts for others to read: the skill that tells a coding agent when and how to recall, and
// the README of a ledger branch. And it seals texts that git-rekal writes into somebody's files: each holds its own
// sum, so that setup can tell what git-rekal wrote, in any version, from what somebody edited.
//
// In: nothing. Out: the texts. They name only what this release has. The package never touches a disk.
package templates

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"
)

//go:embed SKILL.md
var skill string

//go:embed ledger-README.md
var ledgerReadme string

// Skill is the text of .claude/skills/rekal/SKILL.md.
func Skill() string { return Seal(skill) }

// LedgerReadme is the text of README.md on a ledger branch.
func LedgerReadme() string { return ledgerReadme }

// sumLine begins what tells a text's sum; sumPlace stands for the sum while it is computed.
const (
	sumLine  = "git-rekal: sum "
	sumPlace = "@SUM@"
)

// Seal puts a text's sum where the text has its place.
func Seal(text string) string { return strings.Replace(text, sumPlace, sum(text), 1) }

// sumBytes is how many bytes of a SHA-256 a text holds: enough to tell an edited text, and few of the skill's tokens.
const sumBytes = 6

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:sumBytes])
}

// Unedited reports whether a text is a hook or skill as some version of git-rekal wrote it.
func Unedited(text string) bool {
	before, rest, found := strings.Cut(text, sumLine)
	if n := hex.EncodedLen(sumBytes); found && len(rest) >= n {
		return rest[:n] == sum(before+sumLine+sumPlace+rest[n:])
	}
	return false
}
