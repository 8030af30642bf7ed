package db

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// rewritesDDL holds the rewrites that count, each with what it comes to: nobody has to follow chains.
const rewritesDDL = `
CREATE TABLE rewrites_index (
    user_email VARCHAR NOT NULL, old_sha VARCHAR NOT NULL, new_sha VARCHAR NOT NULL,
    root_sha VARCHAR NOT NULL, last_sha VARCHAR NOT NULL);
`

// Rewriters reads from data.db the addresses of those whose ledgers say of one of some code commits that it
// became another; of any, where all is set.
func (t *Tx) Rewriters(ctx context.Context, olds []string, all bool) ([]string, error) {
	rows, err := t.Query(ctx, `SELECT DISTINCT user_email FROM rewrites WHERE ? OR old_sha IN (SELECT unnest(?::VARCHAR[])) ORDER BY ALL`, all, olds)
	if err != nil {
		return nil, err
	}
	return scanStrings(rows)
}

// Rewrites reads from data.db what the ledger of an author says of rewrites, in its order.
func (t *Tx) Rewrites(ctx context.Context, email string) ([]attribution.Rewrite, error) {
	rows, err := t.Query(ctx, `SELECT old_sha, new_sha, old_sha IN (SELECT git_sha FROM checkpoints WHERE lower(user_email) = ?)
		FROM rewrites WHERE user_email = ? AND old_sha <> ? AND new_sha <> ? ORDER BY entry, n`, email, email, session.ZeroSHA, session.ZeroSHA)
	if err != nil {
		return nil, err
	}
	var out []attribution.Rewrite
	err = each(rows, func() error {
		r := attribution.Rewrite{Email: email}
		err := rows.Scan(&r.Old, &r.New, &r.Named)
		out = append(out, r)
		return err
	})
	return out, err
}

// ReplaceRewrites writes the rewrites of an author's ledger that count, with what they come to, into index.db.
func (t *Tx) ReplaceRewrites(ctx context.Context, email string, rewrites []attribution.Rewrite) error {
	if err := t.Exec(ctx, `DELETE FROM rewrites_index WHERE user_email = ?`, email); err != nil {
		return err
	}
	return t.Append("rewrites_index", func(row func(...any) error) error {
		for _, r := range rewrites {
			if err := row(r.Email, r.Old, r.New, r.Root, r.Last); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxRewrites is how many rewrites are read for one question. Small families come first: nobody's large one
// keeps out what others say.
const maxRewrites = 20_000

// ends are the commits of all rewrites, with their families.
const ends = `ends AS (SELECT user_email, root_sha, old_sha AS sha FROM rewrites_index UNION ALL SELECT user_email, root_sha, new_sha FROM rewrites_index)`

// Rewrites reads from index.db the rewrites that lead to or from some code commits, in either direction and in
// any number of steps. A commit may be given by its beginning.
func (d *DB) Rewrites(ctx context.Context, shas []string) ([]attribution.Rewrite, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	begin, err := d.beginning(ctx, slices.DeleteFunc(slices.Clone(shas), whole))
	if err != nil {
		return nil, err
	}
	rows, err := d.Query(ctx, `WITH `+ends+`, asked AS (SELECT DISTINCT user_email, root_sha FROM ends WHERE sha IN (SELECT unnest(?::VARCHAR[]))),
		sizes AS (SELECT user_email, root_sha, count(*) AS size FROM rewrites_index GROUP BY ALL)
		SELECT user_email, old_sha, new_sha FROM rewrites_index JOIN asked USING (user_email, root_sha) JOIN sizes USING (user_email, root_sha)
		ORDER BY size, user_email, old_sha, new_sha LIMIT ?`, slices.Concat(shas, begin), maxRewrites)
	if err != nil {
		return nil, err
	}
	var out []attribution.Rewrite
	err = each(rows, func() error {
		var r attribution.Rewrite
		err := rows.Scan(&r.Email, &r.Old, &r.New)
		out = append(out, r)
		return err
	})
	return out, err
}

// whole reports whether a commit is not given by its beginning.
func whole(sha string) bool { return len(sha) >= len(session.ZeroSHA) }

// beginning reads the commits of rewrites that begin in one of some ways.
func (d *DB) beginning(ctx context.Context, starts []string) ([]string, error) {
	if len(starts) == 0 {
		return nil, nil
	}
	rows, err := d.Query(ctx, `WITH `+ends+` SELECT DISTINCT sha FROM ends JOIN (SELECT unnest(?::VARCHAR[]) AS start) ON starts_with(sha, start)`, starts)
	if err != nil {
		return nil, err
	}
	return scanStrings(rows)
}

// Became reads from index.db what code commits became at last; those that became nothing are left out.
func (d *DB) Became(ctx context.Context, shas []string) (map[attribution.Commit]string, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	these, args := among(shas)
	rows, err := d.Query(ctx, `SELECT user_email, old_sha, last_sha FROM rewrites_index WHERE old_sha IN (`+these+`)`, args...)
	if err != nil {
		return nil, err
	}
	out := map[attribution.Commit]string{}
	err = each(rows, func() error {
		var c attribution.Commit
		var last string
		err := rows.Scan(&c.Email, &c.SHA, &last)
		out[c] = last
		return err
	})
	return out, err
}
