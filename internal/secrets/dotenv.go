package secrets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxFolders and maxEntries bound the search for .env files, the folders nearest to the
	// root first: a commit waits for it.
	maxFolders = 1000
	maxEntries = 20_000
	maxEnv     = 200
)

// envFiles finds .env, .env.local, .envrc and so on, and stores (see isSecretFile), in root and, with deep, below it.
// Most of them are ignored by git, so git is not asked. Folders that tools fill are passed over, and samples, which are
// there to hold no secret.
func envFiles(root string, deep bool) []string {
	var out []string
	entries := 0
	todo := []string{root}
	for at := 0; at < len(todo) && entries < maxEntries; at++ {
		dir := todo[at]
		for _, e := range entriesOf(dir) {
			entries++
			name := e.Name()
			switch {
			case e.IsDir():
				if deep && len(todo) < maxFolders && !isFilledByTool(name) {
					todo = append(todo, filepath.Join(dir, name))
				}
			case (strings.HasPrefix(name, ".env") && !isSample(name) || isSecretFile(name)) && len(out) < maxEnv:
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	return out
}

// entriesOf is the entries of a folder, in the file system's order; none when it can't be read.
func entriesOf(dir string) []os.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries)
	if err != nil {
		return nil
	}
	return entries
}

// isFilledByTool reports whether a folder of that name is filled by a tool.
func isFilledByTool(name string) bool {
	switch name {
	case ".git", ".rekal", "node_modules", "bower_components", "vendor", "target", "dist", "venv", ".venv", ".env", "env",
		"__pycache__", ".tox", ".mypy_cache", ".cache", ".next", ".nuxt", ".gradle", ".idea", "Pods", "site-packages",
		".yarn", ".pnpm-store":
		return true
	}
	return false
}

func isSample(name string) bool {
	return slices.ContainsFunc([]string{"example", "sample", "template", "dist", "defaults"}, func(w string) bool {
		return strings.HasSuffix(name, "."+w) || strings.HasSuffix(name, "-"+w) || strings.HasSuffix(name, "_"+w)
	})
}

type pair struct{ key, value string }

// parseEnv reads "KEY=value" lines as shells, dotenv libraries and AWS's files have them:
// "export" before, blanks around the sign, quotes that may span lines, comments behind.
func parseEnv(text string) []pair {
	var out []pair
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		key, v, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(key), "export "))
		if !ok || key == "" || key[0] == '#' || strings.ContainsAny(key, " \t\"'") {
			text = rest
			continue
		}
		v = strings.TrimLeft(v, " \t")
		if v != "" && strings.IndexByte("\"'`", v[0]) >= 0 {
			whole := text[len(line)-len(v)+1:]
			if end := closingQuote(whole, v[0]); end >= 0 {
				out = append(out, quotedValues(key, whole[:end], v[0])...)
				_, text, _ = strings.Cut(whole[end:], "\n")
				continue
			}
		}
		v, _, _ = strings.Cut(v, " #")
		out = append(out, pair{key, strings.TrimSpace(v)})
		text = rest
	}
	return out
}

// closingQuote is where the quote q ends; -1 when it does not.
func closingQuote(s string, q byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && q == '"':
			i++
		case s[i] == q:
			return i
		}
	}
	return -1
}

// quotedValues is a value in quotes, also with its escapes undone.
func quotedValues(key, v string, q byte) []pair {
	out := []pair{{key, v}}
	if q == '"' && strings.Contains(v, `\`) {
		out = append(out, pair{key, strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\$`,
			"$").Replace(v)})
	}
	return out
}
