package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// ObjectFormat is the hash by which a repository names its objects: SHA-1 or SHA-256.
type ObjectFormat struct {
	OIDSize int // in bytes, as trees and the index hold an OID: 20 or 32
	newHash func() hash.Hash
}

// The two values of git's setting extensions.objectFormat.
var (
	sha1Format   = ObjectFormat{OIDSize: sha1.Size, newHash: sha1.New}     //nolint:gochecknoglobals // a constant
	sha256Format = ObjectFormat{OIDSize: sha256.Size, newHash: sha256.New} //nolint:gochecknoglobals // a constant
)

// signatureHeader is the header of a commit that holds its signature.
func (h ObjectFormat) signatureHeader() string {
	if h.OIDSize == sha256.Size {
		return "gpgsig-sha256"
	}
	return "gpgsig"
}

// SHA1 is the format of most repositories, and the only one before git 2.29.
func SHA1() ObjectFormat { return sha1Format }

// ObjectFormat is the hash by which this repository names its objects.
func (r *Repo) ObjectFormat() ObjectFormat { return r.format }

// BlobID is the OID of a blob with this content. Nothing is written.
func (h ObjectFormat) BlobID(content []byte) OID { return h.objectID(kindBlob, content) }

func (h ObjectFormat) objectID(kind Kind, content []byte) OID {
	sum := h.newHash()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(content))
	sum.Write(content)
	return OID(hex.EncodeToString(sum.Sum(nil)))
}

// IsOID reports whether a text can name an object of any repository: 40 hexadecimal digits where that has SHA-1, 64
// with SHA-256.
func IsOID(text string) bool {
	if len(text) != 2*sha1.Size && len(text) != 2*sha256.Size {
		return false
	}
	_, err := hex.DecodeString(text)
	return err == nil
}

// checkID is the error for an OID that can't name an object of this format: ErrNotFound if it has the length of the
// other format.
func (h ObjectFormat) checkID(id OID) error {
	switch {
	case !IsOID(string(id)):
		return fmt.Errorf("git: %q is no object ID", id)
	case len(id) != 2*h.OIDSize:
		return fmt.Errorf("git: object %s has a name of another format: %w", id, ErrNotFound)
	}
	return nil
}

// chooseStore takes libgit2 for repositories that it can read, and git itself for others, by what the repository says
// of its format.
func (r *Repo) chooseStore() (err error) {
	objects, refs := r.Setting("extensions.objectformat"), r.Setting("extensions.refstorage")
	switch strings.ToLower(objects) {
	case "", "sha1":
		r.format = sha1Format
	case "sha256":
		r.format = sha256Format
	default:
		return fmt.Errorf("%w: extensions.objectformat is %s", ErrUnsupported, objects)
	}
	// git refuses extensions in format 0
	if version := r.Setting("core.repositoryformatversion"); (version == "" || version == "0") && objects+refs != "" {
		return fmt.Errorf("%w: extensions in a repository of format 0: run \"git config core.repositoryFormatVersion 1\"",
			ErrUnsupported)
	}
	r.git = &plumbing{repo: r}
	// Where the environment names other places of objects, as scripts do that write elsewhere first, git knows them, and
	// libgit2 does not.
	elsewhere := r.Variable("GIT_OBJECT_DIRECTORY")+r.Variable("GIT_ALTERNATE_OBJECT_DIRECTORIES") != ""
	switch isSHA1 := r.format.OIDSize == sha1Format.OIDSize; strings.ToLower(refs) {
	case "", "files":
		if isSHA1 && !elsewhere {
			r.git.headersOnly = true
			r.store, err = newLibrary(r)
			return err
		}
	default: // reftable: older versions of git don't know it
		if _, err := r.Run(r.ctx, "rev-parse", "--git-dir"); err != nil {
			return fmt.Errorf("%w: extensions.refstorage is %s: %w", ErrUnsupported, refs, err)
		}
		r.reftable = true
	}
	r.store = r.git
	return r.git.start() // early: the process is up when the first object is asked for
}
