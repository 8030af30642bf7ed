package workspace

import (
	"fmt"

	"github.com/git-rekal/git-rekal/internal/trailer"
)

// TrailerForm is how commits of the repository name agents: as rekal.trailer says.
func (w *Workspace) TrailerForm() (trailer.Form, error) {
	conf, err := w.Settings()
	if err != nil {
		return trailer.Form{}, err
	}
	form, err := trailer.ParseForm(conf.Trailer)
	if err != nil {
		err = fmt.Errorf("rekal.trailer: %w", err)
	}
	return form, err
}
