package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// UsageRow is what one request took.
type UsageRow struct {
	session.Usage
	Session    string
	Checkpoint string    // the entry of the ledger that says so first
	Started    time.Time // the session; where no turn stands before the request, it counts then
}

// AppendUsage adds what requests took, whose sessions' turns are there. Of two rows of a request the larger counts
// hold, and what the first one says besides.
func (t *Tx) AppendUsage(ctx context.Context, rows []UsageRow) error {
	return t.insert(ctx, `INSERT INTO usage VALUES (?1, ?2, ?3, coalesce((SELECT ts FROM turns WHERE session = ?1 AND i = ?3), ?4), ?5, ?6, ?7, ?8, ?9, ?10, ?11)
		ON CONFLICT DO UPDATE SET input = max(input, excluded.input), output = max(output, excluded.output), cost = max(cost, excluded.cost),
		cache_read = max(cache_read, excluded.cache_read), cache_write = max(cache_write, excluded.cache_write)`, func(row func(...any)) {
		for _, u := range rows {
			row(u.Session, u.Request, u.Turn, u.Started, u.Checkpoint, u.Model, u.Input, u.Output, u.CacheRead, u.CacheWrite,
				u.Cost)
		}
	})
}

// ErrGrouping is a name by which no counts can be summed up.
var ErrGrouping = errors.New("no such grouping")

// groupings say what requests are summed up by, as an expression of the usage u of a session s.
//
//nolint:gochecknoglobals // a table
var groupings = map[string]string{
	"session":    "s.id",
	"model":      "u.model",
	"agent":      "s.source",
	"author":     "coalesce(s.person, s.email, '')",
	"branch":     "coalesce(s.branch, '')",
	"repository": "''",
	"day":        "date(u.ts / 1000000, 'unixepoch')",
	// The commit at which the request was captured, where the session stands behind it; else the next such commit.
	"commit": fmt.Sprintf(`coalesce((SELECT t.sha FROM ties t WHERE t.session = s.id AND t.checkpoint = u.checkpoint AND t.tie < %[1]d),
		(SELECT t.sha FROM ties t WHERE t.session = s.id AND t.tie < %[1]d AND t.ts >= u.ts AND (t.turn < 0 OR t.turn > u.turn) ORDER BY t.ts, t.sha LIMIT 1), '')`,
		session.TieInferred),
	// The folder of the first file that calls behind the same turn touched.
	"folder": `coalesce((SELECT rtrim(c.path, replace(c.path, '/', '')) FROM tool_calls c WHERE c.session = s.id AND c.turn = u.turn
		AND ` + isInTree + ` ORDER BY c.i LIMIT 1), '')`,
}

