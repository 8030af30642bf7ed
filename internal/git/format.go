package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Hash is what names the objects of a repository.
type Hash struct {
	Size int // of an OID in bytes, as trees and the index hold it: 20 or 32
	sum  func() hash.Hash
}

// What git knows as extensions.objectFormat.
var (
	sha1Names   = Hash{Size: sha1.Size, sum: sha1.New}     //nolint:gochecknoglobals // a constant
	sha256Names = Hash{Size: sha256.Size, sum: sha256.New} //nolint:gochecknoglobals // a constant
)

// signatureHeader is where a commit holds its signature.
func (h Hash) signatureHeader() string {
	if h.Size == sha256.Size {
		return "gpgsig-sha256"
	}
	return "gpgsig"
}

// SHA1 is what named them all until there was another one.
func SHA1() Hash { return sha1Names }

// Hash is what names this repository's objects.
func (r *Repo) Hash() Hash { return r.hash }

// Blob names a blob.
func (h Hash) Blob(content []byte) OID { return h.oid(kindBlob, content) }

func (h Hash) oid(kind Kind, content []byte) OID {
	sum := h.sum()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(content))
	sum.Write(content)
	return OID(hex.EncodeToString(sum.Sum(nil)))
}

// IsOID reports whether a text can name an object of any repository: 40 hexadecimal digits where that has SHA-1, 64 with SHA-256.
func IsOID(text string) bool {
	if len(text) != 2*sha1.Size && len(text) != 2*sha256.Size {
		return false
	}
	_, err := hex.DecodeString(text)
	return err == nil
}

// check says what an OID is that can't name an object here: ErrNotFound where another repository may have one.
func (h Hash) check(id OID) error {
	switch {
	case !IsOID(string(id)):
		return fmt.Errorf("git: %q is no object ID", id)
	case len(id) != 2*h.Size:
		return fmt.Errorf("git: object %s has a name of another format: %w", id, ErrNotFound)
	}
	return nil
}

// chooseStore takes libgit2 for repositories that it can read, and git itself for others, by what the repository says of its format.
func (r *Repo) chooseStore() (err error) {
	objects, refs := r.Setting("extensions.objectformat"), r.Setting("extensions.refstorage")
	switch strings.ToLower(objects) {
	case "", "sha1":
		r.hash = sha1Names
	case "sha256":
		r.hash = sha256Names
	default:
		return fmt.Errorf("%w: extensions.objectformat is %s", ErrUnsupported, objects)
	}
	if version := r.Setting("core.repositoryformatversion"); (version == "" || version == "0") && objects+refs != "" { // which git refuses
		return fmt.Errorf("%w: extensions in a repository of format 0: run \"git config core.repositoryFormatVersion 1\"", ErrUnsupported)
	}
	r.git = &plumbing{repo: r}
	switch own := r.hash.Size == sha1Names.Size; strings.ToLower(refs) {
	case "", "files":
		if own {
			r.git.onlyInfo = true
			r.store, err = newLibrary(r)
			return err
		}
	default: // which not every git knows
		if _, err := r.Run(r.ctx, "rev-parse", "--git-dir"); err != nil {
			return fmt.Errorf("%w: extensions.refstorage is %s: %w", ErrUnsupported, refs, err)
		}
		r.reftable = true
	}
	r.store = r.git
	return r.git.start() // everything asks for something, and meanwhile it may begin
}
