package db

import (
	"context"
	"time"
)

// isNotPurged is the condition that a row of facets is not purged.
const isNotPurged = `session NOT IN (SELECT id FROM purged)`

// SessionAndSpawned reads the IDs of a session that its agent calls by a name, and of those that it spawned; in order.
func (d *DB) SessionAndSpawned(ctx context.Context, native string) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT id FROM sessions WHERE native_id = ?1
		UNION SELECT id FROM sessions WHERE parent IN (SELECT id FROM sessions WHERE native_id = ?1) ORDER BY id`, native))
}

// OnBranch reads the sessions of a branch that stand behind a commit or edited a file, and that no other one spawned,
// the latest first; those in without are left out.
func (d *DB) OnBranch(ctx context.Context, branch string, without []string, limit int) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT session FROM facets f WHERE kind = ? AND coalesce(branch, (SELECT c.branch FROM checkpoints c WHERE c.id = f.checkpoint)) = ? AND parent IS NULL AND `+isNotPurged+`
		AND (EXISTS (SELECT 1 FROM behind b WHERE b.session = f.session) OR EXISTS (SELECT 1 FROM tool_calls c WHERE c.session = f.session AND `+isEdit+`))
		AND session NOT IN (SELECT value FROM json_each(?)) ORDER BY coalesce(last_turn_at, captured_at) DESC, session LIMIT ?`,
		KindSession, branch, without, limit))
}

// SessionsEditing reads which sessions wrote to some files with their tools, by path; and how many sessions there are.
func (d *DB) SessionsEditing(ctx context.Context, paths []string) (by map[string][]string, sessions int, err error) {
	by, err = readGroups(query(ctx, d, `SELECT p.path, t.session FROM paths p JOIN touches t ON t.path = p.id
		WHERE p.path IN (SELECT value FROM json_each(?)) AND t.session NOT IN (SELECT id FROM purged)
		AND EXISTS (SELECT 1 FROM tool_calls c WHERE c.session = t.session AND c.path = p.path AND `+isEdit+`)
		ORDER BY p.path, t.session`, paths))
	if err == nil {
		err = query(ctx, d, `SELECT coalesce(max(sessions), 0) FROM index_state`).one(&sessions)
	}
	return by, sessions, err
}

// MemoriesNaming reads the memories in whose title or text one of some words stands, the latest first, without those in
// whose place a later one stands.
func (d *DB) MemoriesNaming(ctx context.Context, words []string, limit int) ([]MemoryRow, error) {
	own, err := d.OwnLedgers(ctx)
	if err != nil {
		return nil, err
	}
	return memories(ctx, d, `id NOT IN (SELECT id FROM purged) AND id NOT IN (SELECT o.id`+superseding+`)
		AND EXISTS (SELECT 1 FROM json_each(?2) WHERE instr(coalesce(title, '') || ' ' || content, value) > 0)
		ORDER BY ts DESC, id LIMIT ?3`, own, words, limit)
}

// LastActivity is when the latest session of an author took place, without some; the zero time where there is none.
func (d *DB) LastActivity(ctx context.Context, email string, without []string) (last time.Time, err error) {
	err = query(ctx, d, `SELECT coalesce(last_turn_at, captured_at) FROM facets WHERE kind = ? AND email = ? AND session NOT IN (SELECT value FROM json_each(?))
		ORDER BY coalesce(last_turn_at, captured_at) DESC LIMIT 1`, KindSession, email, without).one(timeColumn{&last})
	return last, err
}

// NewFromOthers reads what others than an author said after a time: sessions that no other one spawned, and memories,
// the latest first.
func (d *DB) NewFromOthers(ctx context.Context, email string, after time.Time, limit int) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT session FROM facets WHERE coalesce(last_turn_at, captured_at) > ? AND coalesce(email, '') <> ? AND parent IS NULL
		AND `+isNotPurged+` ORDER BY coalesce(last_turn_at, captured_at) DESC, session LIMIT ?`, after, email, limit))
}
