// Package worktree tells the content of files: in a commit, or in the worktree now, as git would store it. It follows
// renames from a former name to today's, and back.
//
// In: a repository and paths below its root. Out: blobs, contents, names. It reads only the files that it is asked for,
// so a large repository costs no more than a small one. It writes nothing, not even git's index.
package worktree

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Bounds of what is read of a working tree for one Content; beyond them what the index knows is believed.
const (
	maxHashed      = 1000
	maxHashedBytes = 16 << 20
)

// Content tells which blob stands in a file: in a commit, or in the working tree as it is now.
// It looks only at the files that it is asked for, so that a large repository costs no more than a
// small one: a status would cost the size of the repository.
//
// A file is read and hashed. Where the bytes differ from a commit's, and an attribute or a setting may convert them,
// the index is asked first, which knows a file that is as git last saw it. Then git itself is asked, by one `git
// hash-object` for all files, which runs no program of the user's: a file that such a filter makes counts by its bytes.
// Where git leaves ends of lines alone because the index has such already, and in a moment it would not, the answer is
// Unread.
type Content struct {
	repo   *git.Repo
	commit git.OID // the commit, or HEAD's; "" before the first
	tree   git.OID // its tree; "" for none
	trees  *git.Trees
	root   string // the working tree; "" where a commit is asked
	// folder of the working tree → why nothing lies there: it is none, or a link leads there
	noFolder       map[string]error
	known          map[string]blob
	files          int
	bytes          int64
	attributeLines map[string][]string // lines of attribute files by folder
	hasher         *git.Talk           // see blobByGit; nil: not asked yet, or ended
	noHasher       bool                // it could not be started

	expected         []string              // files that will be asked for
	indexed          map[string]indexEntry // by file; those that are not in it were not asked for yet
	changedFromIndex map[string]bool       // whether files changed since git saw them; the same
	renamed          map[string]string     // see uncommittedRenames; nil: not asked yet
}

// Unread stands for what stands in a file where that can't be told.
const Unread git.OID = "unread"

// blob is what stands in a file.
type blob struct {
	id          git.OID
	crlf        bool        // it has ends of lines of another system
	ident       bool        // it holds what git may fill in
	unconverted os.FileInfo // of a file of which only the bytes are known, not what git would store of it; else nil
}

// Open looks into a commit, or with "" into the working tree, for which in a bare repository
// HEAD stands. It returns ErrNotFound for a commit that is not here. Close it.
func Open(r *git.Repo, commit git.OID) (*Content, error) {
	c := &Content{
		repo: r, commit: commit, trees: r.Trees(maxTreeBytes), known: map[string]blob{},
		noFolder: map[string]error{}, attributeLines: map[string][]string{}, indexed: map[string]indexEntry{},
		changedFromIndex: map[string]bool{},
	}
	if commit == "" {
		head, err := r.Head()
		if err != nil {
			return nil, err
		}
		c.commit, c.root = head.OID, r.Layout().WorkTree
	}
	if err := c.open(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Content) open() error {
	if c.commit == "" {
		return nil
	}
	made, err := c.repo.Commit(c.commit)
	if err != nil {
		return err
	}
	if c.repo.MissingObjects([]git.OID{made.Tree})[made.Tree] {
		return fmt.Errorf("git: tree %s: %w", made.Tree, git.ErrNotFound)
	}
	c.tree = made.Tree
	return nil
}

// Close releases it.
func (c *Content) Close() {
	if c != nil && c.hasher != nil {
		_ = c.hasher.End()
		c.hasher = nil
	}
}

// Blob is the blob of a file's content; "" if there is no file, and Unread if the content can't be told. It is the blob
// that `git add` would make, with line ends and filters applied. git is only asked about these if likely, which may be
// nil, does not accept the blob of the plain bytes: to read the index of a large repository takes longer than to read
// the file.
func (c *Content) Blob(file string, likely func(git.OID) bool) git.OID {
	b := c.fileBlob(file)
	if b.unconverted == nil || likely != nil && likely(b.id) {
		return b.id
	}
	attributes, some := c.attributes(file)
	filtered := strings.Contains(attributes, "filter")
	recoded := strings.Contains(attributes, "working-tree-encoding") || b.ident && strings.Contains(attributes, "ident")
	switch {
	case !filtered && !recoded && (!some || !b.crlf):
		return b.id
	case !filtered && !recoded && likely != nil && !likely(c.blobWithUnixLines(file)):
		// nor with git's ends of lines is it what was asked for
		return b.id
	}
	if id := c.unchangedIndexBlob(file); id != "" {
		return id
	}
	if filtered { // a recall is no reason to run a program
		return b.id
	}
	id := c.blobByGit(file)
	if b.crlf && id != b.id && c.indexHasCRLF(c.entryInIndex(file)) {
		return Unread
	}
	return id
}

// indexHasCRLF reports whether a file has ends of lines of another system in the index: where git only guesses that
// a file is text it leaves those, and there the filter does not look.
func (c *Content) indexHasCRLF(e indexEntry) bool {
	if e.id == "" {
		return false
	}
	text, err := c.repo.Blob(e.id)
	return err != nil || e.unmerged || bytes.Contains(text, []byte("\r\n"))
}

// Has reports whether anything stands in a file.
func (c *Content) Has(file string) bool { return c.fileBlob(file).id != "" }

// fileBlob is what stands in a file, as it lies there.
func (c *Content) fileBlob(file string) blob {
	b, ok := c.known[file]
	if !ok {
		if c.root != "" {
			b = c.blobInWorktree(file)
		} else {
			b.id = c.blobInTree(file)
		}
		c.known[file] = b
	}
	return b
}

// SHA1Blob is what the content of a file was called before its repository was converted to SHA-256; "" in one with
// SHA-1.
func (c *Content) SHA1Blob(file string) git.OID {
	if c.repo.ObjectFormat().OIDSize == git.SHA1().OIDSize {
		return ""
	}
	text, err := c.Text(file)
	if err != nil {
		return Unread
	}
	return git.SHA1().BlobID(text)
}

// Text is what stands in a file. It returns ErrNotFound where nothing does.
func (c *Content) Text(file string) ([]byte, error) {
	if c.root != "" {
		info, err := c.lstat(file)
		if err == nil && info.Mode()&os.ModeSymlink != 0 { // as git stores it
			to, err := os.Readlink(c.diskPath(file))
			return []byte(to), err
		}
		if err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("git: %q in the working tree: %w", file, git.ErrNotFound)
		}
		return os.ReadFile(c.diskPath(file))
	}
	id := c.entryInCommit(file)
	if id == "" {
		return nil, fmt.Errorf("git: %q in %s: %w", file, c.commit, git.ErrNotFound)
	}
	return c.repo.Blob(id)
}

