package workspace

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// People are the names of those whose ledgers are here, by their addresses in lower case: as the last commits of the ledgers have them, or
// as the mailmap does. git is asked about a mailmap only where there is one. Who has no name is not among them.
func (w *Workspace) People(ctx context.Context) map[string]string {
	heads, err := ledger.Heads(w.Repo)
	if err != nil {
		return nil // an address does as well
	}
	names := map[string]string{}
	for _, h := range heads {
		c, err := w.Repo.Commit(h.OID)
		email := strings.ToLower(h.Email)
		if err == nil && strings.EqualFold(c.Author.Email, h.Email) && names[email] == "" { // one's own branch counts first
			names[email] = strings.TrimSpace(c.Author.Name)
		}
	}
	if w.hasMailmap() {
		proper, _ := history.Mailmap(ctx, w.Repo, slices.Sorted(maps.Keys(names)))
		for email, p := range proper {
			if p.Name != "" {
				names[email] = p.Name
			}
		}
	}
	maps.DeleteFunc(names, func(_, name string) bool { return name == "" })
	return names
}

// hasMailmap reports whether git would find a mailmap (gitmailmap(5)).
func (w *Workspace) hasMailmap() bool {
	tree := w.Repo.Layout().WorkTree
	conf, _ := w.Settings()
	return tree == "" || exists(filepath.Join(tree, ".mailmap")) || len(conf.Git["mailmap.file"])+len(conf.Git["mailmap.blob"]) > 0
}
