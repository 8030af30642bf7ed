package db

import (
	"context"
	"fmt"
)

// references are what one table says of another, and what is there once: none is declared, because
// declared keys cost the files forty times their size (docs/architecture.md).
func references(kind string) map[string]string {
	missing := func(column, table, other, key string) string {
		return fmt.Sprintf("SELECT count(*) FROM %s WHERE NOT EXISTS (SELECT 1 FROM %s o WHERE o.%s = %s.%s)", table, other, key, table, column)
	}
	twice := func(table, columns string) string {
		return fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM %s GROUP BY %s HAVING count(*) > 1)", table, columns)
	}
	if kind == "index" {
		return map[string]string{
			"turns_ft without a session":         missing("session_id", "turns_ft", "session_facets", "session_id"),
			"tool_calls_index without a session": missing("session_id", "tool_calls_index", "session_facets", "session_id"),
			"files_index without a session":      missing("session_id", "files_index", "session_facets", "session_id"),
			"session_commits without a session":  missing("session_id", "session_commits", "session_facets", "session_id"),
			"session_facets that stand twice":    twice("session_facets", "session_id"),
			"turns_ft that stand twice":          twice("turns_ft", "session_id, turn_index"),
		}
	}
	return map[string]string{
		"turns without a session":                  missing("session_id", "turns", "sessions", "id"),
		"tool_calls without a session":             missing("session_id", "tool_calls", "sessions", "id"),
		"checkpoint_sessions without a session":    missing("session_id", "checkpoint_sessions", "sessions", "id"),
		"checkpoint_sessions without a checkpoint": missing("checkpoint_id", "checkpoint_sessions", "checkpoints", "id"),
		"files_touched without a checkpoint":       missing("checkpoint_id", "files_touched", "checkpoints", "id"),
		"sessions that stand twice":                twice("sessions", "id"),
		"checkpoints that stand twice":             twice("checkpoints", "id"),
		"turns that stand twice":                   twice("turns", "session_id, turn_index"),
		"tool_calls that stand twice":              twice("tool_calls", "session_id, call_order"),
	}
}

// Broken counts the rows that refer to none, and those that stand twice, by what is wrong. Nothing
// is where the tables are as they should be. kind is that of the schema.
func (d *DB) Broken(ctx context.Context, kind string) (map[string]int, error) {
	out := map[string]int{}
	for what, query := range references(kind) {
		var n int
		if err := d.sql.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return nil, fmt.Errorf("db: check references: %w", classify(err))
		}
		if n > 0 {
			out[what] = n
		}
	}
	return out, nil
}
