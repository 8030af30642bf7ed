package db

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Listed is a session or memory as a list shows it.
type Listed struct {
	ID, Kind, Title, Email, Source string
	At                             time.Time // when it began; of a memory when it was saved
	Turns, Files                   int
}

// ListQuery says which sessions and memories a list has.
type ListQuery struct {
	Skip, Limit int
	Without     []string // IDs that are left out
	Only        []string // nil: all others
}

// List reads sessions and memories, the latest first, and how many there are without Skip and Limit.
func (d *DB) List(ctx context.Context, q ListQuery) (out []Listed, total int, err error) {
	const chosen = `session NOT IN (SELECT id FROM purged) AND session NOT IN (SELECT value FROM json_each(?3))
		AND (?4 OR session IN (SELECT value FROM json_each(?5)))`
	out, err = readRows(query(ctx, d, `SELECT session, kind, title, email, source, coalesce(started_at, last_turn_at, captured_at), coalesce(turns, 0), coalesce(files, 0),
			(SELECT count(*) FROM facets WHERE `+chosen+`)
		FROM facets WHERE `+chosen+` ORDER BY coalesce(last_turn_at, captured_at) DESC, session LIMIT ?1 OFFSET ?2`,
		q.Limit, q.Skip, append([]string{}, q.Without...), q.Only == nil, append([]string{}, q.Only...)),
		func(l *Listed) []any {
			return asList(&l.ID, &l.Kind, textColumn{&l.Title}, textColumn{&l.Email}, textColumn{&l.Source}, timeColumn{&l.At},
				&l.Turns, &l.Files, &total)
		})
	return out, total, err
}

// Touched is a file, and in how many sessions that are not purged it was read, edited or committed.
type Touched struct {
	Path     string
	Sessions int
}

// Touched reads the files of the repository whose path holds a text, those that most sessions touched first, at most
// limit. Tools also read folders: a path is a file where a session edited it, a commit of one changed it, or isFile
// says so, which is called for the others.
func (d *DB) Touched(ctx context.Context, substring string, limit int,
	isFile func(path string) bool,
) (out []Touched, err error) {
	var ids []int64
	var all []Touched
	err = query(ctx, d, `SELECT p.id, p.path, count(*) AS n FROM paths p CROSS JOIN touches t ON t.path = p.id
		WHERE instr(lower(p.path), lower(?)) > 0 AND `+strings.ReplaceAll(isPathInTree, "path", "p.path")+`
			AND t.session NOT IN (SELECT id FROM purged)
		GROUP BY p.id ORDER BY n DESC, p.path`, substring).each(func(rows *Rows) error {
		var id int64
		var t Touched
		err := rows.Scan(&id, &t.Path, &t.Sessions)
		ids, all = append(ids, id), append(all, t)
		return err
	})
	for i := 0; i < len(all) && len(out) < limit && err == nil; i++ {
		changed := false
		if changed, err = d.wasChanged(ctx, ids[i]); changed || err == nil && isFile(all[i].Path) {
			out = append(out, all[i])
		}
	}
	return out, err
}

// wasChanged reports whether a session edited a path, or a commit of one changed it.
func (d *DB) wasChanged(ctx context.Context, path int64) (out bool, err error) {
	err = query(ctx, d, `SELECT EXISTS (SELECT 1 FROM paths p CROSS JOIN touches t ON t.path = p.id CROSS JOIN shares s
			ON s.session = t.session AND s.path = p.path WHERE p.id = ?1)
		OR EXISTS (SELECT 1 FROM paths p CROSS JOIN touches t ON t.path = p.id CROSS JOIN tool_calls c
			ON c.session = t.session AND c.path = p.path AND c.act = ?2 AND NOT c.failed WHERE p.id = ?1)`, path, session.ActEdit).one(&out)
	return out, err
}

// isPathInTree is the condition that a path is one of the repository.
const isPathInTree = `path <> '.' AND substr(path, 1, 1) NOT IN ('/', '~')`

// Pair is two files that commits of the same sessions changed, and in how many sessions.
type Pair struct {
	A, B     string
	Sessions int
}

// ChangedTogether reads which files the commits of the latest 2,000 sessions changed together, with path of those that
// touched it and in pairs with it alone; "" for all. The most frequent pairs come first, and none that stands alone. Of
// a session that changed more than MaxTogether files, those that come first by name count. What is purged does not.
func (d *DB) ChangedTogether(ctx context.Context, path string, limit int) ([]Pair, error) {
	files, err := readGroups(query(ctx, d, `SELECT DISTINCT session, path FROM shares WHERE session IN (
			SELECT session FROM facets WHERE session NOT IN (SELECT id FROM purged) AND (?1 = '' OR session IN (
				SELECT t.session FROM paths p CROSS JOIN touches t ON t.path = p.id WHERE p.path = ?1))
			ORDER BY coalesce(last_turn_at, captured_at) DESC, session LIMIT ?2) ORDER BY session, path`, path, maxNear))
	if err != nil {
		return nil, err
	}
	var out []Pair
	for pair, n := range countPairs(files, func(a, b string) bool { return a == path || path == "" && a < b }) {
		if n > 1 || path != "" {
			out = append(out, Pair{pair[0], pair[1], n})
		}
	}
	slices.SortFunc(out, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(y.Sessions, x.Sessions), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return out[:min(limit, len(out))], nil
}

// countPairs counts in how many sessions two files stand together, of those pairs that counts lets pass. In one session
// twice is once.
func countPairs(files map[string][]string, counts func(a, b string) bool) map[[2]string]int {
	out := map[[2]string]int{}
	for _, all := range files {
		all = all[:min(len(all), MaxTogether)]
		for _, a := range all {
			for _, b := range all {
				if a != b && counts(a, b) {
					out[[2]string{a, b}]++
				}
			}
		}
	}
	return out
}