// Groupings are the names by which counts can be summed up, sorted.
func Groupings() []string {
	var out []string
	for name := range groupings {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// UsageFilter leaves requests out.
type UsageFilter struct {
	Since, Until  time.Time // Since ≤ t < Until; zero: open
	Email, Source string    // whose session, and of which agent; empty: any
}

// UsageSum are the tokens that some requests of one session to one model took.
type UsageSum struct {
	Key, Model, Session string // Key is that of the grouping; empty for none
	Requests            int
	session.Usage       // the sums; without Request and Turn
}

// Usage sums up what requests took, by a grouping, model and session. Sessions that are purged do not count.
func (d *DB) Usage(ctx context.Context, by string, f UsageFilter) ([]UsageSum, error) {
	key, ok := groupings[by]
	if !ok {
		return nil, fmt.Errorf("db: %w: %q", ErrGrouping, by)
	}
	return readRows(query(ctx, d, `SELECT `+key+` AS k, u.model, s.id, count(*), sum(u.input), sum(u.output), sum(u.cache_read), sum(u.cache_write), sum(u.cost)
		FROM usage u JOIN sessions s ON s.id = u.session WHERE `+f.where("u.ts")+` GROUP BY k, u.model, s.id ORDER BY k, u.model, s.id`, f.values()...),
		func(r *UsageSum) []any {
			return asList(&r.Key, &r.Model, &r.Session, &r.Requests, &r.Input, &r.Output, &r.CacheRead, &r.CacheWrite, &r.Cost)
		})
}

// UsageOf sums up what the requests of one session took.
func (d *DB) UsageOf(ctx context.Context, id string) (u UsageSum, err error) {
	u.Session = id
	err = query(ctx, d, `SELECT count(*), coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0),
		coalesce(sum(cost), 0.0) FROM usage WHERE session = ?`, id).one(&u.Requests, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Cost)
	return u, err
}

// ModelAt says which model answered a session from a moment on.
type ModelAt struct {
	Model string
	From  time.Time
}

// Models reads which models answered sessions, in order, as far as their agents say of each request.
func (d *DB) Models(ctx context.Context, ids []string) (map[string][]ModelAt, error) {
	out := map[string][]ModelAt{}
	err := query(ctx, d, `SELECT session, ts, model FROM usage WHERE model <> '' AND session IN (SELECT value FROM json_each(?))
		ORDER BY session, turn, request`, ids).each(func(rows *Rows) error {
		var id string
		var m ModelAt
		err := rows.Scan(&id, timeColumn{&m.From}, &m.Model)
		if of := out[id]; len(of) == 0 || of[len(of)-1].Model != m.Model {
			out[id] = append(of, m)
		}
		return err
	})
	return out, err
}

// UsageByTurn sums up what the requests of one session took, by turn and model.
func (d *DB) UsageByTurn(ctx context.Context, id string) ([]session.Usage, error) {
	return readRows(query(ctx, d, `SELECT turn, model, sum(input), sum(output), sum(cache_read), sum(cache_write), sum(cost) FROM usage WHERE session = ?
		GROUP BY turn, model ORDER BY turn, model`, id), func(u *session.Usage) []any {
		return asList(&u.Turn, &u.Model, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Cost)
	})
}

// CountWithoutUsage is how many sessions a filter takes, by the time of their last turn, whose agents counted nothing.
func (d *DB) CountWithoutUsage(ctx context.Context, f UsageFilter) (n int, err error) {
	err = query(ctx, d, `SELECT count(*) FROM sessions s WHERE NOT EXISTS (SELECT 1 FROM usage u WHERE u.session = s.id) AND `+f.where("s.last_turn_at"), f.values()...).one(&n)
	return n, err
}

// where is the filter of sessions s, whose time stands in a column; values are its parameters.
func (UsageFilter) where(ts string) string {
	return fmt.Sprintf(`s.id NOT IN (SELECT id FROM purged) AND (?1 = 0 OR %[1]s >= ?1) AND (?2 = 0 OR %[1]s < ?2)
		AND (?3 = '' OR coalesce(s.person, s.email) = ?3) AND (?4 = '' OR s.source = ?4)`, ts)
}

func (f UsageFilter) values() []any {
	micro := func(t time.Time) any {
		if t.IsZero() {
			return 0
		}
		return t
	}
	return []any{micro(f.Since), micro(f.Until), f.Email, f.Source}
}

// WorkRow is how much one session is.
type WorkRow struct {
	ID            string
	Started, Last time.Time // zero: no turn has a time
	Turns, Tools  int
}

// SessionSizes reads how much each session is that a filter takes, by the time of its last turn, and the commits whose
// lines or files are its.
func (d *DB) SessionSizes(ctx context.Context, f UsageFilter) (rows []WorkRow, commits map[string][]string, err error) {
	of := ` FROM sessions s WHERE ` + f.where("coalesce(s.last_turn_at, s.captured_at)")
	rows, err = readRows(query(ctx, d,
		`SELECT s.id, s.started_at, s.last_turn_at, s.next_turn - s.first_turn, s.next_tool - s.first_tool`+of+` ORDER BY s.id`, f.values()...),
		func(r *WorkRow) []any {
			return asList(&r.ID, timeColumn{&r.Started}, timeColumn{&r.Last}, &r.Turns, &r.Tools)
		})
	if err != nil {
		return nil, nil, err
	}
	commits, err = readGroups(query(ctx, d,
		fmt.Sprintf(`SELECT DISTINCT session, sha FROM ties WHERE tie < %d AND session IN (SELECT s.id`+of+`) ORDER BY session, sha`,
			session.TieInferred), f.values()...))
	return rows, commits, err
}
