// Package hooks carries the hook scripts that `git rekal init` installs, and the sums by which they are recognised later.
//
// In: nothing. Out: each script in POSIX sh, with the marker @BINARY@ for the quoted path of the binary, and the sums of earlier releases'
// scripts. The package never touches a disk; setup installs and removes.
//
// Each script promises: the former hook runs first, with its own arguments, stdin and exit status; git-rekal's part never fails, blocks or
// prompts; a missing binary is silent; it costs one sh and one git-rekal process if nothing is chained. The binary decides what a hook does
// (`git-rekal hook NAME`).
package hooks

import "embed"

//go:embed post-commit post-merge post-applypatch post-rewrite pre-push
var scripts embed.FS

// BinaryMarker is what stands in a script in place of the shell-quoted path of the
// binary. The line that holds it begins with BinaryPrefix and holds nothing else.
const (
	BinaryMarker = "@BINARY@"
	BinaryPrefix = "rekal_bin="
)

// Names are the hooks that git-rekal installs, in the order in which they are reported.
func Names() []string {
	return []string{"post-commit", "post-merge", "post-applypatch", "post-rewrite", "pre-push"}
}

// Script is the text of the named hook, one of Names, with BinaryMarker in it.
func Script(name string) string {
	text, err := scripts.ReadFile(name)
	if err != nil {
		panic(err) // the name is not one of Names: a mistake in the program
	}
	return string(text)
}

// Former are the hex SHA-256 sums of every script that an earlier release installed,
// with BinaryMarker in place of the path. Whoever changes a released script adds the
// sum of the old text here: otherwise it would be taken for somebody else's hook.
func Former() []string {
	return nil // nothing has been released yet
}
