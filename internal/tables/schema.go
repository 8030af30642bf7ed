package tables

import (
	"database/sql/driver"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"

	"github.com/git-rekal/git-rekal/internal/materialize"

	"github.com/git-rekal/git-rekal/internal/db"
)

// schema is what a database file must hold.
type schema struct {
	ddl    string // statements that create the tables, separated by semicolons
	tables []table
	then   string // statements that fill what is derived
}

// table is how one is filled: a query of the index gives its columns in their order, or what read makes of a row.
type table struct {
	name, query string
	read        func(rows *db.Rows) ([]driver.Value, error)
}

// version is the version of both database files. Any change of a table below raises it: then the files are made anew.
func version() int { return 28 + len(session.AllFacts()) }

func schemaOf(kind materialize.SQLFile) schema {
	if kind == materialize.IndexDB {
		return schema{ddl: indexDDL(), tables: indexTables, then: together}
	}
	return schema{ddl: dataDDL(), tables: dataTables}
}

// The tables of the schema page, documented columns first. Its keys are not declared: see Broken.
func dataDDL() string {
	return `
CREATE TABLE sessions (
    id VARCHAR NOT NULL, parent_session_id VARCHAR, session_hash VARCHAR NOT NULL,
    captured_at TIMESTAMP NOT NULL, actor_type VARCHAR NOT NULL DEFAULT 'human', agent_id VARCHAR,
    user_email VARCHAR, branch VARCHAR,
    source VARCHAR NOT NULL, native_id VARCHAR NOT NULL, forked_from VARCHAR, title VARCHAR,
    started_at TIMESTAMP, last_turn_at TIMESTAMP,
    first_turn INTEGER NOT NULL, next_turn INTEGER NOT NULL,
    first_tool INTEGER NOT NULL, next_tool INTEGER NOT NULL, last_entry VARCHAR NOT NULL, ` + session.FactList("% VARCHAR") + `);
CREATE TABLE turns (
    id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, turn_index INTEGER NOT NULL,
    role VARCHAR NOT NULL, content VARCHAR NOT NULL USING COMPRESSION zstd, ts TIMESTAMP);
CREATE TABLE tool_calls (
    id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, call_order INTEGER NOT NULL,
    tool VARCHAR NOT NULL, path VARCHAR, cmd_prefix VARCHAR, turn_index INTEGER NOT NULL,
    failed BOOLEAN NOT NULL, act VARCHAR, program VARCHAR);
CREATE TABLE usage (
    session_id VARCHAR NOT NULL, request VARCHAR NOT NULL, turn_index INTEGER NOT NULL, ts TIMESTAMP, checkpoint_id VARCHAR NOT NULL, model VARCHAR NOT NULL,
    input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL, cache_read_tokens BIGINT NOT NULL, cache_write_tokens BIGINT NOT NULL,
    cost DOUBLE NOT NULL);
CREATE TABLE checkpoints (
    id VARCHAR NOT NULL, git_sha VARCHAR NOT NULL, git_branch VARCHAR NOT NULL,
    user_email VARCHAR NOT NULL, ts TIMESTAMP NOT NULL, actor_type VARCHAR NOT NULL DEFAULT 'human',
    agent_id VARCHAR, patch_id VARCHAR, via VARCHAR);
CREATE TABLE files_touched (
    id VARCHAR NOT NULL, checkpoint_id VARCHAR NOT NULL, file_path VARCHAR NOT NULL,
    change_type VARCHAR NOT NULL, old_path VARCHAR, blob VARCHAR);
CREATE TABLE checkpoint_sessions (
    checkpoint_id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, inferred BOOLEAN NOT NULL, tie VARCHAR);
CREATE TABLE memories (
    id VARCHAR NOT NULL, user_email VARCHAR NOT NULL, title VARCHAR, content VARCHAR NOT NULL,
    source VARCHAR, ts TIMESTAMP NOT NULL, actor_type VARCHAR NOT NULL, entry VARCHAR NOT NULL,
    supersedes VARCHAR, rejects VARCHAR);
CREATE TABLE marks (
    id VARCHAR NOT NULL, kind VARCHAR NOT NULL, n INTEGER NOT NULL, ts TIMESTAMP, user_email VARCHAR NOT NULL);
CREATE TABLE rewrites (
    old_sha VARCHAR NOT NULL, new_sha VARCHAR NOT NULL, ts TIMESTAMP, user_email VARCHAR NOT NULL,
    entry VARCHAR NOT NULL, n INTEGER NOT NULL);
CREATE TABLE wrote (
    git_sha VARCHAR NOT NULL, blob VARCHAR, session_id VARCHAR NOT NULL, path VARCHAR NOT NULL, lines VARCHAR NOT NULL,
    gone INTEGER NOT NULL, ts TIMESTAMP NOT NULL, user_email VARCHAR NOT NULL);
CREATE TABLE purged (id VARCHAR NOT NULL);
CREATE TABLE ledger_cursor (ref VARCHAR NOT NULL, oid VARCHAR NOT NULL);
`
}

