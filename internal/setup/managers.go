package setup

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// simpleGitHooksFiles are where simple-git-hooks looks for its configuration, besides package.json.
func simpleGitHooksFiles() (all []string) {
	for _, name := range []string{".simple-git-hooks", "simple-git-hooks"} {
		for _, ext := range []string{".cjs", ".js", ".mjs", ".json"} {
			all = append(all, name+ext)
		}
	}
	return all
}

// simpleGitHooksHint says how hooks of ours outlive simple-git-hooks, which deletes each hook that its configuration
// does not name, and writes the others anew, whenever it runs; "" where it is not used, or keeps them.
func (l Layout) simpleGitHooksHint() string {
	if l.WorkTree == "" {
		return ""
	}
	files := append(simpleGitHooksFiles(), "package.json")
	at := slices.IndexFunc(files, func(name string) bool {
		text := readText(filepath.Join(l.WorkTree, name))
		return text != "" && (name != "package.json" || strings.Contains(text, `"simple-git-hooks"`))
	})
	if at < 0 {
		return ""
	}
	file := files[at]
	text := readText(filepath.Join(l.WorkTree, file))
	_, kept, _ := strings.Cut(text, "preserveUnused")
	keepsAll := strings.HasPrefix(strings.TrimLeft(kept, `"': `), "true")
	var unnamed, named []string
	for _, name := range l.hookNames() {
		writes, err := regexp.MatchString(name+`["']?\s*:`, text)
		switch {
		case callsRekal(text, name):
		case err == nil && writes:
			named = append(named, name)
		case !keepsAll && !strings.Contains(kept, name):
			unnamed = append(unnamed, fmt.Sprintf("%q", name))
		}
	}
	var todo []string
	if unnamed != nil {
		todo = append(todo, fmt.Sprintf(`add "preserveUnused": [%s] to its configuration in %s`, strings.Join(unnamed, ", "),
			file))
	}
	for _, name := range named {
		todo = append(todo, fmt.Sprintf("add this to its %s: %s", name, strings.Replace(callLine(name), `"$@"`, `\"$@\"`, 1)))
	}
	if todo == nil {
		return ""
	}
	return "simple-git-hooks deletes git-rekal's hooks whenever it runs: " + strings.Join(todo, "; ")
}

// usesLFS reports whether Git LFS is installed for this user, or files here are meant for it.
func (l Layout) usesLFS() bool {
	return l.LFS || l.WorkTree != "" && strings.Contains(readText(filepath.Join(l.WorkTree, ".gitattributes")),
		"filter=lfs")
}
