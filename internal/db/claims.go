package db

import (
	"context"
	"fmt"
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

// Claims reads from data.db who names some IDs, and who names those that more than one ledger names.
func Claims(ctx context.Context, q Querier, ids []string) ([]Claim, error) {
	rows, err := q.Query(ctx, `SELECT id, user_email, entry, credible FROM claims
		WHERE id IN (SELECT unnest(?::VARCHAR[])) OR id IN (`+contested+`) ORDER BY id, user_email`, ids)
	if err != nil {
		return nil, err
	}
	var out []Claim
	err = each(rows, func() error {
		var c Claim
		err := rows.Scan(&c.ID, &c.Email, &c.Entry, &c.Credible)
		out = append(out, c)
		return err
	})
	return out, err
}

// SetClaims writes claims in place of those that the same ledgers make to the same IDs.
func (t *Tx) SetClaims(ctx context.Context, claims []Claim) error {
	ids, emails := make([]string, len(claims)), make([]string, len(claims))
	for i, c := range claims {
		ids[i], emails[i] = c.ID, c.Email
	}
	err := t.Exec(ctx, `DELETE FROM claims WHERE (id, user_email) IN (SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]))`, ids, emails)
	if err != nil {
		return err
	}
	return t.Append("claims", func(row func(...any) error) error {
		for _, c := range claims {
			if err := row(c.ID, c.Email, c.Entry, c.Credible); err != nil {
				return err
			}
		}
		return nil
	})
}

// Refer reports whether sessions of authors name an ID as the session that spawned them or that they began with.
func (t *Tx) Refer(ctx context.Context, claims []Claim) (bool, error) {
	if len(claims) == 0 {
		return false, nil
	}
	ids, emails := make([]string, len(claims)), make([]string, len(claims))
	for i, c := range claims {
		ids[i], emails[i] = c.ID, c.Email
	}
	rows, err := t.Query(ctx, `WITH c AS (SELECT unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS email)
		SELECT count(*) FROM sessions s JOIN c ON lower(s.user_email) = c.email AND c.id IN (s.parent_session_id, s.forked_from)`, ids, emails)
	if err != nil {
		return false, err
	}
	n := 0
	err = each(rows, func() error { return rows.Scan(&n) })
	if err != nil {
		return false, fmt.Errorf("db: references: %w", err)
	}
	return n > 0, nil
}
