package git

// Kind is what git calls the type of an object: "blob", "tree", "commit", "tag".
type Kind string

// The kinds that are dealt with here.
const (
	kindBlob   Kind = "blob"
	kindTree   Kind = "tree"
	kindCommit Kind = "commit"
)

// store reads a repository's objects and refs. There are two: libgit2, and git's own plumbing for repositories that
// libgit2 can't read. Objects are written by neither, as a loose one is the same file for both; refs are moved by git.
//
// An object, a ref or a revision that is not here is ErrNotFound.
type store interface {
	// header tells an object's kind and size, without reading it.
	header(id OID) (Kind, uint64, error)
	// object reads an object whole. The bytes belong to the caller.
	object(id OID) (Kind, []byte, error)

	ref(name string) (OID, error)
	refs(globs []string) (map[string]OID, error)

	close()
}
