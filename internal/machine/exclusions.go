package machine

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Exclusions are the repositories that are not set up unless somebody says so in them.
type Exclusions struct {
	Paths   []string // globs of folders: their whole path, or its end from a slash on
	Remotes []string // globs of the URL of a remote, without credentials, in which "*" stands for anything
	Cleaned []string // git directories of repositories that a clean left
}

// ExcludesPath reports whether a glob fits a folder.
func (e Exclusions) ExcludesPath(dir string) bool {
	return slices.ContainsFunc(e.Paths, func(glob string) bool {
		for tail := filepath.ToSlash(dir); ; {
			if ok, _ := path.Match(strings.TrimSuffix(glob, "/"), tail); ok {
				return true
			}
			_, rest, more := strings.Cut(tail, "/")
			if !more {
				return false
			}
			tail = rest
		}
	})
}

// ExcludedURL is the first of some URLs that a glob fits; "" for none.
func (e Exclusions) ExcludedURL(urls []string) string {
	for _, glob := range e.Remotes {
		whole := "^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(glob)) + "$"
		for _, url := range urls {
			if ok, _ := regexp.MatchString(whole, url); ok {
				return url
			}
		}
	}
	return ""
}

// Excludes reports whether a repository is not set up unasked: a glob fits it or a folder above, which may also be a
// hidden one or node_modules, where tools keep clones of their own.
func (e Exclusions) Excludes(root, commonDir string, urls []string) bool {
	for dir := root; ; dir = filepath.Dir(dir) {
		if base := filepath.Base(dir); e.ExcludesPath(dir) || strings.HasPrefix(base, ".") || base == "node_modules" {
			return true
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return slices.Contains(e.Cleaned, commonDir) || e.ExcludedURL(urls) != ""
}

// conditions are the same in the words of git's includeIf, so that git starts nothing in most excluded repositories.
// The hook itself decides in the rest: where a push URL or an odd glob counts.
func (e Exclusions) conditions() (all []string) {
	all = []string{"gitdir:.*/**/.git", "gitdir:node_modules/"}
	for _, glob := range e.Paths {
		all = append(all, "gitdir:"+strings.TrimSuffix(glob, "/")+"/")
	}
	for _, dir := range e.Cleaned {
		exact := regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(dir, `\$0`)
		all = append(all, "gitdir:"+exact, "gitdir:"+exact+"/")
	}
	for _, glob := range e.Remotes {
		for _, pattern := range urlPatterns(glob) {
			all = append(all, "hasconfig:remote.*.url:"+pattern)
		}
	}
	return all
}

// mostStars is how many "*" of a glob are told to git: each doubles the patterns.
const mostStars = 5

// urlPatterns are patterns of git for a glob. There "*" does not stand for a slash, but "*/**/*" stands for texts with
// slashes.
func urlPatterns(glob string) []string {
	glob = regexp.MustCompile(`\*+`).ReplaceAllString(regexp.MustCompile(`[\[\\]`).ReplaceAllString(glob, `\$0`), "*")
	parts := strings.Split(glob, "*")
	if len(parts) > mostStars+1 {
		return nil
	}
	all := []string{parts[0]}
	for _, part := range parts[1:] {
		var longer []string
		for _, begun := range all {
			longer = append(longer, begun+"*"+part, begun+"*/**/*"+part)
		}
		all = longer
	}
	for _, pattern := range all {
		if before, behind, ok := strings.Cut(pattern, "://"); ok {
			all = append(all, before+"://*@"+behind) // credentials don't count
		}
	}
	return all
}
