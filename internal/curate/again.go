package curate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/archive"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/statedb"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// importedName names in package statedb what an import of Entire's checkpoints found last. Without it they are read
// again.
const importedName = "imported"

// lastImport is an import after which nothing was left to do.
type lastImport struct {
	Key         string // of the repository behind it: see importKey
	Transcripts int
	Others      map[string]int
	Unread      map[string]int
	Absent      []archive.Absent // what would be read if it came
}

// importKey stands for all that an import of everything that Entire kept goes by: refs, settings, and the state of
// captures.
func importKey(ctx context.Context, w *workspace.Workspace, a workspace.Author, everyone bool) (string, error) {
	refs, err := w.Repo.Refs("refs/*")
	_, born := statedb.Text(ctx, w.RekalDir(), importedName)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %t %s %v %v", born, everyone, a.Email, a.Config.Git, refs))
	return fmt.Sprintf("%x", sum), err
}

// rememberedImport is what the last import found, where nothing has changed since.
func rememberedImport(ctx context.Context, w *workspace.Workspace, a workspace.Author, repo *git.Repo,
	everyone bool,
) (s archive.Source, ok bool) {
	text, _ := statedb.Text(ctx, w.RekalDir(), importedName)
	var last lastImport
	if text == nil || json.Unmarshal(text, &last) != nil {
		return s, false
	}
	if key, err := importKey(ctx, w, a, everyone); err != nil || key != last.Key {
		return s, false
	}
	for _, missing := range last.Absent {
		if _, err := repo.BlobSize(missing.OID); err == nil {
			return s, false
		}
	}
	s = archive.Source{
		Name: archive.NameEntire, Transcripts: last.Transcripts, Others: last.Others, Unread: last.Unread,
		Absent: last.Absent,
	}
	return s, true
}

// rememberImport keeps what an import found. One that failed in part is done again.
func rememberImport(ctx context.Context, w *workspace.Workspace, a workspace.Author, s archive.Source,
	everyone bool,
) error {
	if len(s.Failed) > 0 {
		return nil
	}
	key, err := importKey(ctx, w, a, everyone)
	if err != nil {
		return err
	}
	text, err := json.Marshal(lastImport{key, s.Transcripts, s.Others, s.Unread, s.Absent})
	if err != nil {
		return fmt.Errorf("curate: %w", err)
	}
	return statedb.SetText(ctx, w.RekalDir(), importedName, text, "")
}
