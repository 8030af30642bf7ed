package db

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// The kinds of facets.
const (
	KindSession = "session"
	KindMemory  = "memory"
)

// isEdit is the condition that a tool call wrote to its file.
const isEdit = `act = '` + session.ActEdit + `' AND NOT failed`

// isInTree is the condition that a tool call touched a file of the repository.
const isInTree = `path IS NOT NULL AND NOT failed AND path <> '.' AND substr(path, 1, 1) NOT IN ('/', '~')`

// FileRow says that a checkpoint's file is a session's own.
type FileRow struct {
	Checkpoint, Session, Path, Change string
	// what the commit left there; LeftNothing for a deletion, 0 where the ledger does not say
	Blob Key
	Kind session.TieKind // see attribution.Share
}

// AppendShares adds files that sessions' commits changed.
func (t *Tx) AppendShares(ctx context.Context, files []FileRow) error {
	return t.insert(ctx, insertInto("shares", 6), func(row func(...any)) {
		for _, f := range files {
			row(f.Checkpoint, f.Session, f.Path, f.Change, int64(f.Blob), int(f.Kind))
		}
	})
}

// AppendTies ties sessions to the code commits of checkpoints.
func (t *Tx) AppendTies(ctx context.Context, ties []attribution.Tie) error {
	return writeRows(ctx, t, "INSERT INTO ties", ties, tieColumns)
}

// Touch says that a path is one that a session's tools named or that its commits changed.
type Touch struct{ Path, Session string }

// AddTouches keeps which sessions touched which path, each path once by name: two million calls
// name ten thousand of them, and a pattern is matched with names.
func (t *Tx) AddTouches(ctx context.Context, touches []Touch) error {
	paths := map[string]bool{}
	for _, touch := range touches {
		paths[touch.Path] = true
	}
	return cmp.Or(
		t.insert(ctx, "INSERT INTO paths (path) VALUES (?) ON CONFLICT DO NOTHING", func(row func(...any)) {
			for _, path := range slices.Sorted(maps.Keys(paths)) {
				row(path)
			}
		}),
		t.insert(ctx, "INSERT INTO touches SELECT id, ? FROM paths WHERE path = ? ON CONFLICT DO NOTHING",
			func(row func(...any)) {
				for _, touch := range touches {
					row(touch.Session, touch.Path)
				}
			}))
}

// UncommittedPaths reads the paths that the tools of sessions wrote to, which no commit took to which they are tied.
// The value is false of an import's edit: commits may have taken that before.
func (t *Tx) UncommittedPaths(ctx context.Context, ids []string) (map[string]map[string]bool, error) {
	out := map[string]map[string]bool{}
	err := query(ctx, t, `SELECT session, path, waits FROM pending WHERE session IN (SELECT value FROM json_each(?))`,
		ids).each(func(rows *Rows) error {
		var id, path string
		var waits bool
		err := rows.Scan(&id, &path, &waits)
		if out[id] == nil {
			out[id] = map[string]bool{}
		}
		out[id][path] = waits
		return err
	})
	return out, err
}

// ReplaceUncommittedPaths writes what UncommittedPaths reads of some sessions.
func (t *Tx) ReplaceUncommittedPaths(ctx context.Context, paths map[string]map[string]bool) error {
	ids := slices.Sorted(maps.Keys(paths))
	return cmp.Or(
		t.Exec(ctx, `DELETE FROM pending WHERE session IN (SELECT value FROM json_each(?))`, asJSON(ids)),
		t.insert(ctx, insertInto("pending", 3), func(row func(...any)) {
			for _, id := range ids {
				for _, path := range slices.Sorted(maps.Keys(paths[id])) {
					row(id, path, paths[id][path])
				}
			}
		}))
}

// How many files and commits the facets name; the rest is counted. LeftFiles is of how many files they
// say what the session's commits left there, those that changed last.
const (
	ShownFiles   = 5
	ShownCommits = 5
	LeftFiles    = 50
)

// ReplaceFacets writes what recall filters sessions by and shows of them, from their rows and what the tables hold.
func (t *Tx) ReplaceFacets(ctx context.Context, rows []SessionRow) error {
	all := make(map[string]*facts, len(rows))
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i], all[r.ID] = r.ID, &facts{files: map[string]int{}, left: map[string]leftAt{}, commits: map[string]time.Time{}}
	}
	if err := t.readFacts(ctx, ids, all); err != nil {
		return err
	}
	out := make([]facetRow, len(rows))
	for i, r := range rows {
		f := all[r.ID]
		out[i] = facetRow{sha: f.last.SHA, last: r.LastTurnAt, Facet: Facet{
			ID: r.ID, Kind: KindSession, Email: r.Email, Branch: r.Branch, ActorType: r.ActorType, AgentID: r.AgentID,
			Title: r.Title, Source: r.Source, Facts: r.Facts, Parent: r.Parent, CapturedAt: r.CapturedAt, Started: r.StartedAt,
			Turns: r.NextTurn - r.FirstTurn, Tools: f.tools, Files: len(f.files), Checkpoint: f.last.Checkpoint,
			Shown: f.firstFiles(), Commits: f.latestCommits(),
		}}
		out[i].paths, out[i].blobs = f.lastLeftBlobs()
	}
	return writeRows(ctx, t, "INSERT OR REPLACE INTO facets", out, (*facetRow).columns)
}

