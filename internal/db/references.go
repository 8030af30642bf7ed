package db

import (
	"context"
	"fmt"
)

// referenceChecks are what one table says of another; what is there once has a key.
var referenceChecks = map[string]string{ //nolint:gochecknoglobals // a table
	"turns without a session":                  countMissing("session", "turns", "facets", "session"),
	"tool calls without a session":             countMissing("session", "tool_calls", "sessions", "id"),
	"usage without a session":                  countMissing("session", "usage", "sessions", "id"),
	"checkpoint_sessions without a session":    countMissing("session", "checkpoint_sessions", "sessions", "id"),
	"checkpoint_sessions without a checkpoint": countMissing("checkpoint", "checkpoint_sessions", "checkpoints", "id"),
	"files without a checkpoint":               countMissing("checkpoint", "checkpoint_files", "checkpoints", "id"),
	"ties without a session":                   countMissing("session", "ties", "facets", "session"),
	"shares without a session":                 countMissing("session", "shares", "facets", "session"),
}

func countMissing(column, table, other, key string) string {
	return fmt.Sprintf("SELECT count(*) FROM %[2]s WHERE NOT EXISTS (SELECT 1 FROM %[3]s o WHERE o.%[4]s = %[2]s.%[1]s)",
		column, table, other, key)
}

// CheckReferences counts the rows that refer to none, by what is wrong, and looks at the whole file for damage. Nothing
// is where the tables are as they should be.
func (d *DB) CheckReferences(ctx context.Context) (map[string]int, error) {
	told, err := readTexts(query(ctx, d, "PRAGMA integrity_check(1)"))
	if err == nil && (len(told) != 1 || told[0] != "ok") {
		err = fmt.Errorf("db: %w: %q", ErrCorrupt, told)
	}
	out := map[string]int{}
	for what, statement := range referenceChecks {
		var n int
		if err == nil {
			err = query(ctx, d, statement).one(&n)
		}
		if n > 0 {
			out[what] = n
		}
	}
	return out, err
}
