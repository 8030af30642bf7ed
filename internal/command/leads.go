package command

import (
	"path"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// changedTo matches where a command line goes.
var changedTo = lazy.Expr(`(?:^|[\s;&|({])(?:cd|pushd)[ \t]+(?:-[LP][ \t]+|--[ \t]+)?` +
	`((?:'[^'\n]*'|"[^"\n]*"|[^\s;&|<>()'"])+)`)

// LeadsTo reports whether a command line that begins in a folder may write to another one: it names that, however it
// begins (~, $HOME), or goes there, or to a folder above it that is not the home folder or above that.
func LeadsTo(line, folder, home, start string) bool {
	named := folder
	if home != "" {
		named = strings.TrimPrefix(folder, home+"/")
	}
	if strings.Contains(line, named) {
		return true
	}
	at := start
	for _, m := range changedTo.FindAllStringSubmatch(line, -1) {
		to := strings.NewReplacer(`'`, "", `"`, "", "${HOME}", home, "$HOME", home).Replace(m[1])
		if tail, ok := strings.CutPrefix(to, "~/"); ok || to == "~" {
			to = path.Join(home, tail)
		}
		if n := strings.IndexAny(to, "$`*?["); n >= 0 { // what stands before it is known
			to = to[:strings.LastIndexByte(to[:n], '/')+1]
		}
		if !path.IsAbs(to) {
			to = path.Join(at, to)
		}
		at = path.Clean(to)
		isAbove := strings.HasPrefix(folder, at+"/") && !strings.HasPrefix(home+"/", at+"/")
		if at == folder || isAbove || strings.HasPrefix(at, folder+"/") {
			return true
		}
	}
	return false
}