func facetsDDL() string {
	return `CREATE TABLE session_facets (
    session_id VARCHAR NOT NULL, user_email VARCHAR, git_branch VARCHAR, actor_type VARCHAR,
    agent_id VARCHAR, captured_at TIMESTAMP, turn_count INTEGER, tool_call_count INTEGER,
    file_count INTEGER, checkpoint_id VARCHAR, git_sha VARCHAR,
    title VARCHAR, source VARCHAR, parent_session_id VARCHAR, started_at TIMESTAMP,
    last_turn_at TIMESTAMP, files VARCHAR[], commits VARCHAR[], kind VARCHAR NOT NULL DEFAULT 'session',
    left_paths VARCHAR[], left_blobs BIGINT[], ` + session.FactList("% VARCHAR") + `);
`
}

func indexDDL() string {
	return `
CREATE TABLE turns_ft (
    id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, turn_index INTEGER NOT NULL,
    role VARCHAR NOT NULL, content VARCHAR NOT NULL USING COMPRESSION zstd, ts VARCHAR);
CREATE TABLE tool_calls_index (
    id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, call_order INTEGER NOT NULL,
    tool VARCHAR NOT NULL, path VARCHAR, cmd_prefix VARCHAR, act VARCHAR, program VARCHAR);
CREATE TABLE files_index (
    checkpoint_id VARCHAR NOT NULL, session_id VARCHAR NOT NULL,
    file_path VARCHAR NOT NULL, change_type VARCHAR NOT NULL, blob BIGINT NOT NULL,
    inferred BOOLEAN NOT NULL);
` + facetsDDL() + `CREATE TABLE session_embeddings (
    session_id VARCHAR NOT NULL, embedding FLOAT[], model VARCHAR NOT NULL,
    generated_at TIMESTAMP NOT NULL);
CREATE TABLE file_cooccurrence (
    file_a VARCHAR NOT NULL, file_b VARCHAR NOT NULL, session_count INTEGER NOT NULL);
CREATE TABLE index_state (
    session_count INTEGER, turn_count INTEGER, embedding_dim INTEGER, last_indexed_at TIMESTAMP);
CREATE TABLE session_commits (
    session_id VARCHAR NOT NULL, checkpoint_id VARCHAR NOT NULL, git_sha VARCHAR NOT NULL,
    user_email VARCHAR NOT NULL, inferred BOOLEAN NOT NULL, ts TIMESTAMP NOT NULL, turn INTEGER NOT NULL, lines INTEGER NOT NULL,
    tie VARCHAR NOT NULL);
CREATE TABLE rewrites_index (
    user_email VARCHAR NOT NULL, old_sha VARCHAR NOT NULL, new_sha VARCHAR NOT NULL,
    root_sha VARCHAR NOT NULL, last_sha VARCHAR NOT NULL);
CREATE TABLE purged (id VARCHAR NOT NULL);
CREATE TABLE ledger_cursor (ref VARCHAR NOT NULL, oid VARCHAR NOT NULL);
`
}

// together counts for each two files in how many sessions they stand among the first 50 that tools touched
// (db.MaxTogether). A path below which another one is known is a folder. Numbers stand for sessions and paths
// meanwhile: with the texts, 256 MB were too few for 100,000 sessions.
const together = `
INSERT INTO file_cooccurrence WITH parts AS (
    SELECT string_split(path, '/') AS p FROM tool_calls_index WHERE path IS NOT NULL
    UNION SELECT string_split(file_path, '/') FROM files_index),
folders AS (SELECT DISTINCT array_to_string(p[1:i], '/') AS path FROM (SELECT p, unnest(range(1, len(p))) AS i FROM parts)),
f AS (
    SELECT session_id, path FROM tool_calls_index
    WHERE path IS NOT NULL AND path <> '.' AND left(path, 1) NOT IN ('/', '~') AND session_id NOT IN (SELECT id FROM purged)
        AND path NOT IN (SELECT path FROM folders)
    GROUP BY session_id, path QUALIFY row_number() OVER (PARTITION BY session_id ORDER BY min(call_order)) <= 50),
numbered AS (SELECT dense_rank() OVER (ORDER BY session_id) AS s, dense_rank() OVER (ORDER BY path) AS p, path FROM f),
pairs AS (SELECT a.p AS a, b.p AS b, count(*) AS n FROM numbered a JOIN numbered b ON a.s = b.s AND a.p < b.p GROUP BY a.p, b.p),
paths AS (SELECT DISTINCT p, path FROM numbered)
SELECT a.path, b.path, n FROM pairs JOIN paths a ON a.p = pairs.a JOIN paths b ON b.p = pairs.b;
UPDATE index_state SET embedding_dim = (SELECT coalesce(max(len(embedding)), 0) FROM session_embeddings)`

