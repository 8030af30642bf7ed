package db

import (
	"context"
)

// Claim says that the ledger of an author names an ID as a session's or memory's. Which claims count for more
// is the business of package materialize.
type Claim struct {
	ID, Email string
	Entry     string // the one that makes it, by its place in the order of all
	Credible  bool   // the entry is dated as it can be
}

// contested are the IDs that more than one ledger names.
const contested = `SELECT id FROM claims GROUP BY id HAVING count(*) > 1`

// Claims reads who names some IDs, and who names those that more than one ledger names.
func Claims(ctx context.Context, q Querier, ids []string) ([]Claim, error) {
	return readRows(query(ctx, q, `SELECT * FROM claims
		WHERE id IN (SELECT value FROM json_each(?)) OR id IN (`+contested+`) ORDER BY id, email`, ids), (*Claim).columns)
}

func (c *Claim) columns() []any { return asList(&c.ID, &c.Email, &c.Entry, &c.Credible) }

// SetClaims writes claims in place of those that the same ledgers make to the same IDs.
func (t *Tx) SetClaims(ctx context.Context, claims []Claim) error {
	return writeRows(ctx, t, "INSERT OR REPLACE INTO claims", claims, (*Claim).columns)
}

// IsReferredTo reports whether sessions of authors name an ID as the session that spawned them or that they began with.
func (t *Tx) IsReferredTo(ctx context.Context, claims []Claim) (bool, error) {
	if len(claims) == 0 {
		return false, nil
	}
	n := 0
	err := query(ctx, t, `WITH c AS MATERIALIZED (SELECT value ->> 'ID' AS id, value ->> 'Email' AS email FROM json_each(?))
		SELECT count(*) FROM (SELECT 1 FROM c JOIN sessions s ON s.parent = c.id WHERE lower(s.email) = c.email
			UNION ALL SELECT 1 FROM c JOIN sessions s ON s.forked_from = c.id WHERE lower(s.email) = c.email)`, claims).one(&n)
	return n > 0, err
}
