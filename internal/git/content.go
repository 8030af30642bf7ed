package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	git2 "github.com/libgit2/git2go/v34"
)

// Bounds of what is read of a working tree for one Content; beyond them HEAD is believed.
const (
	maxHashed      = 1000
	maxHashedBytes = 16 << 20
)

// Content tells which blob stands in a file: in a commit, or in the working tree as it is now.
// It looks only at the files that it is asked for, so that a large repository costs no more than a
// small one.
type Content struct {
	repo   *Repo
	commit OID             // the commit, or HEAD's; "" before the first
	tree   *git2.Tree      // its tree; nil for none
	root   string          // the working tree; "" where a commit is asked
	dirs   map[string]bool // folder of the working tree → whether it is one, and no link leads there
	known  map[string]blob
	files  int
	bytes  int64
	rules  map[string]rules // by folder
	raw    []byte           // the index as it lies there
	index  *git2.Index
	moves  map[string]string // renames that are in the index and not in HEAD; nil: not read yet
}

// blob is what stands in a file.
type blob struct {
	id   OID
	unix OID         // of the same with git's ends of lines
	info os.FileInfo // of a file of which only the bytes are known, not its filters; else nil
}

// Content looks into a commit, or with "" into the working tree, for which in a bare repository
// HEAD stands. It returns ErrNotFound for a commit that is not here. Close it.
func (r *Repo) Content(commit OID) (*Content, error) {
	c := &Content{repo: r, commit: commit, known: map[string]blob{}, dirs: map[string]bool{}, rules: map[string]rules{}}
	if commit == "" {
		head, err := r.Head()
		if err != nil {
			return nil, err
		}
		c.commit = head.OID
	}
	if err := c.open(); err != nil {
		return nil, err
	}
	if commit != "" || r.layout.WorkTree == "" {
		return c, nil
	}
	c.root = r.layout.WorkTree
	return c, nil
}

func (c *Content) open() error {
	if c.commit == "" {
		return nil
	}
	made, err := c.repo.Commit(c.commit)
	if err == nil {
		c.tree, err = c.repo.lookupTree(made.Tree)
	}
	return err
}

// Close releases it.
func (c *Content) Close() {
	if c.tree != nil {
		c.tree.Free()
	}
	if c.index != nil {
		c.index.Free()
	}
}

// Blob is what stands in a file; "" for nothing. What `git add` would make of a file counts,
// not its bytes: ends of lines, and what a filter keeps elsewhere. Which filters there are is only
// looked for where the bytes are not what likely, which may be nil, says they are: the index of a
// large repository takes longer than the files.
func (c *Content) Blob(file string, likely func(OID) bool) OID {
	b, ok := c.known[file]
	if !ok {
		if c.root != "" {
			b = c.inFile(file)
		} else {
			b.id = c.inTree(file)
		}
	}
	c.known[file] = b
	if b.info == nil || likely != nil && likely(b.id) {
		return b.id
	}
	converted, filtered := c.attributes(file)
	switch {
	case !converted, likely != nil && !filtered && b.unix == b.id:
		return b.id
	case likely != nil && (likely(b.unix) || !filtered):
		return b.unix
	}
	return c.sieve(file, b)
}

// Text is what stands in a file. It returns ErrNotFound where nothing does.
func (c *Content) Text(file string) ([]byte, error) {
	if c.root != "" {
		info, err := c.lstat(file)
		if err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("git: %q in the working tree: %w", file, ErrNotFound)
		}
		return os.ReadFile(c.at(file))
	}
	id := c.inTree(file)
	if id == "" {
		return nil, fmt.Errorf("git: %q in %s: %w", file, c.commit, ErrNotFound)
	}
	return c.repo.Blob(id)
}

// inTree is the entry of a file in the commit; "" for none.
func (c *Content) inTree(file string) OID {
	if c.tree == nil {
		return ""
	}
	e, err := c.tree.EntryByPath(file)
	if err != nil {
		return ""
	}
	return fromOid(e.Id)
}

// at is where a file of the working tree lies.
func (c *Content) at(file string) string { return filepath.Join(c.root, filepath.FromSlash(file)) }

// lstat looks at a file of the working tree. As for git, nothing lies behind a link.
func (c *Content) lstat(file string) (os.FileInfo, error) {
	if !filepath.IsLocal(file) || !c.isDir(path.Dir(file)) {
		return nil, os.ErrNotExist
	}
	return os.Lstat(c.at(file))
}

