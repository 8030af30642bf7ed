package materialize_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestWrote: what a session wrote in a commit ties it to the commit and gives it the file, whoever made the commit; a
// file whose writers are known is nobody else's. A ledger speaks of its own sessions only.
func TestWrote(t *testing.T) {
	w := newWorld(t)
	a, b := chat("writer", 0, "human why", "Edit src/a.go"), chat("reader", 1, "human and", "Edit src/a.go")
	cp := commit("1", alice, "M src/a.go")
	made := entryOf(cp, a, b)
	made.Wrote = []session.Wrote{wrote(a.ID, "1", "src/a.go", 3, 5)}
	w.append(alice, 10, made)
	w.append(alice, 20, session.Entry{Wrote: []session.Wrote{
		wrote(a.ID, "2", "src/z.go", 1, 5),
		wrote(a.ID, "2", "src/y.go", 7, 6),
	}})
	w.append(bob, 30, session.Entry{Wrote: []session.Wrote{wrote(b.ID, "2", "src/z.go", 1, 29)}})
	m := w.materializer()
	harness.Equal(t, "ties", []string{
		`{"s":"claude-code/reader","sha":"1","inferred":false,"tie":"edited","lines":0}`,
		`{"s":"claude-code/writer","sha":"1","inferred":false,"tie":"wrote","lines":1}`,
		`{"s":"claude-code/writer","sha":"2","inferred":false,"tie":"wrote","lines":2}`,
	}, named(a, b, w.index(m, `SELECT session_id AS s, git_sha[1] AS sha, inferred, tie, lines FROM session_commits ORDER BY sha, lines`)))
	harness.Equal(t, "files", []string{
		`{"s":"claude-code/writer","path":"src/a.go"}`, `{"s":"claude-code/writer","path":"src/y.go"}`,
		`{"s":"claude-code/writer","path":"src/z.go"}`,
	}, named(a, b, w.index(m, `SELECT session_id AS s, file_path AS path FROM files_index ORDER BY ALL`)))
	harness.Equal(t, "lines", []string{
		`{"s":"claude-code/writer","sha":"1","path":"src/a.go","lines":"3"}`,
		`{"s":"claude-code/writer","sha":"2","path":"src/y.go","lines":"7"}`,
		`{"s":"claude-code/writer","sha":"2","path":"src/z.go","lines":"1"}`,
	}, named(a, b, w.data(m, `SELECT session_id AS s, git_sha[1] AS sha, path, lines FROM wrote ORDER BY ALL`)))
	harness.Equal(t, "records", []string{`{"n":3}`}, w.data(m, `SELECT count(*) AS n FROM wrote`))
}

// named puts names in the place of IDs.
func named(a, b session.Session, rows []string) []string {
	for i := range rows {
		rows[i] = strings.NewReplacer(a.ID, "claude-code/writer", b.ID, "claude-code/reader").Replace(rows[i])
	}
	return rows
}
