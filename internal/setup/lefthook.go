package setup

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lefthook puts a hook that is not its own aside as NAME.old, which nothing runs, whenever it
// installs itself: at `npm install`, and by itself once its configuration has changed. So a
// hook of ours that runs lefthook's lasts until then, and for longer its configuration has to
// call git-rekal.

func isLefthook(text string) bool { return strings.Contains(text, "call_lefthook") }

// lefthookCalls reports whether lefthook's configuration, the project's or the user's own,
// calls git-rekal for a hook.
func (l Layout) lefthookCalls(name string) bool {
	if l.WorkTree == "" {
		return false
	}
	var files []string
	for _, pattern := range []string{"lefthook*.*", ".lefthook*.*", ".config/lefthook*.*"} {
		found, _ := fs.Glob(os.DirFS(l.WorkTree), pattern) // which is one
		files = append(files, found...)
	}
	return slices.ContainsFunc(files, func(path string) bool {
		return callsRekal(readText(filepath.Join(l.WorkTree, path)), name)
	})
}

// hintLefthook says what to add to lefthook's configuration where ours runs its hooks.
func hintLefthook(l Layout, r *Report) {
	managed := func(name string) bool { return isLefthook(readText(hook{l.HooksDir, name}.chainedPath())) }
	if !slices.ContainsFunc(l.hookNames(), managed) {
		return
	}
	var lines strings.Builder
	for _, name := range l.hookNames() {
		if l.lefthookCalls(name) {
			continue
		}
		fmt.Fprintf(&lines, "\n    %s:\n      commands:\n        rekal:\n          run: %s\n          use_stdin: true", name,
			strings.Replace(callLine(name), `"$@"`, "{0}", 1))
	}
	if lines.Len() > 0 {
		r.addHint("lefthook takes git-rekal's hooks away whenever it installs its own; add this to lefthook.yml, or to lefthook-local.yml for yourself alone:%s", &lines)
	}
}
