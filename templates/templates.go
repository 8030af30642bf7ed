// Package templates carries texts for others to read: the hook scripts, the skill that tells a coding agent when and how to recall, and the
// README of a ledger branch.
//
// In: nothing. Out: the texts. Hooks and skill hold their own sum, so that setup can tell what git-rekal wrote, in any version, from what
// somebody edited. The texts name only what this release has. The package never touches a disk.
//
// Each hook script, in POSIX sh, promises: the former hook runs first, with its own arguments, stdin and exit status; git-rekal's part never
// fails, blocks or prompts; a missing binary is silent; it costs one sh and one git-rekal process if nothing is chained. The binary decides
// what a hook does (`git-rekal hook NAME`).
package templates

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"
	"text/template"
)

//go:embed SKILL.md
var skill string

//go:embed ledger-README.md
var ledgerReadme string

//go:embed hook.sh
var hookScript string

// Skill is the text of .claude/skills/rekal/SKILL.md.
func Skill() string { return seal(skill) }

// LedgerReadme is the text of README.md on a ledger branch.
func LedgerReadme() string { return ledgerReadme }

// HookNames are the hooks that git-rekal installs, in the order in which they are reported.
func HookNames() []string {
	return []string{"post-commit", "post-merge", "post-applypatch", "post-rewrite", "pre-push"}
}

// BinaryLine is how the line of a hook script begins that holds the path of the binary, and nothing else.
const BinaryLine = "rekal_bin="

// Hook is the script of one of HookNames. It falls back to a binary where PATH holds none: a path that is quoted for sh.
func Hook(name, binary string) string {
	var b strings.Builder
	err := template.Must(template.New("hook").Parse(hookScript)).Execute(&b, struct {
		Name, Binary   string
		Stdin, Refuses bool // git writes lines to it; it can refuse what git is about to do
	}{name, binary, name == "post-rewrite" || name == "pre-push", name == "pre-push"})
	if err != nil {
		panic(err) // a mistake in the script, which its test finds
	}
	return seal(b.String())
}

// sumLine begins what tells a text's sum; sumPlace stands for the sum while it is computed.
const (
	sumLine  = "git-rekal: sum "
	sumPlace = "@SUM@"
)

func seal(text string) string { return strings.Replace(text, sumPlace, sum(text), 1) }

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
