package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	git2 "github.com/libgit2/git2go/v34"
)

// Commit is what a commit object says.
type Commit struct {
	OID       OID
	Tree      OID
	Parents   []OID
	Author    Signature
	Committer Signature
	Message   string
}

// Subject is the first line of the message.
func (c Commit) Subject() string {
	s, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return s
}

// Commit reads a commit; ErrNotFound when the object is not here.
func (r *Repo) Commit(id OID) (Commit, error) {
	c, err := r.lookupCommit(id)
	if err != nil {
		return Commit{}, err
	}
	defer c.Free()
	return commitFrom(c), nil
}

// maxCommit is the size in bytes of the largest commit of somebody else that is read.
const maxCommit = 1 << 20

// Sound looks at the commits that are reachable from a tip and not from those it meets of have,
// and returns ErrMalformed where one is too large to be read. libgit2's own walk has no bound.
func (r *Repo) Sound(ctx context.Context, tip OID, have ...OID) error {
	odb, err := r.r.Odb()
	if err != nil {
		return fmt.Errorf("git: object database: %w", err)
	}
	defer odb.Free()
	seen := map[OID]bool{}
	for _, id := range have {
		seen[id] = true
	}
	for next := []OID{tip}; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if err := ctx.Err(); err != nil || seen[id] {
			if err != nil {
				return err
			}
			continue
		}
		seen[id] = true
		o, err := toOid(id)
		if err != nil {
			return err
		}
		size, _, err := odb.ReadHeader(o)
		if git2.IsErrorCode(err, git2.ErrorCodeNotFound) {
			continue // the walk says whether it may be missing
		}
		if err != nil {
			return fmt.Errorf("git: commit %s: %w", id, err)
		}
		if size > maxCommit {
			return fmt.Errorf("git: commit %s has %d bytes: %w", id, size, ErrMalformed)
		}
		c, err := r.Commit(id)
		if err != nil {
			return err
		}
		next = append(next, c.Parents...)
	}
	return nil
}

func (r *Repo) lookupCommit(id OID) (*git2.Commit, error) {
	o, err := toOid(id)
	if err != nil {
		return nil, err
	}
	c, err := r.r.LookupCommit(o)
	if err != nil {
		if git2.IsErrorCode(err, git2.ErrorCodeNotFound) {
			return nil, fmt.Errorf("git: commit %s: %w", id, ErrNotFound)
		}
		return nil, fmt.Errorf("git: commit %s: %w", id, err)
	}
	return c, nil
}

func commitFrom(c *git2.Commit) Commit {
	out := Commit{OID: fromOid(c.Id()), Tree: fromOid(c.TreeId()), Message: c.Message()}
	for i := range c.ParentCount() {
		out.Parents = append(out.Parents, fromOid(c.ParentId(i)))
	}
	out.Author, out.Committer = signatureFrom(c.Author()), signatureFrom(c.Committer())
	return out
}

func signatureFrom(s *git2.Signature) Signature {
	if s == nil {
		return Signature{}
	}
	return Signature{Name: s.Name, Email: s.Email, When: s.When}
}

// Blob reads a blob whole.
func (r *Repo) Blob(id OID) ([]byte, error) {
	o, err := toOid(id)
	if err != nil {
		return nil, err
	}
	b, err := r.r.LookupBlob(o)
	if err != nil {
		if git2.IsErrorCode(err, git2.ErrorCodeNotFound) {
			return nil, fmt.Errorf("git: blob %s: %w", id, ErrNotFound)
		}
		return nil, fmt.Errorf("git: blob %s: %w", id, err)
	}
	defer b.Free()
	return append([]byte(nil), b.Contents()...), nil
}

// BlobSize is the size of a blob in bytes, without reading it.
func (r *Repo) BlobSize(id OID) (uint64, error) {
	o, err := toOid(id)
	if err != nil {
		return 0, err
	}
	odb, err := r.r.Odb()
	if err != nil {
		return 0, fmt.Errorf("git: object database: %w", err)
	}
	defer odb.Free()
	size, kind, err := odb.ReadHeader(o)
	switch {
	case git2.IsErrorCode(err, git2.ErrorCodeNotFound):
		return 0, fmt.Errorf("git: blob %s: %w", id, ErrNotFound)
	case err != nil:
		return 0, fmt.Errorf("git: blob %s: %w", id, err)
	case kind != git2.ObjectBlob:
		return 0, fmt.Errorf("git: %s is no blob: %w", id, ErrMalformed)
	}
	return size, nil
}

func (r *Repo) lookupTree(id OID) (*git2.Tree, error) {
	o, err := toOid(id)
	if err != nil {
		return nil, err
	}
	t, err := r.r.LookupTree(o)
	if err != nil {
		return nil, fmt.Errorf("git: tree %s: %w", id, err)
	}
	return t, nil
}

