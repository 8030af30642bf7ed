package history

import (
	"bytes"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Lines is how the lines of a file changed, white space aside, as for BlameFile.
type Lines struct {
	Text  []string // of all of the file as it is now
	Added []int    // indexes of those that were not there before
	Gone  []string // those that were there
}

// CompareBlobs tells of the lines of two blobs; "" is a file that is not there. It returns ErrBinary, ErrTooLarge above
// 1 MB, and ErrNotFound for a blob that is not here (a partial clone fetches nothing for this).
func CompareBlobs(r *git.Repo, before, now git.OID) (Lines, error) {
	var texts [2][]byte
	for i, id := range [2]git.OID{before, now} {
		var err error
		if texts[i], err = textWithin(r, id, MaxPatched); err != nil {
			return Lines{}, err
		}
	}
	out := Lines{Text: splitLines(texts[1])}
	was := make([]int, len(out.Text))
	if err := mapUnchangedLines(texts[0], texts[1], git.SpacesAside, was); err != nil {
		return Lines{}, err
	}
	old := splitLines(texts[0])
	stays := make([]bool, len(old)+1)
	for i, n := range was {
		if n == 0 || n > len(old) {
			out.Added = append(out.Added, i)
			continue
		}
		stays[n] = true
	}
	for i, l := range old {
		if !stays[i+1] {
			out.Gone = append(out.Gone, l)
		}
	}
	return out, nil
}

// textWithin reads a blob of at most so many bytes whose lines can be compared; "" is an empty one.
func textWithin(r *git.Repo, id git.OID, most uint64) ([]byte, error) {
	text, err := r.BlobWithin(id, most)
	if err == nil && bytes.IndexByte(text, 0) >= 0 {
		err = ErrBinary
	}
	return text, err
}

// splitLines are the lines of a text, without their ends.
func splitLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
