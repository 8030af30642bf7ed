package db

import (
	"cmp"
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// RewriteAuthors reads the addresses of the authors whose ledgers record a rewrite of one of olds; with all, of any
// commit.
func (t *Tx) RewriteAuthors(ctx context.Context, olds []string, all bool) ([]string, error) {
	return readTexts(query(ctx, t, `SELECT DISTINCT email FROM rewrites WHERE ? OR old IN (SELECT value FROM json_each(?)) ORDER BY email`, all, olds))
}

// RecordedRewrites reads what the ledger of an author says of rewrites, in its order. Named is set where that ledger
// has a checkpoint of Old.
func (t *Tx) RecordedRewrites(ctx context.Context, email string) ([]attribution.Rewrite, error) {
	out, err := readRows(query(ctx, t, `SELECT old, new, EXISTS (SELECT 1 FROM checkpoints WHERE sha = old AND lower(email) = ?)
		FROM rewrites WHERE email = ? AND old <> ? AND new <> ? ORDER BY entry, n`, email, email, session.ZeroSHA, session.ZeroSHA),
		func(r *attribution.Rewrite) []any { return asList(&r.Old, &r.New, &r.Named) })
	for i := range out {
		out[i].Email = email
	}
	return out, err
}

// ReplaceLineage stores what attribution.Resolve made of an author's rewrites: those that count, with what they come
// to.
func (t *Tx) ReplaceLineage(ctx context.Context, email string, rewrites []attribution.Rewrite) error {
	return cmp.Or(t.Exec(ctx, `DELETE FROM lineage WHERE email = ?`, email),
		writeRows(ctx, t, "INSERT INTO lineage", rewrites,
			func(r *attribution.Rewrite) []any { return asList(&r.Email, &r.Old, &r.New, &r.Root, &r.Latest) }))
}

// maxRewrites is how many rewrites are read for one question. Small families come first, so
// that one author's large family does not displace other people's.
const maxRewrites = 20_000

// RewriteFamilies reads all rewrites of the families that hold one of some code commits. A commit may be given by its
// beginning.
func (d *DB) RewriteFamilies(ctx context.Context, shas []string) ([]attribution.Rewrite, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	starts := slices.DeleteFunc(slices.Clone(shas), isWholeOID)
	return readRows(query(ctx, d, `WITH start AS (SELECT value AS start, value || 'g' AS stop FROM json_each(?2)),
		sha AS MATERIALIZED (SELECT value AS sha FROM json_each(?1) UNION SELECT old FROM start CROSS JOIN lineage ON old >= start AND old < stop
			UNION SELECT new FROM start CROSS JOIN lineage ON new >= start AND new < stop),
		asked AS MATERIALIZED (SELECT email, root FROM sha CROSS JOIN lineage ON old = sha UNION SELECT email, root FROM sha CROSS JOIN lineage ON new = sha),
		sizes AS MATERIALIZED (SELECT email, root, (SELECT count(*) FROM lineage l WHERE l.email = asked.email AND l.root = asked.root) AS size FROM asked)
		SELECT l.email, l.old, l.new FROM sizes CROSS JOIN lineage l ON l.email = sizes.email AND l.root = sizes.root
		ORDER BY size, l.email, l.old, l.new LIMIT ?3`, shas, starts, maxRewrites),
		func(r *attribution.Rewrite) []any { return asList(&r.Email, &r.Old, &r.New) })
}

// isWholeOID reports whether a commit is given by all of its OID, and not by the beginning.
func isWholeOID(sha string) bool { return len(sha) >= len(session.ZeroSHA) }

// BecameAtLast reads what code commits became at last; those that nothing rewrote are left out.
func (d *DB) BecameAtLast(ctx context.Context, shas []string) (map[attribution.Commit]string, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	out := map[attribution.Commit]string{}
	err := query(ctx, d, `SELECT email, old, last FROM lineage WHERE old IN (SELECT value FROM json_each(?))`,
		shas).each(func(rows *Rows) error {
		var c attribution.Commit
		var last string
		err := rows.Scan(&c.Email, &c.SHA, &last)
		out[c] = last
		return err
	})
	return out, err
}