// facts are what the tables hold of one session.
type facts struct {
	tools   int
	files   map[string]int       // its files: the first call that wrote to it, or afterAll
	last    attribution.Tie      // its latest
	commits map[string]time.Time // by OID: the latest tie
	left    map[string]leftAt    // what its commits left in its files
}

// afterAll is of a file that no call wrote to.
const afterAll = 1<<31 - 1

type leftAt struct {
	blob       int64
	ts         time.Time
	checkpoint string
}

// readFacts reads the calls, files and ties of sessions.
func (t *Tx) readFacts(ctx context.Context, ids []string, all map[string]*facts) error {
	tools, err := readMap[string, int](query(ctx, t,
		`SELECT session, count(*) FROM tool_calls WHERE session IN (SELECT value FROM json_each(?)) GROUP BY session`, ids))
	if err != nil {
		return err
	}
	for id, n := range tools {
		all[id].tools = n
	}
	err = query(ctx, t, `SELECT session, path, min(i) FROM tool_calls WHERE path IS NOT NULL AND `+isEdit+`
		AND session IN (SELECT value FROM json_each(?)) GROUP BY session, path`, ids).each(func(rows *Rows) error {
		var id, path string
		var i int
		if err := rows.Scan(&id, &path, &i); err != nil {
			return err
		}
		all[id].files[path] = i
		return nil
	})
	if err != nil {
		return err
	}
	return t.readTies(ctx, ids, all)
}

// readTies reads the ties of sessions, and the files that are theirs at them.
func (t *Tx) readTies(ctx context.Context, ids []string, all map[string]*facts) error {
	ties, err := queryTies(ctx, t, "ties", `session IN (SELECT value FROM json_each(?))`, ids)
	if err != nil {
		return err
	}
	type at struct{ session, checkpoint string }
	when := map[at]time.Time{}
	for _, c := range ties {
		f := all[c.Session]
		when[at{c.Session, c.Checkpoint}] = c.TS
		if cmp.Or(c.TS.Compare(f.last.TS), cmp.Compare(c.Checkpoint, f.last.Checkpoint)) > 0 {
			f.last = c
		}
		if c.SHA != session.ZeroSHA && c.Kind != session.TieTalked && !c.TS.Before(f.commits[c.SHA]) {
			f.commits[c.SHA] = c.TS
		}
	}
	return query(ctx, t, `SELECT session, checkpoint, path, blob FROM shares WHERE session IN (SELECT value FROM json_each(?))`, ids).each(func(rows *Rows) error {
		var id, path string
		var l leftAt
		if err := rows.Scan(&id, &l.checkpoint, &path, &l.blob); err != nil {
			return err
		}
		f := all[id]
		if _, had := f.files[path]; !had {
			f.files[path] = afterAll
		}
		ts, ok := when[at{id, l.checkpoint}]
		was, had := f.left[path]
		if l.ts = ts; ok && (!had || cmp.Or(l.ts.Compare(was.ts), cmp.Compare(l.checkpoint, was.checkpoint)) > 0) {
			f.left[path] = l
		}
		return nil
	})
}

// firstFiles are the first files that a session changed: by its tools in order, then others of its commits.
func (f *facts) firstFiles() []string {
	return firstKeys(f.files, ShownFiles, func(a, b string) int { return cmp.Compare(f.files[a], f.files[b]) })
}

// latestCommits are the OIDs of the latest commits.
func (f *facts) latestCommits() []string {
	return firstKeys(f.commits, ShownCommits, func(a, b string) int { return f.commits[b].Compare(f.commits[a]) })
}

// lastLeftBlobs is what the commits left in the files that changed last.
func (f *facts) lastLeftBlobs() (paths []string, blobs []int64) {
	paths, blobs = firstKeys(f.left, LeftFiles, func(a, b string) int { return f.left[b].ts.Compare(f.left[a].ts) }),
		[]int64{}
	for _, p := range paths {
		blobs = append(blobs, f.left[p].blob)
	}
	return paths, blobs
}

// firstKeys are the first keys of a map in an order, and among equals in that of the alphabet; never nil.
func firstKeys[T any](of map[string]T, most int, compare func(a, b string) int) []string {
	keys := slices.AppendSeq([]string{}, maps.Keys(of))
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(compare(a, b), cmp.Compare(a, b)) })
	return keys[:min(most, len(keys))]
}

// ReplaceIndexState writes how large the index is, without what is purged.
func (t *Tx) ReplaceIndexState(ctx context.Context, now time.Time) error {
	return cmp.Or(t.Exec(ctx, `DELETE FROM index_state`), t.Exec(ctx, `INSERT INTO index_state SELECT coalesce(sum(turns), 0), count(*), ? FROM facets
		WHERE kind = ? AND session NOT IN (SELECT id FROM purged)`, now, KindSession))
}