// WriteBlob writes a blob, which nothing leads to yet.
func (r *Repo) WriteBlob(content []byte) (OID, error) {
	id, err := r.writeBlob(content)
	if err != nil {
		return "", fmt.Errorf("git: write a blob: %w", err)
	}
	return fromOid(id), nil
}

func (r *Repo) writeBlob(content []byte) (*git2.Oid, error) {
	id, err := r.r.CreateBlobFromBuffer(content)
	var silent *git2.GitError
	if errors.As(err, &silent) && silent.Class == git2.ErrorClassInvalid {
		err = cmp.Or(r.tryToWrite(content), err)
	}
	return id, err
}

// tryToWrite writes bytes beside the objects, to no end but to hear from the system why that fails:
// libgit2 has no word for a disk that is full in the middle of an object.
func (r *Repo) tryToWrite(content []byte) error {
	f, err := os.CreateTemp(filepath.Join(r.layout.CommonDir, "objects"), "tmp_obj_")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// InHead reports whether the commit that is checked out has an entry of a name in its root, in
// any case.
func (r *Repo) InHead(name string) (bool, error) {
	head, err := r.Head()
	if err != nil || head.OID == "" {
		return false, err
	}
	c, err := r.Commit(head.OID)
	if err != nil {
		return false, err
	}
	t, err := r.lookupTree(c.Tree)
	if err != nil {
		return false, err
	}
	defer t.Free()
	for i := range t.EntryCount() {
		if e := t.EntryByIndex(i); e != nil && strings.EqualFold(e.Name, name) {
			return true, nil
		}
	}
	return false, nil
}

// Draft is a commit to be written: a base tree with files added to it.
type Draft struct {
	Base    OID               // tree to start from; "" for an empty one
	Files   map[string][]byte // slash-separated path → content; added or replaced
	Blobs   map[string]OID    // the same, where the content is here already
	Remove  []string          // paths to take out, where they are there
	Parents []OID
	Message string
	Author  Signature // also the committer
}

// WriteCommit writes blobs, trees and an unsigned commit, and moves no ref.
func (r *Repo) WriteCommit(d Draft) (OID, error) {
	root := dir{}
	for path, content := range d.Files {
		blob, err := r.writeBlob(content)
		if err != nil {
			return "", fmt.Errorf("git: write %s: %w", path, err)
		}
		root.put(strings.Split(path, "/"), blob)
	}
	for path, id := range d.Blobs {
		blob, err := toOid(id)
		if err != nil {
			return "", err
		}
		root.put(strings.Split(path, "/"), blob)
	}
	for _, path := range d.Remove {
		root.put(strings.Split(path, "/"), nil)
	}
	tree, err := r.writeTree(d.Base, root)
	if err != nil {
		return "", err
	}
	parents := make([]*git2.Oid, len(d.Parents))
	for i, p := range d.Parents {
		if parents[i], err = toOid(p); err != nil {
			return "", err
		}
	}
	sig := &git2.Signature{Name: d.Author.Name, Email: d.Author.Email, When: d.Author.When}
	id, err := r.r.CreateCommitFromIds("", sig, sig, d.Message, tree, parents...)
	if err != nil {
		return "", fmt.Errorf("git: write commit: %w", err)
	}
	return fromOid(id), nil
}

// dir is one level of changed paths: a name maps to a blob, to nil (removed), or to a
// deeper dir.
type dir map[string]any

func (d dir) put(parts []string, blob *git2.Oid) {
	if len(parts) == 1 {
		d[parts[0]] = blob
		return
	}
	sub, ok := d[parts[0]].(dir)
	if !ok {
		sub = dir{}
		d[parts[0]] = sub
	}
	sub.put(parts[1:], blob)
}

// adds reports whether a blob is to be put anywhere below.
func (d dir) adds() bool {
	for _, v := range d {
		switch v := v.(type) {
		case dir:
			if v.adds() {
				return true
			}
		case *git2.Oid:
			if v != nil {
				return true
			}
		}
	}
	return false
}

func (r *Repo) writeTree(base OID, d dir) (*git2.Oid, error) {
	var old *git2.Tree
	var b *git2.TreeBuilder
	var err error
	if base == "" {
		b, err = r.r.TreeBuilder()
	} else {
		if old, err = r.lookupTree(base); err != nil {
			return nil, err
		}
		defer old.Free()
		b, err = r.r.TreeBuilderFromTree(old)
	}
	if err != nil {
		return nil, fmt.Errorf("git: build tree: %w", err)
	}
	defer b.Free()
	for name, v := range d {
		if err := r.buildEntry(b, old, name, v); err != nil {
			return nil, fmt.Errorf("git: build tree entry %q: %w", name, err)
		}
	}
	return b.Write()
}

func (r *Repo) buildEntry(b *git2.TreeBuilder, old *git2.Tree, name string, v any) error {
	switch v := v.(type) {
	case dir:
		var base OID
		if old != nil {
			if e := old.EntryByName(name); e != nil && e.Type == git2.ObjectTree {
				base = fromOid(e.Id)
			}
		}
		if base == "" && !v.adds() {
			return nil
		}
		sub, err := r.writeTree(base, v)
		if err != nil {
			return err
		}
		return b.Insert(name, sub, git2.FilemodeTree)
	case *git2.Oid:
		switch {
		case v == nil && (old == nil || old.EntryByName(name) == nil):
			return nil
		case v == nil:
			return b.Remove(name)
		}
		return b.Insert(name, v, git2.FilemodeBlob)
	}
	return nil
}

// Walk yields the commits that are reachable from tips and not from hide, parents
// before children. Commits that a shallow clone cut off are not an error: the walk
// ends there. Others that are not here are ErrNotFound.
func (r *Repo) Walk(ctx context.Context, tips, hide []OID) iter.Seq2[Commit, error] {
	if r.shallow() {
		return r.walkShallow(ctx, tips, hide)
	}
	return func(yield func(Commit, error) bool) {
		w, err := r.r.Walk()
		if err != nil {
			yield(Commit{}, fmt.Errorf("git: walk: %w", err))
			return
		}
		defer w.Free()
		w.Sorting(git2.SortTopological | git2.SortTime | git2.SortReverse)
		if err := push(w, tips, hide); err != nil {
			yield(Commit{}, err)
			return
		}
		var id git2.Oid
		for {
			err := w.Next(&id)
			if git2.IsErrorCode(err, git2.ErrorCodeIterOver) {
				return
			}
			if err = cmp.Or(ctx.Err(), err); err != nil {
				yield(Commit{}, walkError(err))
				return
			}
			c, err := r.Commit(fromOid(&id))
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func walkError(err error) error {
	if git2.IsErrorCode(err, git2.ErrorCodeNotFound) {
		return fmt.Errorf("git: walk: %w: %w", ErrNotFound, err)
	}
	return fmt.Errorf("git: walk: %w", err)
}

func push(w *git2.RevWalk, tips, hide []OID) error {
	for _, id := range tips {
		o, err := toOid(id)
		if err != nil {
			return err
		}
		if err := w.Push(o); err != nil {
			return fmt.Errorf("git: walk from %s: %w", id, walkError(err))
		}
	}
	for _, id := range hide {
		o, err := toOid(id)
		if err != nil {
			return err
		}
		// A commit that is not here hides nothing.
		if err := w.Hide(o); err != nil && !git2.IsErrorCode(err, git2.ErrorCodeNotFound) {
			return fmt.Errorf("git: walk without %s: %w", id, err)
		}
	}
	return nil
}

// Missing tells which of some objects are not in this clone.
func (r *Repo) Missing(ids []OID) (map[OID]bool, error) {
	odb, err := r.r.Odb()
	if err != nil {
		return nil, fmt.Errorf("git: object database: %w", err)
	}
	defer odb.Free()
	out := map[OID]bool{}
	for _, id := range ids {
		if o, err := toOid(id); err != nil || !odb.Exists(o) {
			out[id] = true
		}
	}
	return out, nil
}

// IsAncestor reports whether a commit is another one or reachable from it. One that is not
// here is neither.
func (r *Repo) IsAncestor(old, new OID) (bool, error) {
	if old == new {
		return true, nil
	}
	o, err := toOid(old)
	if err != nil {
		return false, err
	}
	n, err := toOid(new)
	if err != nil {
		return false, err
	}
	for _, id := range []OID{old, new} {
		if _, err := r.Commit(id); errors.Is(err, ErrNotFound) {
			return false, nil
		}
	}
	if r.shallow() {
		return r.isBehind(old, new)
	}
	ok, err := r.r.DescendantOf(n, o)
	if err != nil {
		return false, fmt.Errorf("git: is %s behind %s: %w", old, new, err)
	}
	return ok, nil
}

// CommitByPrefix finds the commit whose OID begins with hexadecimal digits, at least four.
// It returns ErrNotFound when there is none, and ErrAmbiguous when several objects begin so.
func (r *Repo) CommitByPrefix(prefix string) (OID, error) {
	if n := len(prefix); n < 4 || n > 40 {
		return "", fmt.Errorf("git: %q: %w", prefix, ErrNotFound)
	}
	o, err := toOid(OID(prefix + strings.Repeat("0", 40-len(prefix))))
	if err != nil {
		return "", fmt.Errorf("git: %q: %w", prefix, ErrNotFound)
	}
	c, err := r.r.LookupPrefixCommit(o, uint(len(prefix)))
	switch {
	case git2.IsErrorCode(err, git2.ErrorCodeNotFound):
		return "", fmt.Errorf("git: %q: %w", prefix, ErrNotFound)
	case git2.IsErrorCode(err, git2.ErrorCodeAmbiguous):
		return "", fmt.Errorf("git: %q: %w", prefix, ErrAmbiguous)
	case err != nil:
		return "", fmt.Errorf("git: %q: %w", prefix, err)
	}
	defer c.Free()
	return fromOid(c.Id()), nil
}
