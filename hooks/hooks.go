// Package hooks carries the hook scripts that `git rekal init` installs, and what is
// needed to recognise them later.
//
// In: nothing. Out: the text of each script, in POSIX sh, with the marker @BINARY@ where
// the quoted path of the binary goes, and the fingerprints of texts that earlier
// releases installed. Each script promises: the hook that was there before runs first,
// with its own arguments, stdin and exit status; git-rekal's own part never fails,
// blocks or prompts; a missing binary is silent; one sh and one git-rekal process when
// nothing is chained. What a hook does is decided in the binary (`git-rekal hook NAME`).
//
// The package never touches a disk and decides nothing: setup installs and removes.
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
