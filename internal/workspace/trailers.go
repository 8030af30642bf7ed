package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/trailer"
)

// formFile is a file of the project, in the form of git's configuration, that says how its commits name agents. It says
// nothing else, and nothing of it is run.
const formFile = ".gitrekal"

// maxFormFile is how many bytes it has at most.
const maxFormFile = 64 << 10

// TrailerForm is how commits of the repository name agents: as rekal.trailer says, else the project's file. isSet tells
// whether anything does.
func (w *Workspace) TrailerForm(ctx context.Context) (form trailer.Form, isSet bool, err error) {
	conf, err := w.Settings()
	if err != nil {
		return form, false, err
	}
	text, from := conf.Trailer, ""
	if text == "" {
		text, from = w.projectForm(ctx), " of "+formFile
	}
	if form, err = trailer.ParseForm(text); err != nil {
		err = fmt.Errorf("rekal.trailer%s: %w", from, err)
	}
	return form, text != "", err
}

// projectForm is the form that the project's file names; "" for none.
func (w *Workspace) projectForm(ctx context.Context) string {
	root := w.Repo.Layout().WorkTree
	path := filepath.Join(root, formFile)
	info, err := os.Lstat(path)
	if root == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxFormFile {
		return ""
	}
	text, err := w.Repo.Run(ctx, "config", "--file", path, "--no-includes", "--get", "rekal.trailer")
	if err != nil { // it names none
		return ""
	}
	return strings.TrimSpace(text)
}
