package workspace

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/result"
)

// People are the authors of the ledgers that are here, with their names from the mailmap or from the last commit of
// each ledger. git is asked about a mailmap only if there is one.
func (w *Workspace) People(ctx context.Context) result.People {
	heads, err := ledger.Heads(w.Repo)
	if err != nil {
		return result.People{} // an address does as well
	}
	names, proper := map[string]string{}, map[string]string{}
	for _, h := range heads {
		c, err := w.Repo.Commit(h.OID)
		email := strings.ToLower(h.Email)
		if names[email] == "" { // one's own branch counts first
			names[email] = ""
			if err == nil && strings.EqualFold(c.Author.Email, h.Email) {
				names[email] = strings.TrimSpace(c.Author.Name)
			}
		}
	}
	if w.hasMailmap() {
		mapped, _ := history.Mailmap(ctx, w.Repo, slices.Sorted(maps.Keys(names)))
		for email, p := range mapped {
			names[email], proper[email] = cmp.Or(p.Name, names[email]), p.Email
		}
	}
	return result.NewPeople(names, proper)
}

// hasMailmap reports whether git would find a mailmap (gitmailmap(5)).
func (w *Workspace) hasMailmap() bool {
	tree := w.Repo.Layout().WorkTree
	conf, _ := w.Settings()
	return tree == "" || exists(filepath.Join(tree, ".mailmap")) ||
		len(conf.Git["mailmap.file"])+len(conf.Git["mailmap.blob"]) > 0
}
