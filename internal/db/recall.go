package db

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Facet is what recall shows of a session or memory.
type Facet struct {
	ID, Kind                          string // KindSession or KindMemory
	Email, Branch, ActorType, AgentID string
	Title, Source, Parent             string
	session.Facts
	CapturedAt          time.Time
	Started             time.Time // its first turn; zero where that is not known, and of a memory
	Latest              time.Time // its last turn: what the latest come first by
	Turns, Tools, Files int
	Checkpoint          string   // the latest; "" for none
	Shown               []string // the first files that it changed, at most ShownFiles
	Commits             []string // OIDs of code commits, the latest first, at most ShownCommits
	Left                []Left   // what its commits left in its files, at most LeftFiles
}

// facetRow is a row of the table facets.
type facetRow struct {
	Facet
	sha   string    // of the code commit of Checkpoint
	last  time.Time // the last turn
	paths []string  // Left in two lists
	blobs []int64
}

func (f *facetRow) columns() []any {
	return withFacts(&f.Facts, &f.ID, textColumn{&f.Email}, textColumn{&f.Branch}, textColumn{&f.ActorType},
		textColumn{&f.AgentID}, timeColumn{&f.CapturedAt}, &f.Turns, &f.Tools, &f.Files,
		textColumn{&f.Checkpoint}, textColumn{&f.sha}, textColumn{&f.Title}, &f.Source, textColumn{&f.Parent},
		timeColumn{&f.Started}, timeColumn{&f.last},
		listColumn[string]{&f.Shown}, listColumn[string]{&f.Commits}, &f.Kind, listColumn[string]{&f.paths},
		listColumn[int64]{&f.blobs})
}

// Filter says which sessions and memories count. Empty fields let all pass that are not purged.
type Filter struct {
	Paths   []Paths              // a session touched one of each: its tools named it, or its commits changed it
	Commits []attribution.Commit // code commits, also by their beginnings: any of them
	Authors []string             // e-mail addresses, in lower case; nil: all
	Actor   string
	Agent   string   // a session's source
	Kind    string   // KindSession or KindMemory; "" for both
	IDs     []string // nothing but these; nil: all
	Title   string   // a part of the title, in any case
	Purged  Purged

	Period // of a turn, or of a memory
}

// Period is Since ≤ t < Until; a zero time leaves that side open.
type Period struct{ Since, Until time.Time }

