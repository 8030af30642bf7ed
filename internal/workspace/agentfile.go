package workspace

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-rekal/git-rekal/internal/replace"
)

// WriteForAgent writes what an agent is about to read into a file of git-rekal's folder, where nobody else of the
// machine reads it, in the place of what the last agent was given. Its path has nothing of the text.
func (w *Workspace) WriteForAgent(name, text string) (path string, err error) {
	dir := filepath.Join(w.RekalDir(), "for-agents")
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	path = filepath.Join(dir, name+".md")
	if err := replace.File(path, []byte(text)); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return path, nil
}
