package transcript

import (
	"errors"
	"io/fs"
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
	roots []place           // the longest spelling first, so that the innermost worktree wins
	real  map[string]string // path -> the same with symbolic links resolved
	known map[string]location
	past  map[string]bool // roots of other repositories, as seen before: Options.OtherRepos
	seen  []string        // those seen now
	drive bool            // a root is one of Windows, and this is another system
}

// whereabouts says how a working folder stands to the repository.
type whereabouts int

const (
	unknown whereabouts = iota // no record has named a folder
	nowhere                    // in no repository
	outside                    // in the work tree of another one
	inside                     // in a work tree of this one
)

// location is where a folder is.
type location struct {
	whereabouts
	repo string // outside: the root of the other repository's worktree
}

// place is one spelling of a worktree's root.
type place struct {
	spelling, real string
}

func newPlaces(roots []string) *places {
	p := &places{real: make(map[string]string), known: make(map[string]location)}
	for _, root := range roots {
		p.drive = p.drive || hasDrive(strings.TrimPrefix(root, "/"))
		if root = slashPath(root); !filepath.IsAbs(root) {
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

// hasDrive reports whether a path is one of Windows: C:\src, C:/src.
func hasDrive(path string) bool {
	return len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && (path[0]|0x20) >= 'a' &&
		(path[0]|0x20) <= 'z'
}

// slashPath is a path of Windows as one that this system can take apart: C:\src\a.go is /C:/src/a.go. Another one
// stays.
func slashPath(path string) string {
	if filepath.Separator != '/' || !hasDrive(path) {
		return path
	}
	return "/" + strings.ReplaceAll(path, `\`, "/")
}

// whereIs says where a folder is. Each is looked at once: a session names few.
func (p *places) whereIs(dir string) whereabouts { return p.locate(dir).whereabouts }

func (p *places) locate(dir string) location {
	at, ok := p.known[dir]
	if !ok {
		at = p.search(p.asLocalPath(dir))
		p.known[strings.Clone(dir)] = at
	}
	return at
}

// search asks as git does: the innermost work tree above the folder itself, wherever links led there, has
// it. A repository in a worktree (a submodule, a clone) is another one. What git does not find by itself (a
// work tree that the environment names, a folder that is gone with all above it) is compared as it is written. A
// repository that is gone and was seen as another one is that still.
func (p *places) search(dir string) location {
	if !filepath.IsAbs(dir) || len(dir) > session.MaxPath {
		return location{nowhere, ""}
	}
	for d := p.resolve(filepath.Clean(dir)); ; d = filepath.Dir(d) {
		if slices.ContainsFunc(p.roots, func(r place) bool { return r.spelling == d }) {
			return location{inside, ""}
		}
		if repo := repositoryAt(d); repo != "" {
			if p.isOurs(repo) {
				return location{inside, ""}
			}
			p.seen = append(p.seen, d)
			return location{outside, d}
		}
		if p.past[d] {
			if _, err := os.Lstat(d); errors.Is(err, fs.ErrNotExist) {
				return location{outside, d}
			}
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	if _, ok := p.relToRoot(dir); ok {
		return location{inside, ""}
	}
	return location{nowhere, ""}
}

// mayConcern reports whether a session that is begun in a folder may be of this repository: it is in a worktree, or
// above one, whose files the session may edit.
func (p *places) mayConcern(dir string) bool {
	return p.whereIs(dir) == inside || filepath.IsAbs(p.asLocalPath(dir)) && p.isAbove(dir)
}

// InWorktrees tells of a folder whether it stands in a work tree of a repository, as for a session that is begun there.
func InWorktrees(roots []string) func(dir string) bool {
	p := newPlaces(roots)
	return func(dir string) bool {
		_, err := os.Stat(p.asLocalPath(dir)) // of one that is gone nobody can tell whether it was another repository
		return err == nil && p.whereIs(dir) == inside
	}
}

// isAbove reports whether a worktree of this repository lies in a folder.
func (p *places) isAbove(dir string) bool {
	dir = p.resolve(filepath.Clean(p.asLocalPath(dir)))
	return slices.ContainsFunc(p.roots, func(r place) bool { rel, ok := relativeTo(dir, r.real); return ok && rel != "." })
}

// isOurs reports whether a repository is the one of the worktrees: one of them may have been moved, or be
// spelled in another case.
func (p *places) isOurs(repo string) bool {
	info, err := os.Stat(repo)
	return err == nil && slices.ContainsFunc(p.roots, func(r place) bool {
		own, err := os.Stat(repositoryAt(r.real))
		return err == nil && os.SameFile(info, own)
	})
}

// maxLink bounds the files by which a worktree names its repository, in bytes.
const maxLink = session.MaxPath + 16

// repositoryAt is the repository, shared by all its worktrees, of which a folder is the root of a work tree;
// "" when it is none. As for git, a .git that is broken is none.
func repositoryAt(root string) string {
	repo := filepath.Join(root, ".git")
	if target, ok := readLink(repo); ok {
		target, ok = strings.CutPrefix(target, "gitdir: ")
		if !ok {
			return ""
		}
		repo = absoluteFrom(root, target)
	}
	if _, err := os.Lstat(filepath.Join(repo, "HEAD")); err != nil {
		return ""
	}
	if common, ok := readLink(filepath.Join(repo, "commondir")); ok {
		return absoluteFrom(repo, common)
	}
	return repo
}

// readLink reads a file that names a path. What else is there may never end.
func readLink(path string) (string, bool) {
	text, err := readBounded(path, maxLink)
	return strings.TrimRight(string(text), "\r\n"), err == nil
}

// absoluteFrom is a path as seen from a folder.
func absoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// relToRoot is path relative to the innermost worktree that contains it, with forward
// slashes ("." for the root itself), and whether there is one.
func (p *places) relToRoot(path string) (string, bool) {
	if !filepath.IsAbs(path) || len(path) > session.MaxPath {
		return "", false
	}
	path = filepath.Clean(path)
	if rel, ok := p.relLexical(path); ok {
		return rel, true
	}
	if rel, ok := p.relLexical(norm.NFC.String(path)); ok {
		return rel, true
	}
	return p.relLexical(p.resolve(path))
}

// relLexical compares by components only. A root that was matched by another spelling than
// its resolved one is looked at once more in that: a linked worktree inside it may be
// known by its resolved path alone.
func (p *places) relLexical(path string) (string, bool) {
	root, rel, ok := p.innermostRoot(path)
	if ok && root.spelling != root.real {
		_, rel, ok = p.innermostRoot(filepath.Join(root.real, rel))
	}
	return filepath.ToSlash(rel), ok
}

func (p *places) innermostRoot(path string) (place, string, bool) {
	for _, root := range p.roots {
		if rel, ok := relativeTo(root.spelling, path); ok {
			return root, rel, true
		}
	}
	return place{}, "", false
}

// relativeTo is path relative to root, both clean and absolute.
func relativeTo(root, path string) (string, bool) {
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
// exists: transcripts name files and folders that are gone. What no system has a path of its length for is itself.
func (p *places) resolve(path string) string {
	if len(path) > session.MaxPath {
		return path
	}
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

// asLocalPath is a path as this system takes it apart, where the transcript is of another one.
func (p *places) asLocalPath(path string) string {
	if !p.drive {
		return path
	}
	return slashPath(path)
}

// toolPath is the path of a tool call: relative to the innermost worktree, or absolute
// outside of all. What the agent wrote relative is relative to its working folder; where that
// is not known and the path leads out of it, nothing is.
func (p *places) toolPath(path, cwd string) string {
	if p.drive {
		if path, cwd = slashPath(path), slashPath(cwd); !filepath.IsAbs(path) {
			path = strings.ReplaceAll(path, `\`, "/")
		}
	}
	home := strings.HasPrefix(path, "~")
	if !home && path != "" && !filepath.IsAbs(path) && filepath.IsAbs(cwd) {
		path = filepath.Join(cwd, path)
	}
	if path == "" || len(path) > session.MaxPath || home && hasDotDot(path) {
		return ""
	}
	if rel, ok := p.relToRoot(path); ok {
		return withoutGoneWorktree(rel)
	}
	if path = filepath.Clean(path); !filepath.IsAbs(path) && hasDotDot(path) {
		return ""
	}
	return path
}

// goneWorktrees is where Claude Code makes worktrees for its agents, below a worktree.
const goneWorktrees = ".claude/worktrees/"

// withoutGoneWorktree is a path from the root of the worktree that an agent had for itself and that is gone by now: git
// no longer names it.
func withoutGoneWorktree(rel string) string {
	if below, ok := strings.CutPrefix(rel, goneWorktrees); ok {
		if _, path, ok := strings.Cut(below, "/"); ok && path != "" {
			return path
		}
	}
	return rel
}

func hasDotDot(path string) bool { return slices.Contains(strings.Split(path, "/"), "..") }
