package git

import (
	"compress/zlib"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// write writes an object as a loose one, which is the same file in every repository: a deflated "KIND SIZE NUL
// CONTENT", named by its hash. (`git hash-object -w` does the same in a process of 3 ms.) One that is there becomes as
// young as a new one, so that no `git gc` which runs just now takes it away.
func (r *Repo) write(kind Kind, content []byte) (OID, error) {
	id := r.format.objectID(kind, content)
	path := r.loosePath(id)
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
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), "tmp_obj_"+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL,
		0o444)
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

// loosePath is the file of an object that is in no pack.
func (r *Repo) loosePath(id OID) string {
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
	Signed  bool      // to be signed, where SignWith named a way

	// commits that are taken where the draft is the same but for a signature, by what Unsigned calls them
	StandIns map[OID]OID
}

// IsSigning reports whether SignWith named a way.
func (r *Repo) IsSigning() bool { return r.sign != nil }

// SignWith has drafts signed that ask for it. A commit that can't be signed is written without.
func (r *Repo) SignWith(sign func(ctx context.Context, payload []byte) ([]byte, error)) {
	r.sign = sign
}

// WriteCommit writes blobs, trees and a commit, and moves no ref.
func (r *Repo) WriteCommit(d Draft) (OID, error) {
	by, err := d.Author.header()
	if err != nil {
		return "", err
	}
	files := maps.Clone(d.Blobs)
	if files == nil {
		files = map[string]OID{}
	}
	for _, id := range files {
		if err := r.requireObject(id, kindBlob); err != nil {
			return "", err
		}
	}
	for path, content := range d.Files {
		if files[path], err = r.write(kindBlob, content); err != nil {
			return "", fmt.Errorf("git: write %s: %w", path, err)
		}
	}
	for _, path := range d.Remove {
		files[path] = ""
	}
	tree, err := r.writeTree(d.Base, files)
	if err == nil && tree == "" {
		tree, err = r.write(kindTree, nil)
	}
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
	text += "author " + by + "\ncommitter " + by + "\n"
	if len(d.StandIns) > 0 {
		if id, ok := d.StandIns[r.format.objectID(kindCommit, []byte(text+"\n"+d.Message))]; ok {
			return id, nil
		}
	}
	if d.Signed && r.sign != nil {
		if signature, err := r.sign(r.ctx, []byte(text+"\n"+d.Message)); err == nil {
			text += r.format.signatureHeader() + " " + strings.ReplaceAll(strings.TrimSpace(string(signature)), "\n", "\n ") +
				"\n"
		}
	}
	id, err := r.write(kindCommit, []byte(text+"\n"+d.Message))
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

// writeTree writes the tree that a base becomes when files are put at paths, or with "" are taken away; "" for a tree
// that holds nothing.
func (r *Repo) writeTree(base OID, files map[string]OID) (OID, error) {
	all, below := map[string]TreeEntry{}, map[string]map[string]OID{}
	err := r.EachDifference("", base, func(_ string, _, e TreeEntry) (into bool, err error) {
		all[e.Name] = e
		return false, nil
	})
	if err != nil {
		return "", err
	}
	for path, id := range files {
		name, rest, deeper := strings.Cut(path, "/")
		if id != "" && !isFileName(name) {
			return "", fmt.Errorf("git: tree entry %q: %w", name, ErrMalformed)
		}
		if !deeper {
			all[name] = newEntry(modeFile, name, id)
			continue
		}
		if below[name] == nil {
			below[name] = map[string]OID{}
		}
		below[name][rest] = id
	}
	for name, files := range below {
		folder := OID("")
		if all[name].IsDir() {
			folder = all[name].ID()
		}
		tree, err := r.writeTree(folder, files)
		if err != nil {
			return "", err
		}
		if tree != "" || folder != "" { // else there is nothing to take away
			all[name] = newEntry(modeDir, name, tree)
		}
	}
	var raw strings.Builder
	for _, e := range slices.SortedFunc(maps.Values(all), compareEntries) {
		if e.oid != "" {
			raw.WriteString(e.String())
		}
	}
	if raw.Len() == 0 {
		return "", nil
	}
	id, err := r.write(kindTree, []byte(raw.String()))
	if err != nil {
		return "", fmt.Errorf("git: write tree: %w", err)
	}
	return id, nil
}

// isFileName reports whether a file in a working tree may have a name.
func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.EqualFold(name, ".git") &&
		!strings.ContainsAny(name, "/\x00")
}
