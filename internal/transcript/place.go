package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/git-rekal/git-rekal/internal/session"
)

// places says where a path lies among the worktrees of a repository. Paths are compared
// by components: as written first, then with symbolic links resolved, on both sides.
// It is not safe for concurrent use.
type places struct {
	roots  []place           // the longest spelling first, so that the innermost worktree wins
	real   map[string]string // path -> the same with symbolic links resolved
	within map[string]bool   // folder -> inside is known
}

// place is one spelling of a worktree's root.
type place struct {
	spelling, real string
}

func newPlaces(roots []string) *places {
	p := &places{real: make(map[string]string), within: make(map[string]bool)}
	for _, root := range roots {
		if !filepath.IsAbs(root) {
			continue
		}
		root = filepath.Clean(root)
		real := p.resolve(root)
		for _, s := range []string{root, real, norm.NFC.String(root), norm.NFC.String(real)} {
			p.roots = append(p.roots, place{s, real})
		}
	}
	slices.SortStableFunc(p.roots, func(a, b place) int { return len(b.spelling) - len(a.spelling) })
	return p
}

// inside reports whether a folder lies in a worktree, and in no other repository inside
// it (a submodule, a clone): that one's sessions are its own.
func (p *places) inside(dir string) bool {
	in, ok := p.within[dir]
	if !ok {
		rel, found := p.rel(dir)
		in = found && !nested(filepath.Clean(dir), rel)
		p.within[strings.Clone(dir)] = in
	}
	return in
}

// nested reports whether dir, or a folder above it that is still below the worktree's root,
// is the root of a repository; rel is dir's path from the worktree's root.
func nested(dir, rel string) bool {
	if rel == "." {
		return false
	}
	for range strings.Count(rel, "/") + 1 {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		dir = filepath.Dir(dir)
	}
	return false
}

// rel is path relative to the innermost worktree that contains it, with forward
// slashes ("." for the root itself), and whether there is one.
func (p *places) rel(path string) (string, bool) {
	if !filepath.IsAbs(path) || len(path) > session.MaxPath {
		return "", false
	}
	path = filepath.Clean(path)
	if rel, ok := p.lexical(path); ok {
		return rel, true
	}
	if rel, ok := p.lexical(norm.NFC.String(path)); ok {
		return rel, true
	}
	return p.lexical(p.resolve(path))
}

// lexical compares by components only. A root that was matched by another spelling than
// its resolved one is looked at once more in that: a linked worktree inside it may be
// known by its resolved path alone.
func (p *places) lexical(path string) (string, bool) {
	root, rel, ok := p.innermost(path)
	if ok && root.spelling != root.real {
		_, rel, ok = p.innermost(filepath.Join(root.real, rel))
	}
	return filepath.ToSlash(rel), ok
}

func (p *places) innermost(path string) (place, string, bool) {
	for _, root := range p.roots {
		if rel, ok := below(root.spelling, path); ok {
			return root, rel, true
		}
	}
	return place{}, "", false
}

// below is path relative to root, both clean and absolute.
func below(root, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, root)
	switch {
	case !ok:
		return "", false
	case rest == "":
		return ".", true
	case rest[0] == filepath.Separator:
		return rest[1:], true
	case strings.HasSuffix(root, string(filepath.Separator)): // the root of the file system
		return rest, true
	}
	return "", false
}

// resolve resolves the symbolic links of the longest part of an absolute path that
// exists: transcripts name files and folders that are gone.
func (p *places) resolve(path string) string {
	if real, ok := p.real[path]; ok {
		return real
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
		if dir := filepath.Dir(path); dir != path {
			real = filepath.Join(p.resolve(dir), filepath.Base(path))
		}
	}
	p.real[path] = real
	return real
}

// file is the path of a tool call: relative to the innermost worktree, or absolute
// outside of all. What the agent wrote relative is relative to its working folder; where that
// is not known and the path leads out of it, nothing is.
func (p *places) file(path, cwd string) string {
	home := strings.HasPrefix(path, "~")
	if !home && path != "" && !filepath.IsAbs(path) && filepath.IsAbs(cwd) {
		path = filepath.Join(cwd, path)
	}
	if path == "" || len(path) > session.MaxPath || home && climbs(path) {
		return ""
	}
	if rel, ok := p.rel(path); ok {
		return rel
	}
	if path = filepath.Clean(path); !filepath.IsAbs(path) && climbs(path) {
		return ""
	}
	return path
}

func climbs(path string) bool { return slices.Contains(strings.Split(path, "/"), "..") }