// StoredText is what git has of a file of the working tree, where attributes say that this is not what lies there, and
// the file has not changed since: a filter or an encoding stands in between. ok is false for any other file. Whether a
// file has changed that was written in the second in which git looked at it, only its filter's program tells, as for
// git status: it runs where the user has set git-rekal up. committed says that HEAD has it so, and not only the index.
func (c *Content) StoredText(file string) (text []byte, committed, ok bool) {
	if c.root == "" {
		return nil, false, false
	}
	attributes, _ := c.attributes(file)
	if !strings.Contains(attributes, "filter") && !strings.Contains(attributes, "working-tree-encoding") {
		return nil, false, false
	}
	id := c.unchangedIndexBlob(file)
	if id == "" && c.repo.IsTrusted() && c.isUnchangedByFilters(file) {
		id = c.entryInIndex(file).id
	}
	if id == "" {
		return nil, false, false
	}
	text, err := c.repo.Blob(id)
	return text, id == c.entryInCommit(file), err == nil
}

// NameInCommit is what the commit calls a file; false where it has none.
func (c *Content) NameInCommit(file string) (string, bool) {
	if c.entryInCommit(file) != "" {
		return file, true
	}
	staged := c.uncommittedRenames()
	for _, from := range slices.Sorted(maps.Keys(staged)) {
		if staged[from] == file {
			return from, true
		}
	}
	return "", false
}

// Commit is the commit that is looked into, or HEAD's; "" before the first.
func (c *Content) Commit() git.OID { return c.commit }

// IsOfCommit reports whether it is a commit that is looked into, and no working tree.
func (c *Content) IsOfCommit() bool { return c.root == "" }

// HasTyped reports whether anything stands in a file, by its path as it was typed: in the work tree for "", else in a
// commit.
func HasTyped(r *git.Repo, commit git.OID, typed string) bool {
	file, ok := r.PathInside(typed)
	if !ok {
		return false
	}
	c, err := Open(r, commit)
	if err != nil {
		return false
	}
	defer c.Close()
	return c.Has(file)
}

// IsFolder reports whether a path is a folder: in the work tree for "", else in a commit.
func IsFolder(r *git.Repo, commit git.OID, name string) bool {
	c, err := Open(r, commit)
	if err != nil {
		return false
	}
	defer c.Close()
	if c.root != "" {
		info, err := c.lstat(name)
		return err == nil && info.IsDir()
	}
	return c.repo.EntryAt(c.tree, name).IsDir()
}

