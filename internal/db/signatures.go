package db

import (
	"cmp"
	"context"

	"github.com/git-rekal/git-rekal/internal/session"
)

// HeldPart says which commit of whose ledger holds a part of a session.
type HeldPart struct{ Item, Commit, Email string }

// PartsOf reads where the parts of sessions are, in order.
func (d *DB) PartsOf(ctx context.Context, ids []string) ([]HeldPart, error) {
	return readRows(query(ctx, d, `SELECT DISTINCT p.item, e.oid, e.email FROM parts p JOIN entries e ON e.n = p.entry
		WHERE p.item IN (SELECT value FROM json_each(?)) ORDER BY p.item, e.email, e.oid`, ids),
		func(p *HeldPart) []any { return asList(&p.Item, &p.Commit, &p.Email) })
}

// SignatureRow is what the signature of a commit was found to be worth in somebody's ledger: a copy in another one is
// not signed by its author.
type SignatureRow struct {
	Commit, Email  string
	Letter, Signer string // as of git.Verdict
	Trust          session.Trust
}

func (r *SignatureRow) columns() []any {
	return asList(&r.Commit, &r.Email, &r.Letter, &r.Signer, (*int)(&r.Trust))
}

// ReplaceSignatures writes what was found with some keys; what was found with others goes.
func (t *Tx) ReplaceSignatures(ctx context.Context, keys string, rows []SignatureRow) error {
	return cmp.Or(
		t.Exec(ctx, "DELETE FROM signatures"),
		t.Exec(ctx, "DELETE FROM signing_keys"),
		t.Exec(ctx, "INSERT INTO signing_keys VALUES (?)", keys),
		writeRows(ctx, t, "INSERT OR REPLACE INTO signatures", rows, (*SignatureRow).columns))
}

// SigningKeys reads with which keys signatures were looked at; "" where none was.
func (d *DB) SigningKeys(ctx context.Context) (keys string, err error) {
	err = query(ctx, d, "SELECT coalesce(max(print), '') FROM signing_keys").one(&keys)
	return keys, err
}

// Signatures reads what was found with some keys; nothing where it was with others.
func Signatures(ctx context.Context, q Querier, keys string) ([]SignatureRow, error) {
	return readRows(query(ctx, q, "SELECT * FROM signatures WHERE EXISTS (SELECT 1 FROM signing_keys WHERE print = ?)",
		keys), (*SignatureRow).columns)
}

// CountUnjudged is how many commits of ledgers that say something, and how many of some others, were not looked at with
// some keys.
func CountUnjudged(ctx context.Context, q Querier, keys string, others []string) (n int, err error) {
	err = query(ctx, q, `SELECT count(DISTINCT p.oid) FROM (SELECT oid, email FROM entries WHERE n IN (SELECT entry FROM parts)
		UNION SELECT oid, email FROM marks UNION SELECT value, NULL FROM json_each(?)) p
		WHERE NOT EXISTS (SELECT 1 FROM signing_keys WHERE print = ?)
		OR NOT EXISTS (SELECT 1 FROM signatures s WHERE s.oid = p.oid AND s.email = coalesce(p.email, s.email))`, others, keys).one(&n)
	return n, err
}

// lowestTrust is what the signatures of everything that has parts are worth: of its parts the least.
const lowestTrust = `SELECT p.item, min(coalesce(s.trust, 0)) AS trust FROM parts p JOIN entries e ON e.n = p.entry
	LEFT JOIN signatures s ON s.oid = e.oid AND s.email = e.email`

// Verified lists what a key of its author signed, in order.
func (d *DB) Verified(ctx context.Context) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT item FROM (`+lowestTrust+` GROUP BY p.item) WHERE trust = ? ORDER BY item`,
		int(session.Verified)))
}

// AllExcept lists all sessions and memories but some, in order.
func (d *DB) AllExcept(ctx context.Context, ids []string) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT session FROM facets WHERE session NOT IN (SELECT value FROM json_each(?)) ORDER BY session`, ids))
}

// Trust reads what the signatures of sessions and memories are worth. If no commit of any ledger is signed, the map is
// empty.
func (d *DB) Trust(ctx context.Context, ids []string) (map[string]session.Trust, error) {
	return readMap[string, session.Trust](query(ctx, d, lowestTrust+` WHERE EXISTS (SELECT 1 FROM signatures WHERE letter <> 'N')
		AND p.item IN (SELECT value FROM json_each(?)) GROUP BY p.item`, ids))
}
