package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Notes are the blobs of all notes below a ref (refs/notes/…), by the object that each is about.
func (r *Repo) Notes(ctx context.Context, ref string) (map[OID]OID, error) {
	listed, err := r.Run(ctx, "notes", "--ref="+ref, "list")
	if err != nil {
		return nil, fmt.Errorf("git: notes of %s: %w", ref, err)
	}
	out := map[OID]OID{}
	for line := range strings.Lines(listed) {
		if blob, of, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			out[OID(of)] = OID(blob)
		}
	}
	return out, nil
}

// maxFolders is how many folders of two digits git's notes lie in at most, before somebody else's tool wrote them.
const maxFolders = 4

// Note is the blob of the note of an object below a ref; "" where there is none.
func (r *Repo) Note(ref string, id OID) (OID, error) {
	tip, err := r.Ref(ref)
	if errors.Is(err, ErrNotFound) || err == nil && tip == "" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	c, err := r.Commit(tip)
	if err != nil {
		return "", fmt.Errorf("git: notes of %s: %w", ref, err)
	}
	folders, name := "", string(id)
	for range maxFolders {
		if e := r.EntryAt(c.Tree, folders+name); e.IsFile() {
			return e.ID(), nil
		}
		folders, name = folders+name[:2]+"/", name[2:]
	}
	return "", nil
}

// WriteNote replaces the note of an object below a ref, which is made if needed, by a text as it is.
func (r *Repo) WriteNote(ctx context.Context, ref string, id OID, text string) error {
	blob, err := r.WriteBlob([]byte(text))
	if err == nil {
		_, err = r.Run(ctx, "notes", "--ref="+ref, "add", "-f", "-C", string(blob), string(id))
	}
	if err != nil {
		return fmt.Errorf("git: note of %s in %s: %w", id, ref, err)
	}
	return nil
}
