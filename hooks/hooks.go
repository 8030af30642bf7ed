// Package hooks carries the hook scripts, in POSIX sh.
//
// In: the name of a hook, and where the binary lies. Out: the script. Each promises: the former hook runs first, with
// its own arguments, stdin and exit status, or that of Git LFS, which finds the file's name taken; git-rekal's part
// never fails, blocks or prompts; a missing binary is silent; it costs one sh and one git-rekal process if nothing is
// chained. The binary decides what a hook does (`git-rekal hook NAME`). The package never touches a disk.
package hooks

import (
	_ "embed"
	"strings"

	"github.com/git-rekal/git-rekal/templates"
)

//go:embed hook.sh
var script string

// Names are the hooks that git-rekal installs, in the order in which they are reported.
func Names() []string {
	return []string{"post-commit", "post-merge", "post-applypatch", "post-rewrite", "pre-push"}
}

// ForMessages are those that it installs, too, where commits are to be given trailers.
func ForMessages() []string { return []string{"prepare-commit-msg", "commit-msg"} }

// BinaryLine is how the line of a script begins that holds the path of the binary, and nothing else.
const BinaryLine = "rekal_bin="

// ForLFS is a hook that only Git LFS needs: it writes none of its hooks if another one of them stands there already, as
// ours do.
const ForLFS = "post-checkout"

// Script is that of one of Names or ForMessages, or ForLFS. It falls back to a binary where PATH holds none: a path
// that is quoted for sh. gitDir is the way from its folder to the git directory that all worktrees share, such as "..".
func Script(name, binary, gitDir string) string {
	fill := strings.NewReplacer("{{.Name}}", name, "{{.Binary}}", binary, "{{.GitDir}}", gitDir)
	return templates.Seal(fill.Replace(script))
}