// bounds are both, the open ones by times before and behind whatever is stored.
func (p Period) bounds() (since, until time.Time) {
	return cmp.Or(p.Since, time.UnixMicro(1)), cmp.Or(p.Until, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
}

// Paths are paths of the repository.
type Paths struct {
	Match  string   // RE2, unanchored
	Except string   // RE2, unanchored, of those that do not count; "" for none
	Names  []string // what counts besides
}

// Matcher reports whether Match and Except let a path pass.
func (p Paths) Matcher() (func(path string) bool, error) {
	match, err := regexp.Compile(p.Match)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	if p.Except == "" {
		return match.MatchString, nil
	}
	except, err := regexp.Compile(p.Except)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	return func(path string) bool { return match.MatchString(path) && !except.MatchString(path) }, nil
}

// Purged says what a filter does with what is purged.
type Purged int

// Without leaves out what is purged; With does not; Only leaves out the rest.
const (
	Without Purged = iota
	With
	Only
)

// where is the filter as a condition on facets, with its arguments.
func (d *DB) where(ctx context.Context, f Filter) (string, []any, error) {
	conds, args := []string{"true"}, []any{}
	add := func(cond string, values ...any) {
		conds, args = append(conds, cond), append(args, values...)
	}
	for _, p := range f.Paths {
		names, err := d.matchingPaths(ctx, p)
		if err != nil {
			return "", nil, err
		}
		add(`session IN (SELECT session FROM touches WHERE path IN (
			SELECT value FROM json_each(?) UNION ALL SELECT id FROM paths WHERE path IN (SELECT value FROM json_each(?))))`, slices.Collect(maps.Keys(names)), p.Names)
	}
	if f.Commits != nil {
		cond, values := tiedToAny(f.Commits)
		add(cond, values...)
	}
	if f.Authors != nil {
		add("lower(coalesce(person, email)) IN (SELECT value FROM json_each(?))", f.Authors)
	}
	if f.Actor != "" {
		add("actor_type = ?", f.Actor)
	}
	if f.Agent != "" {
		add("source = ? AND kind = ?", f.Agent, KindSession) // a memory's source may be anything
	}
	if f.Kind != "" {
		add("kind = ?", f.Kind)
	}
	if f.IDs != nil {
		add("session IN (SELECT value FROM json_each(?))", f.IDs)
	}
	if f.Period != (Period{}) {
		since, until := f.bounds()
		add(overlapsPeriod, since, until, until, since, until, since, until)
	}
	switch f.Purged {
	case Without:
		add("session NOT IN (SELECT id FROM purged)")
	case Only:
		add("session IN (SELECT id FROM purged)")
	case With:
	}
	if f.Purged != Without && len(d.barred) > 0 {
		add("session NOT IN (SELECT value FROM json_each(?))", d.barred)
	}
	return strings.Join(conds, " AND "), args, nil
}

// overlapsPeriod is the condition that a turn of a session lies in a period, or that a memory was saved in it. The
// turns of a session are looked at only where it went on behind the period.
const overlapsPeriod = `CASE WHEN started_at IS NULL THEN coalesce(last_turn_at, captured_at) >= ? AND coalesce(last_turn_at, captured_at) < ?
	ELSE started_at < ? AND last_turn_at >= ? AND (last_turn_at < ?
		OR EXISTS (SELECT 1 FROM turns t WHERE t.session = facets.session AND t.ts >= ? AND t.ts < ?)) END`

// FirstTurns reads of sessions the index of the first turn from a time on, one of a human where there is one.
func (d *DB) FirstTurns(ctx context.Context, ids []string, since time.Time) (map[string]int, error) {
	return readMap[string, int](query(ctx, d, `SELECT session, coalesce(min(iif(role = ?3, i, NULL)), min(i)) FROM turns
		WHERE session IN (SELECT value FROM json_each(?1)) AND ts >= ?2 GROUP BY session`, ids, since, session.RoleHuman))
}

// matchingPaths reads the paths that a pattern matches, by their numbers in the tables.
func (d *DB) matchingPaths(ctx context.Context, p Paths) (map[int64]string, error) {
	matches, err := p.Matcher()
	if err != nil {
		return nil, err
	}
	out := map[int64]string{}
	err = query(ctx, d, `SELECT id, path FROM paths WHERE instr(path, ?) > 0`,
		longestLiteral(p.Match)).each(func(rows *Rows) error {
		var id int64
		var path string
		err := rows.Scan(&id, &path)
		if matches(path) {
			out[id] = path
		}
		return err
	})
	return out, err
}

// longestLiteral is the longest text that whatever a pattern matches holds; "" where there is none. To look for it in a
// hundred thousand paths takes a tenth of the time that it takes to bring them here.
func longestLiteral(pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	longest := ""
	for again := []*syntax.Regexp{tree}; len(again) > 0; again = again[1:] {
		switch re := again[0]; re.Op {
		case syntax.OpLiteral:
			if text := string(re.Rune); len(text) > len(longest) && re.Flags&syntax.FoldCase == 0 && utf8.ValidString(text) {
				longest = text
			}
		case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
			again = append(again, re.Sub...)
		default: // what may be left out, or may be something else
		}
	}
	return longest
}

// tiedToAny is the condition that a ledger ties a session to one of some code commits.
func tiedToAny(commits []attribution.Commit) (cond string, args []any) {
	var starts []string
	var asked []attribution.Commit
	for _, c := range commits {
		if isWholeOID(c.SHA) {
			asked = append(asked, c)
		} else {
			starts = append(starts, c.SHA)
		}
	}
	return `session IN (
		SELECT t.session FROM (SELECT value ->> 'SHA' AS sha, value ->> 'Email' AS email FROM json_each(?)) a CROSS JOIN behind t ON t.sha = a.sha AND a.email IN ('', t.email)
		UNION SELECT t.session FROM (SELECT value AS start, value || 'g' AS stop FROM json_each(?)) s CROSS JOIN behind t ON t.sha >= start AND t.sha < stop)`,
		[]any{asked, starts}
}

// MatchingIDs reads the IDs of what passes a filter, the latest first.
func (d *DB) MatchingIDs(ctx context.Context, f Filter) ([]string, error) {
	cond, args, err := d.where(ctx, f)
	if err != nil {
		return nil, err
	}
	part := strings.ToLower(f.Title)
	var out []string
	err = query(ctx, d, `SELECT session, title FROM facets WHERE `+cond+`
		ORDER BY coalesce(last_turn_at, captured_at) DESC, session`, args...).each(func(rows *Rows) error {
		var id, title string
		err := rows.Scan(&id, textColumn{&title})
		if strings.Contains(strings.ToLower(title), part) {
			out = append(out, id)
		}
		return err
	})
	return out, err
}

// Facets reads the facets of sessions, by ID.
func (d *DB) Facets(ctx context.Context, ids []string) (map[string]Facet, error) {
	rows, err := readRows(query(ctx, d, `SELECT * FROM facets WHERE session IN (SELECT value FROM json_each(?))`, ids),
		(*facetRow).columns)
	out := make(map[string]Facet, len(rows))
	for _, r := range rows {
		r.Latest, r.Left = cmp.Or(r.last, r.CapturedAt), zipLeft(r.paths, r.blobs)
		out[r.ID] = r.Facet
	}
	return out, err
}

// Titles reads the titles of sessions and memories, by ID.
func (d *DB) Titles(ctx context.Context, ids []string) (map[string]string, error) {
	return readMap[string, string](query(ctx, d,
		`SELECT session, coalesce(title, '') FROM facets WHERE session IN (SELECT value FROM json_each(?))`, ids))
}

// AutomatedTitles reads the titles of all sessions that no person started, by ID.
func (d *DB) AutomatedTitles(ctx context.Context) (map[string]string, error) {
	return readMap[string, string](query(ctx, d,
		`SELECT session, coalesce(title, '') FROM facets WHERE actor_type = 'agent' AND kind = 'session'`))
}

// Calls is what a session's tool calls named, in the order in which it came up.
type Calls struct{ Paths, Commands []string }

// CallTexts reads what the tool calls of sessions named, each once, by session.
func (d *DB) CallTexts(ctx context.Context, ids []string) (map[string]Calls, error) {
	out, had := map[string]Calls{}, map[[3]string]bool{}
	err := query(ctx, d, `SELECT session, iif(failed, NULL, path), cmd FROM tool_calls
		WHERE session IN (SELECT value FROM json_each(?)) ORDER BY session, i`, ids).each(func(rows *Rows) error {
		var id, path, cmd string
		if err := rows.Scan(&id, textColumn{&path}, textColumn{&cmd}); err != nil {
			return err
		}
		c := out[id]
		if key := [3]string{id, path}; path != "" && !had[key] {
			had[key], c.Paths = true, append(c.Paths, path)
		}
		if key := [3]string{id, "", cmd}; cmd != "" && !had[key] {
			had[key], c.Commands = true, append(c.Commands, cmd)
		}
		out[id] = c
		return nil
	})
	return out, err
}

// MaxTogether is how many files of one session count as touched together, the first that
// its tools named: 50 files make 1,225 pairs, and a session that greps through a whole
// tree would make millions.
const MaxTogether = 50

// maxNear is in how many sessions, the latest, files are looked for that were touched together with those of a session.
const maxNear = 2000

// FilesTouchedWith reads the files that other sessions touched together with those of a session,
// the most frequent first, and in how many sessions that was with one of them, purged ones left out.
func (d *DB) FilesTouchedWith(ctx context.Context, id string, limit int) ([]Touched, error) {
	own, err := d.touchedPaths(ctx, []string{id})
	if err != nil || len(own[id]) == 0 {
		return nil, err
	}
	ids, err := readTexts(query(ctx, d, `SELECT DISTINCT t.session FROM paths p CROSS JOIN touches t ON t.path = p.id
		WHERE p.path IN (SELECT value FROM json_each(?)) AND t.session NOT IN (SELECT id FROM purged) ORDER BY t.session DESC LIMIT ?`, own[id], maxNear))
	if err != nil {
		return nil, err
	}
	near, err := d.touchedPaths(ctx, ids)
	if err != nil {
		return nil, err
	}
	isOwn := map[string]bool{}
	for _, p := range own[id] {
		isOwn[p] = true
	}
	most := map[string]int{} // by file: with the one of its own with which it stands most often
	for pair, n := range countPairs(near, func(a, b string) bool { return isOwn[a] && !isOwn[b] }) {
		most[pair[1]] = max(most[pair[1]], n)
	}
	var out []Touched
	for _, p := range firstKeys(most, limit, func(a, b string) int { return most[b] - most[a] }) {
		out = append(out, Touched{p, most[p]})
	}
	return out, nil
}

// touchedPaths reads the paths of the repository that the tools of sessions touched, each once, in the order of the
// first call.
func (d *DB) touchedPaths(ctx context.Context, ids []string) (map[string][]string, error) {
	return readGroups(query(ctx, d, `SELECT session, path FROM (
			SELECT session, path, min(i) AS n FROM tool_calls WHERE `+isInTree+` AND session IN (SELECT value FROM json_each(?)) GROUP BY session, path)
		ORDER BY session, n`, ids))
}
