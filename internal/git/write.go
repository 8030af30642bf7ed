package git

import (
	"compress/zlib"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// write writes an object as a loose one, which is the same file in every repository: a deflated "KIND SIZE NUL CONTENT", named by its
// hash. (`git hash-object -w` does the same in a process of 3 ms.) One that is there becomes as young as a new one, so that no
// `git gc` which runs just now takes it away.
func (r *Repo) write(kind Kind, content []byte) (OID, error) {
	id := r.hash.oid(kind, content)
	path := r.loose(id)
	if unix.Utimes(path, nil) == nil {
		return id, nil
	}
	err := os.Mkdir(filepath.Dir(path), 0o777)
	if err == nil {
		err = r.shared.applyTo(filepath.Dir(path))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), "tmp_obj_"+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return "", err
	}
	z, _ := zlib.NewWriterLevel(f, zlib.BestSpeed) // a valid level
	_, err = fmt.Fprintf(z, "%s %d\x00", kind, len(content))
	if err == nil {
		_, err = z.Write(content)
	}
	if err = errors.Join(err, z.Close(), f.Close(), r.shared.applyTo(f.Name())); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return id, nil
}

// loose is the file of an object that is in no pack.
func (r *Repo) loose(id OID) string {
	return filepath.Join(r.layout.CommonDir, "objects", string(id[:2]), string(id[2:]))
}

// WriteBlob writes a blob, which nothing leads to yet.
func (r *Repo) WriteBlob(content []byte) (OID, error) {
	id, err := r.write(kindBlob, content)
	if err != nil {
		return "", fmt.Errorf("git: write a blob: %w", err)
	}
	return id, nil
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
	by, err := d.Author.header()
	if err != nil {
		return "", err
	}
	root := dir{}
	for path, content := range d.Files {
		blob, err := r.write(kindBlob, content)
		if err != nil {
			return "", fmt.Errorf("git: write %s: %w", path, err)
		}
		root.put(strings.Split(path, "/"), blob)
	}
	for path, id := range d.Blobs {
		if err := r.requireObject(id, kindBlob); err != nil {
			return "", err
		}
		root.put(strings.Split(path, "/"), id)
	}
	for _, path := range d.Remove {
		root.put(strings.Split(path, "/"), "")
	}
	tree, err := r.writeTree(d.Base, root)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("tree %s\n", tree)
	for _, p := range d.Parents {
		if err := r.requireObject(p, kindCommit); err != nil {
			return "", err
		}
		text += fmt.Sprintf("parent %s\n", p)
	}
	id, err := r.write(kindCommit, []byte(text+"author "+by+"\ncommitter "+by+"\n\n"+d.Message))
	if err != nil {
		return "", fmt.Errorf("git: write commit: %w", err)
	}
	return id, nil
}

// requireObject makes sure that an object can be pointed at.
func (r *Repo) requireObject(id OID, kind Kind) error {
	is, _, err := r.store.header(id)
	if err == nil && is != kind {
		err = ErrMalformed
	}
	if err != nil {
		return fmt.Errorf("git: %s %s: %w", kind, id, err)
	}
	return nil
}

// header is the signature as a commit has it, without what would end its parts.
func (s Signature) header() (string, error) {
	clean := func(text string) string {
		return strings.TrimFunc(strings.Map(func(c rune) rune {
			if strings.ContainsRune("<>\n\x00", c) {
				return -1
			}
			return c
		}, text), isTrimmedFromNames)
	}
	name, email := clean(s.Name), clean(s.Email)
	if name == "" || email == "" {
		return "", fmt.Errorf("git: a commit of %q <%s>: %w", s.Name, s.Email, ErrNoIdentity)
	}
	return fmt.Sprintf("%s <%s> %d %s", name, email, s.When.Unix(), s.When.Format("-0700")), nil
}

// isTrimmedFromNames is what git takes off the ends of names.
func isTrimmedFromNames(c rune) bool { return c <= ' ' || strings.ContainsRune(`.,:;<>"\'`, c) }

// dir is one level of changed paths: a name maps to a blob, to "" (removed), or to a
// deeper dir.
type dir map[string]any

func (d dir) put(parts []string, blob OID) {
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
		case OID:
			if v != "" {
				return true
			}
		}
	}
	return false
}

// writeTree writes the tree that a base becomes.
func (r *Repo) writeTree(base OID, d dir) (OID, error) {
	var all []TreeEntry
	old := map[string]TreeEntry{}
	for e, err := range r.Tree(base) {
		if err != nil {
			return "", err
		}
		if _, changes := d[e.Name]; changes {
			old[e.Name] = e
		} else {
			all = append(all, e)
		}
	}
	for name, v := range d {
		e, err := r.changed(name, old[name], v)
		if err != nil {
			return "", err
		}
		if e.oid != "" {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, compareEntries)
	var raw strings.Builder
	for _, e := range all {
		raw.WriteString(e.String())
	}
	id, err := r.write(kindTree, []byte(raw.String()))
	if err != nil {
		return "", fmt.Errorf("git: write tree: %w", err)
	}
	return id, nil
}

// changed is the entry that stands in the place of an old one; the zero entry for none.
func (r *Repo) changed(name string, old TreeEntry, to any) (TreeEntry, error) {
	mode, id := modeFile, OID("")
	switch to := to.(type) {
	case OID:
		id = to
	case dir:
		var base OID
		if old.IsDir() {
			base = old.ID()
		}
		if base == "" && !to.adds() {
			return old, nil
		}
		tree, err := r.writeTree(base, to)
		if err != nil {
			return TreeEntry{}, err
		}
		mode, id = modeDir, tree
	}
	if id != "" && !isFileName(name) {
		return TreeEntry{}, fmt.Errorf("git: tree entry %q: %w", name, ErrMalformed)
	}
	return newEntry(mode, name, id), nil
}

// isFileName reports whether a file in a working tree may have a name.
func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.EqualFold(name, ".git") && !strings.ContainsAny(name, "/\x00")
}