// entryInCommit is the entry of one file in the commit, also of a folder that is too large to be looked into for
// each of many; "" for none.
func (c *Content) entryInCommit(file string) git.OID {
	id := c.blobInTree(file)
	if id != Unread {
		return id
	}
	return c.repo.EntryAt(c.tree, file).ID()
}

// blobInTree is the entry of a file in the commit; "" for none, Unread where a tree is not here.
func (c *Content) blobInTree(file string) git.OID {
	return c.blobBelow(c.tree, file)
}

// blobBelow is what stands in a file below a tree.
func (c *Content) blobBelow(tree git.OID, file string) git.OID {
	for {
		all, err := c.trees.EntriesByName(tree)
		if err != nil {
			return Unread
		}
		name, rest, more := strings.Cut(file, "/")
		e, ok := all[name]
		switch {
		case !ok || more != e.IsDir():
			return ""
		case !more:
			return e.ID()
		}
		tree, file = e.ID(), rest
	}
}

// diskPath is where a file of the working tree lies.
func (c *Content) diskPath(file string) string {
	return filepath.Join(c.root, filepath.FromSlash(file))
}

// lstat looks at a file of the working tree. As for git, nothing lies behind a link.
func (c *Content) lstat(file string) (os.FileInfo, error) {
	if !filepath.IsLocal(file) {
		return nil, os.ErrNotExist
	}
	if err := c.isFolder(path.Dir(file)); err != nil {
		return nil, err
	}
	return os.Lstat(c.diskPath(file))
}

// isFolder says why nothing lies in a folder of the working tree.
func (c *Content) isFolder(dir string) error {
	if dir == "." {
		return nil
	}
	err, ok := c.noFolder[dir]
	if !ok {
		var info os.FileInfo
		if info, err = c.lstat(dir); err == nil && !info.IsDir() {
			err = os.ErrNotExist
		}
		c.noFolder[dir] = err
	}
	return err
}

// blobInWorktree is what stands in a file of the working tree.
func (c *Content) blobInWorktree(file string) blob {
	info, err := c.lstat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return blob{id: c.blobOfMissing(file)}
	case err != nil:
		return blob{id: Unread}
	case info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(c.diskPath(file))
		if err != nil {
			return blob{id: Unread}
		}
		return blob{id: c.blobID([]byte(to))}
	case info.IsDir():
		return blob{id: c.submodule(file)}
	case !info.Mode().IsRegular():
		return blob{} // as for git
	case c.files == maxHashed, c.bytes+info.Size() > maxHashedBytes:
		return blob{id: cmp.Or(c.unchangedIndexBlob(file), Unread)}
	}
	c.files, c.bytes = c.files+1, c.bytes+info.Size()
	text, err := os.ReadFile(c.diskPath(file))
	if err != nil {
		return blob{id: Unread}
	}
	return blob{c.blobID(text), bytes.Contains(text, []byte("\r\n")), bytes.Contains(text, []byte("$Id")), info}
}

// submodule is the commit of a submodule that is checked out, or where it is not here what HEAD says; ""
// for any other folder.
func (c *Content) submodule(dir string) git.OID {
	if _, err := os.Lstat(filepath.Join(c.diskPath(dir), ".git")); err == nil {
		if sub, err := git.Open(c.repo.Context(), c.diskPath(dir),
			[]string{
				"GIT_DIR=" + filepath.Join(c.diskPath(dir), ".git"), "PATH=" + c.repo.Variable("PATH"),
				"HOME=" + c.repo.Variable("HOME"),
			}); err == nil {
			defer sub.Close()
			if head, err := sub.Head(); err == nil && head.OID != "" {
				return head.OID
			}
		}
	}
	if e := c.repo.EntryAt(c.tree, dir); e.IsRepository() {
		return e.ID()
	}
	return ""
}

func (c *Content) blobID(text []byte) git.OID { return c.repo.ObjectFormat().BlobID(text) }

// blobWithUnixLines is a file with git's ends of lines.
func (c *Content) blobWithUnixLines(file string) git.OID {
	text, err := os.ReadFile(c.diskPath(file))
	if err != nil {
		return Unread
	}
	return c.blobID(unixLines(text))
}

// unixLines is a text with ends of lines as git stores them.
func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// blobOfMissing is what a file that is not there counts as: what the index has of it where a sparse checkout, or
// somebody by hand, leaves it out of the working tree; else nothing.
func (c *Content) blobOfMissing(file string) git.OID {
	head := c.blobInTree(file)
	if head == "" || !filepath.IsLocal(file) {
		return ""
	}
	if e := c.entryInIndex(file); e.leftOut || e.id == Unread {
		return e.id
	}
	return ""
}