func (c *Content) isDir(dir string) bool {
	is, ok := c.dirs[dir]
	if !ok && dir != "." {
		info, err := c.lstat(dir)
		is = err == nil && info.IsDir()
		c.dirs[dir] = is
	}
	return is || dir == "."
}

// inFile is what stands in a file of the working tree.
func (c *Content) inFile(file string) blob {
	info, err := c.lstat(file)
	switch {
	case err != nil && c.leftOut(file):
		return blob{id: c.inTree(file)}
	case err != nil:
		return blob{}
	case info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(c.at(file))
		if err != nil {
			return blob{id: c.inTree(file)}
		}
		return blob{id: blobID([]byte(to))}
	case info.IsDir():
		return blob{id: c.submodule(file)}
	case !info.Mode().IsRegular():
		return blob{} // as for git
	case c.files == maxHashed, c.bytes+info.Size() > maxHashedBytes:
		return blob{id: c.inTree(file)}
	}
	c.files, c.bytes = c.files+1, c.bytes+info.Size()
	text, err := os.ReadFile(c.at(file))
	if err != nil {
		return blob{id: c.inTree(file)}
	}
	b := blob{blobID(text), "", info}
	if b.unix = b.id; bytes.Contains(text, []byte("\r\n")) && bytes.IndexByte(text, 0) < 0 {
		b.unix = blobID(unixLines(text))
	}
	return b
}

// submodule is the commit of a submodule that is checked out, or where it is not here what HEAD says; ""
// for any other folder.
func (c *Content) submodule(dir string) OID {
	if sub, err := git2.OpenRepositoryExtended(c.at(dir), git2.RepositoryOpenNoSearch, ""); err == nil {
		defer sub.Free()
		if head, err := sub.Head(); err == nil {
			defer head.Free()
			return fromOid(head.Target())
		}
	}
	if c.tree == nil {
		return ""
	}
	if e, err := c.tree.EntryByPath(dir); err == nil && e.Type == git2.ObjectCommit {
		return fromOid(e.Id)
	}
	return ""
}

// blobID is the OID of a blob.
func blobID(text []byte) OID {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return OID(hex.EncodeToString(h.Sum(nil)))
}

func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// sieve is what `git add` makes of a file that has filters: what HEAD has where the text is that,
// as it is or with git's ends of lines, else what the index says where it knows the file as it is.
func (c *Content) sieve(file string, b blob) OID {
	if head := c.inTree(file); b.id == head || b.unix == head {
		return head
	}
	for e := range indexEntries(c.rawIndex()) {
		if string(e.name) == file && e.knows(b.info) {
			return OID(hex.EncodeToString(e.oid[:]))
		}
	}
	return b.unix
}

// rawIndex is git's index as it lies there, which is only read where nothing else will do.
func (c *Content) rawIndex() []byte {
	if c.raw == nil {
		c.raw, _ = os.ReadFile(filepath.Join(c.repo.layout.GitDir, "index")) // none knows nothing
	}
	return c.raw
}

func (c *Content) openIndex() bool {
	if c.index == nil {
		index, err := c.repo.r.Index()
		if err != nil {
			return false
		}
		c.index = index
	}
	return true
}

// leftOut reports whether a sparse checkout leaves a file out of the working tree, with its folder
// as it does unless told otherwise.
func (c *Content) leftOut(file string) bool {
	if !filepath.IsLocal(file) || c.isDir(path.Dir(file)) {
		return false
	}
	conf, err := c.repo.r.Config()
	if err != nil {
		return false
	}
	defer conf.Free()
	if sparse, err := conf.LookupBool("core.sparsecheckout"); err == nil && sparse {
		return true
	}
	// What belongs to one worktree libgit2 1.5 does not read.
	own, err := git2.OpenOndisk(filepath.Join(c.repo.layout.GitDir, "config.worktree"))
	if err != nil {
		return false
	}
	defer own.Free()
	sparse, err := own.LookupBool("core.sparsecheckout")
	return err == nil && sparse
}

// Inside is a path, as it was typed in the folder in which the repository was opened, from the
// repository's root; false where it leads out of it.
func (r *Repo) Inside(name string) (string, bool) {
	root := r.layout.WorkTree
	if root == "" {
		return path.Clean(filepath.ToSlash(name)), filepath.IsLocal(name)
	}
	dir := r.dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	full := from(dir, name)
	if real, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		full = filepath.Join(real, filepath.Base(full))
	}
	rel, err := filepath.Rel(root, full)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || strings.HasPrefix(rel, ".git/") {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
