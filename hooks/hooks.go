// Package hooks carries the hook scripts, in POSIX sh.
//
// In: the name of a hook, and where the binary lies. Out: the script. Each promises: the former hook runs first, with its own arguments, stdin and
// exit status; git-rekal's part never fails, blocks or prompts; a missing binary is silent; it costs one sh and one git-rekal process if nothing is
// chained. The binary decides what a hook does (`git-rekal hook NAME`). The package never touches a disk.
package hooks

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/git-rekal/git-rekal/templates"
)

//go:embed hook.sh
var script string

// Names are the hooks that git-rekal installs, in the order in which they are reported.
func Names() []string {
	return []string{"post-commit", "post-merge", "post-applypatch", "post-rewrite", "pre-push"}
}

// BinaryLine is how the line of a script begins that holds the path of the binary, and nothing else.
const BinaryLine = "rekal_bin="

// Script is that of one of Names. It falls back to a binary where PATH holds none: a path that is quoted for sh.
func Script(name, binary string) string {
	var b strings.Builder
	err := template.Must(template.New("hook").Parse(script)).Execute(&b, struct {
		Name, Binary   string
		Stdin, Refuses bool // git writes lines to it; it can refuse what git is about to do
	}{name, binary, name == "post-rewrite" || name == "pre-push", name == "pre-push"})
	if err != nil {
		panic(err) // a mistake in the script, which its test finds
	}
	return templates.Seal(b.String())
}
