package recall

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
)

// authorsLike are the addresses of those whose name or address holds a text, in any case: as their ledgers have it, or
// as the mailmap does. An address that is given whole means the person who has it. The list is never nil.
func authorsLike(ctx context.Context, index *db.DB, repo *git.Repo, part string) ([]string, error) {
	part = strings.ToLower(part)
	emails, err := index.Authors(ctx)
	if err != nil {
		return nil, err
	}
	proper, err := history.Mailmap(ctx, repo, append(emails, part))
	if err != nil {
		return nil, err
	}
	names, err := ledgerNames(ctx, index, repo)
	if err != nil {
		return nil, err
	}
	whole, some := []string{}, []string{}
	for _, email := range emails {
		person := proper[email]
		if email == part || person.Email == part || person.Email != "" && person.Email == proper[part].Email {
			whole = append(whole, email)
		}
		known := slices.Concat(names[email], []string{email, strings.ToLower(person.Name), person.Email})
		if slices.ContainsFunc(known, func(s string) bool { return strings.Contains(s, part) }) {
			some = append(some, email)
		}
	}
	if len(whole) > 0 {
		return whole, nil
	}
	return some, nil
}

// ledgerNames are the names, in lower case, with which people wrote the last commits of their ledgers, by their
// addresses.
func ledgerNames(ctx context.Context, index *db.DB, repo *git.Repo) (map[string][]string, error) {
	cursor, err := db.Cursor(ctx, index)
	out := map[string][]string{}
	for _, at := range slices.Sorted(maps.Values(cursor)) {
		oid, _, _ := strings.Cut(at, " ") // what was counted of it stands behind
		oid, _, _ = strings.Cut(oid, "!")
		if c, err := repo.Commit(git.OID(oid)); err == nil { // of a folder no commit is here
			email := strings.ToLower(c.Author.Email)
			out[email] = append(out[email], strings.ToLower(c.Author.Name))
		}
	}
	return out, err
}
