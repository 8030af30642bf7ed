package git

import (
	"context"
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

// WriteNote replaces the note of an object below a ref, which is made if needed, by a text as it is.
func (r *Repo) WriteNote(ctx context.Context, ref string, id OID, text string) error {
	blob, err := r.Feed(ctx, text, "hash-object", "-w", "--stdin")
	if err == nil {
		_, err = r.Run(ctx, "notes", "--ref="+ref, "add", "-f", "-C", strings.TrimSpace(blob), string(id))
	}
	if err != nil {
		return fmt.Errorf("git: note of %s in %s: %w", id, ref, err)
	}
	return nil
}
