package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// editText has a person write a text in git's editor, above a note that says what for.
func (app *App) editText(ctx context.Context, note string) (text string, err error) {
	ask := exec.CommandContext(ctx, "git", "var", "GIT_EDITOR")
	ask.Env, ask.Dir = app.Env, app.Dir
	editor, err := ask.Output()
	if err != nil {
		return "", fmt.Errorf("git var GIT_EDITOR: %w", err)
	}
	file, err := os.CreateTemp("", "git-rekal-*.md") // readable by its owner alone
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	if _, err = file.WriteString("\n\n" + note + "\n"); err != nil {
		return "", errors.Join(err, file.Close())
	}
	if err = file.Close(); err != nil {
		return "", err
	}
	command := strings.TrimSpace(string(editor))
	edit := exec.CommandContext(ctx, "sh", "-c", command+` "$@"`, command, file.Name())
	edit.Env, edit.Dir, edit.Stdin, edit.Stdout, edit.Stderr = app.Env, app.Dir, app.Stdin, app.Stdout, app.plainStderr()
	if err = edit.Run(); err != nil {
		return "", fmt.Errorf("the editor %q: %w", command, err)
	}
	written, err := os.ReadFile(file.Name())
	if err != nil {
		return "", err
	}
	text, _, _ = strings.Cut(string(written), note)
	return strings.TrimSpace(text), nil
}
