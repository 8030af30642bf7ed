package git

import (
	"fmt"
	"strings"

	git2 "github.com/libgit2/git2go/v34"
)

// library is the store of repositories that libgit2 1.5 can read: SHA-1, with refs in files.
type library struct {
	repo *Repo
	r    *git2.Repository
	odb  *git2.Odb
}

func newLibrary(repo *Repo) (*library, error) {
	odb, err := repo.r.Odb()
	if err != nil {
		return nil, fmt.Errorf("git: object database: %w", err)
	}
	return &library{repo, repo.r, odb}, nil
}

// close may be called twice, which git2go allows of a repository and not of its objects.
func (l *library) close() {
	if l.odb != nil {
		l.odb.Free()
		l.odb = nil
	}
}

func oidOf(id *git2.Oid) OID {
	if id == nil || id.IsZero() {
		return ""
	}
	return OID(id.String())
}

func (l *library) libraryOID(id OID) (*git2.Oid, error) {
	if err := l.repo.format.checkID(id); err != nil {
		return nil, err
	}
	return git2.NewOid(string(id))
}

// kindOfType is what git calls a kind.
func kindOfType(t git2.ObjectType) Kind { return Kind(strings.ToLower(t.String())) }

// notFoundError makes ErrNotFound of libgit2's error for what is not here.
func notFoundError(err error) error {
	if git2.IsErrorCode(err, git2.ErrorCodeNotFound) {
		return ErrNotFound // callers name what it is
	}
	return err
}

func (l *library) header(id OID) (Kind, uint64, error) {
	o, err := l.libraryOID(id)
	if err != nil {
		return "", 0, err
	}
	size, kind, err := l.odb.ReadHeader(o)
	return kindOfType(kind), size, notFoundError(err)
}

func (l *library) object(id OID) (Kind, []byte, error) {
	o, err := l.libraryOID(id)
	if err != nil {
		return "", nil, err
	}
	obj, err := l.odb.Read(o)
	if err != nil {
		return "", nil, notFoundError(err)
	}
	defer obj.Free()
	return kindOfType(obj.Type()), append([]byte(nil), obj.Data()...), nil
}

func (l *library) ref(name string) (OID, error) {
	ref, err := l.r.References.Lookup(name)
	if err != nil {
		return "", notFoundError(err)
	}
	defer ref.Free()
	return oidOf(ref.Target()), nil
}

func (l *library) refs(globs []string) (map[string]OID, error) {
	refs := map[string]OID{}
	for _, glob := range globs {
		if err := l.list(glob, refs); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

func (l *library) list(glob string, refs map[string]OID) error {
	it, err := l.r.NewReferenceIteratorGlob(glob)
	if err != nil {
		return err
	}
	defer it.Free()
	for {
		ref, err := it.Next()
		if git2.IsErrorCode(err, git2.ErrorCodeIterOver) {
			return nil
		}
		if err != nil {
			return err
		}
		if ref.Type() == git2.ReferenceOid {
			refs[ref.Name()] = oidOf(ref.Target())
		}
		ref.Free()
	}
}

// Hunks compares two texts line by line, in the way of `git diff -U0`: each hunk begins with its "@@ … @@" line. Around
// is how many equal lines stand around what differs; with spaces aside, lines are equal that differ in white space
// only.
func Hunks(before, now []byte, around uint32, spaces Spaces) (string, error) {
	how, err := git2.DefaultDiffOptions()
	if err != nil {
		return "", fmt.Errorf("git: diff: %w", err)
	}
	if spaces == SpacesAside {
		how.Flags |= git2.DiffIgnoreWhitespace
	}
	how.ContextLines, how.InterhunkLines = around, 0
	patch, err := new(git2.Repository).PatchFromBuffers("f", "f", before, now, &how)
	if err != nil {
		return "", fmt.Errorf("git: diff: %w", err)
	}
	defer patch.Free()
	text, err := patch.String()
	if err != nil {
		return "", fmt.Errorf("git: diff: %w", err)
	}
	if at := strings.Index(text, "\n@@ "); at >= 0 {
		return text[at+1:], nil
	}
	return "", nil
}

// Spaces says whether lines differ that differ in white space only.
type Spaces bool

// What Hunks does with white space.
const (
	SpacesCount Spaces = false
	SpacesAside Spaces = true
)

// ValidRef reports whether git accepts a full ref name.
func ValidRef(name string) bool {
	ok, err := git2.ReferenceNameIsValid(name)
	return err == nil && ok
}