// factKinds are the kinds of columns of facts.
func factKinds() string { return strings.Repeat("t", len(session.AllFacts())) }

//nolint:gochecknoglobals // tables
var (
	dataTables = []table{
		{"sessions", `SELECT id, parent, hash, captured_at, actor_type, agent_id, email, branch, source, native_id, forked_from, title,
			started_at, last_turn_at, first_turn, next_turn, first_tool, next_tool, last_entry, ` + session.FactList("%") + ` FROM sessions ORDER BY id`, columnReader("tttMtttttttt" + "MMiiiit" + factKinds())},
		{"turns", `SELECT ts, session, i, role, content, ts, i FROM turns WHERE session IN (SELECT id FROM sessions) ORDER BY rowid`, columnsWithID("turn", "itPM")},
		{"tool_calls", `SELECT ts, session, i, tool, path, cmd, turn, failed, act, cmd, i FROM tool_calls ORDER BY session, i`, columnsWithID("tool", "itttibtC")},
		{"usage", `SELECT session, request, turn, ts, checkpoint, model, input, output, cache_read, cache_write, cost FROM usage ORDER BY session, turn, request`, columnReader("ttiMttIIIIF")},
		{"checkpoints", `SELECT id, sha, branch, email, ts, actor_type, agent_id, patch_id, via FROM checkpoints ORDER BY ts, id`, columnReader("ttttMtttt")},
		{"files_touched", `SELECT c.ts, c.id, f.path, f.change, f.old_path, f.blob, f.i FROM checkpoint_files f JOIN checkpoints c ON c.id = f.checkpoint ORDER BY c.ts, c.id, f.i`, columnsWithID("file", "tttt")},
		{"checkpoint_sessions", `SELECT checkpoint, session, coalesce(tie, 9) >= ` + db.WeakTie + `, tie FROM (SELECT l.*, (SELECT min(tie) FROM ties t
			WHERE t.session = l.session AND t.sha = c.sha) AS tie FROM checkpoint_sessions l JOIN checkpoints c ON c.id = l.checkpoint) ORDER BY checkpoint, n`, columnReader("ttbT")},
		{
			"memories", `SELECT id, email, title, content, source, ts, actor_type, entry, supersedes, rejects FROM memories ORDER BY id`,
			columnReader("tttttMtttt"),
		},
		{"marks", `SELECT id, kind, n, ts, email FROM marks ORDER BY rowid`, columnReader("ttiMt")},
		{"rewrites", `SELECT old, new, ts, email, entry, n FROM rewrites ORDER BY rowid`, columnReader("ttMtti")},
		{
			"wrote", `SELECT sha, blob, session, path, lines, gone, ts, email FROM wrote ORDER BY rowid`,
			columnReader("tttttiMt"),
		},
		{"purged", `SELECT id FROM purged ORDER BY id`, columnReader("t")},
		{"ledger_cursor", `SELECT ref, oid FROM cursor ORDER BY ref`, columnReader("tt")},
	}
	indexTables = []table{
		{"turns_ft", `SELECT ts, session, i, role, content, ts, i FROM turns ORDER BY rowid`, columnsWithID("turn", "itPR")},
		{"tool_calls_index", `SELECT ts, session, i, tool, iif(failed, NULL, path), cmd, act, cmd, i FROM tool_calls ORDER BY session, i`, columnsWithID("tool", "ittttC")},
		{
			"files_index", `SELECT checkpoint, session, path, change, blob, 0 FROM shares ORDER BY rowid`,
			columnReader("ttttIb"),
		},
		{"session_facets", `SELECT session, email, branch, actor_type, agent_id, captured_at, turns, tools, files, checkpoint, sha, title, source, parent,
			started_at, last_turn_at, shown, commits, kind, left_paths, left_blobs, ` + session.FactList("%") + ` FROM facets ORDER BY session`, columnReader("tttttMiiittttt" + "MMLLtLK" + factKinds())},
		{
			"session_embeddings", `SELECT session, embedding, model, generated_at FROM embeddings ORDER BY session, model`,
			columnReader("tVtM"),
		},
		{"index_state", `SELECT sessions, turns, 0, indexed_at FROM index_state`, columnReader("iiiM")},
		{"session_commits", `SELECT session, checkpoint, sha, email, tie >= ` + db.WeakTie +
			`, ts, turn, lines, tie FROM ties ORDER BY rowid`, columnReader("ttttbMiiT")},
		{"rewrites_index", `SELECT email, old, new, root, last FROM lineage ORDER BY rowid`, columnReader("ttttt")},
		{"purged", `SELECT id FROM purged ORDER BY id`, columnReader("t")},
		{"ledger_cursor", `SELECT ref, oid FROM cursor ORDER BY ref`, columnReader("tt")},
	}
)
