package workspace

import (
	"fmt"
	"os"
	"path/filepath"
)

// WriteForAgent writes what an agent is about to read into a file of git-rekal's folder, where nobody else of the machine reads it, in the place of
// what the last agent was given. Its path has nothing of the text.
func (w *Workspace) WriteForAgent(name, text string) (path string, err error) {
	dir := filepath.Join(w.RekalDir(), "for-agents")
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	path = filepath.Join(dir, name+".md")
	f, err := os.CreateTemp(dir, name+"-*")
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	_, err = f.WriteString(text)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("workspace: %w", err)
	}
	return path, nil
}
