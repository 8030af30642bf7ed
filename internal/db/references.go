package db

import (
	"context"
	"fmt"
)

// references are what one table says of another; what is there once has a key.
var references = map[string]string{ //nolint:gochecknoglobals // a table
	"turns without a session":                  missing("session", "turns", "facets", "session"),
	"tool calls without a session":             missing("session", "tool_calls", "sessions", "id"),
	"usage without a session":                  missing("session", "usage", "sessions", "id"),
	"checkpoint_sessions without a session":    missing("session", "checkpoint_sessions", "sessions", "id"),
	"checkpoint_sessions without a checkpoint": missing("checkpoint", "checkpoint_sessions", "checkpoints", "id"),
	"files without a checkpoint":               missing("checkpoint", "checkpoint_files", "checkpoints", "id"),
	"ties without a session":                   missing("session", "ties", "facets", "session"),
	"shares without a session":                 missing("session", "shares", "facets", "session"),
}

func missing(column, table, other, key string) string {
	return fmt.Sprintf("SELECT count(*) FROM %[2]s WHERE NOT EXISTS (SELECT 1 FROM %[3]s o WHERE o.%[4]s = %[2]s.%[1]s)", column, table, other, key)
}

// Broken counts the rows that refer to none, by what is wrong, and looks at the whole file for damage. Nothing
// is where the tables are as they should be.
func (d *DB) Broken(ctx context.Context) (map[string]int, error) {
	told, err := column(ask(ctx, d, "PRAGMA integrity_check(1)"))
	if err == nil && (len(told) != 1 || told[0] != "ok") {
		err = fmt.Errorf("db: %w: %q", ErrCorrupt, told)
	}
	out := map[string]int{}
	for what, query := range references {
		var n int
		if err == nil {
			err = ask(ctx, d, query).into(&n)
		}
		if n > 0 {
			out[what] = n
		}
	}
	return out, err
}
