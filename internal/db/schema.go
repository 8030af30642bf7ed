package db

import "github.com/git-rekal/git-rekal/internal/session"

// Version is the schema version of the index, to which each fact of sessions adds one. Any change of a table below, of
// a blob that search keeps in one, of how text is tokenised or cut for a model, or of who is taken to speak raises it:
// the index is then made anew.
const Version = 19

// vectorsSince is the oldest version of which the vectors, and what search keeps of them, read as this one's: they cost
// much to make. A change of those raises it to Version.
const vectorsSince = 9

// WeakTie and talked are session.TieInferred and TieTalked, as SQL has them.
const (
	WeakTie = "5"
	talked  = "7"
)

// No two keys of a map are the same: this compiles only if they are so.
var _ = map[bool]bool{false: false, session.TieInferred == 5 && session.TieTalked == 7: true}

// application marks an SQLite file as an index of git-rekal: "rekl".
const application = 0x72656b6c

// schema is the tables. Times are microseconds since 1970, lists are JSON. What is asked for by a key has that key
// first, so that what is read together lies together. $facts are the facts of sessions, each a column.
const schema = `
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, parent TEXT, hash TEXT NOT NULL, captured_at INTEGER NOT NULL, actor_type TEXT NOT NULL, agent_id TEXT,
    email TEXT, branch TEXT, source TEXT NOT NULL, native_id TEXT NOT NULL, forked_from TEXT, title TEXT,
    started_at INTEGER, last_turn_at INTEGER, first_turn INTEGER NOT NULL, next_turn INTEGER NOT NULL,
    first_tool INTEGER NOT NULL, next_tool INTEGER NOT NULL, last_entry TEXT NOT NULL, $facts) WITHOUT ROWID;
CREATE INDEX children ON sessions (parent);
CREATE INDEX forks ON sessions (forked_from);
CREATE INDEX natives ON sessions (lower(native_id));
CREATE TABLE turns (
    session TEXT NOT NULL, i INTEGER NOT NULL, role TEXT NOT NULL, content BLOB NOT NULL, ts INTEGER);
CREATE UNIQUE INDEX turn ON turns (session, i);
CREATE TABLE undone (session TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (session, first)) WITHOUT ROWID;
CREATE TABLE tool_calls (
    session TEXT NOT NULL, i INTEGER NOT NULL, turn INTEGER NOT NULL, ts INTEGER, tool TEXT NOT NULL, act TEXT, path TEXT, cmd TEXT,
    failed INTEGER NOT NULL, exit INTEGER NOT NULL DEFAULT 0, terms TEXT, PRIMARY KEY (session, i)) WITHOUT ROWID;
CREATE TABLE failures (term TEXT NOT NULL, session TEXT NOT NULL, i INTEGER NOT NULL, PRIMARY KEY (term, session, i)) WITHOUT ROWID;
CREATE TABLE usage (
    session TEXT NOT NULL, request TEXT NOT NULL, turn INTEGER NOT NULL, ts INTEGER, checkpoint TEXT NOT NULL, model TEXT NOT NULL,
    input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cost REAL NOT NULL,
    PRIMARY KEY (session, request)) WITHOUT ROWID;
CREATE TABLE checkpoints (
    id TEXT PRIMARY KEY, sha TEXT NOT NULL, branch TEXT NOT NULL, email TEXT NOT NULL, ts INTEGER NOT NULL,
    actor_type TEXT NOT NULL, agent_id TEXT, patch_id TEXT, via TEXT) WITHOUT ROWID;
CREATE INDEX checkpoints_of ON checkpoints (sha);
CREATE INDEX checkpoints_when ON checkpoints (ts DESC, id);
CREATE INDEX imports ON checkpoints (via) WHERE via = 'import';
CREATE TABLE checkpoint_files (
    checkpoint TEXT NOT NULL, i INTEGER NOT NULL, path TEXT NOT NULL, change TEXT NOT NULL, old_path TEXT, blob TEXT,
    PRIMARY KEY (checkpoint, i)) WITHOUT ROWID;
CREATE TABLE checkpoint_sessions (
    checkpoint TEXT NOT NULL, n INTEGER NOT NULL, session TEXT NOT NULL,
    PRIMARY KEY (checkpoint, n)) WITHOUT ROWID;
CREATE TABLE memories (
    id TEXT PRIMARY KEY, email TEXT NOT NULL, title TEXT, content TEXT NOT NULL, source TEXT, ts INTEGER NOT NULL,
    actor_type TEXT NOT NULL, entry TEXT NOT NULL, supersedes TEXT, rejects TEXT, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE marks (id TEXT NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL, ts INTEGER, email TEXT NOT NULL, oid TEXT NOT NULL);
CREATE TABLE purged (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE private (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE rewrites (
    old TEXT NOT NULL, new TEXT NOT NULL, ts INTEGER, email TEXT NOT NULL, entry TEXT NOT NULL, n INTEGER NOT NULL);
CREATE INDEX rewrites_of ON rewrites (old);
CREATE TABLE lineage (email TEXT NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL, root TEXT NOT NULL, last TEXT NOT NULL);
CREATE INDEX lineage_old ON lineage (old);
CREATE INDEX lineage_new ON lineage (new);
CREATE INDEX lineage_root ON lineage (email, root);
CREATE TABLE wrote (
    sha TEXT NOT NULL, blob TEXT, session TEXT NOT NULL, path TEXT NOT NULL, lines TEXT NOT NULL,
    gone INTEGER NOT NULL, ts INTEGER NOT NULL, email TEXT NOT NULL, entry INTEGER NOT NULL);
CREATE INDEX wrote_in ON wrote (sha);
CREATE TABLE claims (
    id TEXT NOT NULL, email TEXT NOT NULL, entry TEXT NOT NULL, credible INTEGER NOT NULL, PRIMARY KEY (id, email)) WITHOUT ROWID;
CREATE TABLE dangling (session TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (session, entry)) WITHOUT ROWID;
CREATE TABLE entries (n INTEGER PRIMARY KEY, id TEXT NOT NULL, oid TEXT NOT NULL, email TEXT NOT NULL, key TEXT NOT NULL);
CREATE TABLE parts (
    item TEXT NOT NULL, entry INTEGER NOT NULL, k INTEGER NOT NULL, turn INTEGER NOT NULL, next_turn INTEGER NOT NULL, tool INTEGER NOT NULL,
    next_tool INTEGER NOT NULL, unit INTEGER NOT NULL, next_unit INTEGER NOT NULL, title TEXT, branch TEXT,
    $facts, PRIMARY KEY (item, entry, k)) WITHOUT ROWID;
CREATE TABLE signatures (
    oid TEXT NOT NULL, email TEXT NOT NULL, letter TEXT NOT NULL, signer TEXT NOT NULL, trust INTEGER NOT NULL, PRIMARY KEY (oid, email)) WITHOUT ROWID;
CREATE INDEX signed ON signatures (oid) WHERE letter <> 'N';
CREATE TABLE signing_keys (print TEXT NOT NULL);
CREATE TABLE cursor (ref TEXT PRIMARY KEY, oid TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE facets (
    session TEXT PRIMARY KEY, email TEXT, branch TEXT, actor_type TEXT, agent_id TEXT, captured_at INTEGER, turns INTEGER,
    tools INTEGER, files INTEGER, checkpoint TEXT, sha TEXT, title TEXT, source TEXT, parent TEXT, started_at INTEGER,
    last_turn_at INTEGER, shown TEXT, commits TEXT, kind TEXT NOT NULL, left_paths TEXT, left_blobs TEXT, $facts) WITHOUT ROWID;
CREATE INDEX latest ON facets (coalesce(last_turn_at, captured_at) DESC, session);
CREATE TABLE ties (
    session TEXT NOT NULL, checkpoint TEXT NOT NULL, sha TEXT NOT NULL, email TEXT NOT NULL, tie INTEGER NOT NULL,
    ts INTEGER NOT NULL, turn INTEGER NOT NULL, lines INTEGER NOT NULL, evidence TEXT);
CREATE INDEX ties_of ON ties (session);
CREATE INDEX ties_to ON ties (sha);
CREATE INDEX ties_at ON ties (checkpoint);
CREATE INDEX ties_when ON ties (ts);
CREATE VIEW behind AS SELECT * FROM ties WHERE tie < ` + talked + `;
CREATE TABLE pending (session TEXT NOT NULL, path TEXT NOT NULL, waits INTEGER NOT NULL, PRIMARY KEY (session, path)) WITHOUT ROWID;
CREATE TABLE shares (
    checkpoint TEXT NOT NULL, session TEXT NOT NULL, path TEXT NOT NULL, change TEXT NOT NULL, blob INTEGER NOT NULL,
    tie INTEGER NOT NULL);
CREATE INDEX shares_of ON shares (session);
CREATE INDEX shares_at ON shares (checkpoint);
CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE touches (path INTEGER NOT NULL, session TEXT NOT NULL, PRIMARY KEY (path, session)) WITHOUT ROWID;
CREATE TABLE renames (old TEXT NOT NULL, new TEXT NOT NULL, PRIMARY KEY (old, new)) WITHOUT ROWID;
CREATE TABLE code_commits (
    key INTEGER NOT NULL, sha TEXT NOT NULL, email TEXT NOT NULL, branch TEXT NOT NULL, via TEXT, ts INTEGER, patch INTEGER NOT NULL,
    checkpoint TEXT NOT NULL);
CREATE INDEX code_commit ON code_commits (key);
CREATE TABLE code_files (path TEXT NOT NULL, key INTEGER NOT NULL, blob INTEGER NOT NULL, PRIMARY KEY (path, key, blob)) WITHOUT ROWID;
CREATE INDEX code_files_of ON code_files (key);
CREATE TABLE index_state (turns INTEGER, sessions INTEGER, indexed_at INTEGER);
` + SearchTables

// SearchTables are the tables that package search fills from the texts of a table or view "turns".
const SearchTables = `
CREATE TABLE search_state (state TEXT NOT NULL);
CREATE TABLE embedded (session TEXT PRIMARY KEY, turns INTEGER NOT NULL, hashes BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE embeddings (
    session TEXT NOT NULL, model TEXT NOT NULL, embedding BLOB NOT NULL, generated_at INTEGER NOT NULL, PRIMARY KEY (session, model)) WITHOUT ROWID;
CREATE TABLE runs (page INTEGER PRIMARY KEY, data BLOB NOT NULL);
`

// DropSearchTables is to be done before SearchTables can be made again.
const DropSearchTables = `DROP TABLE search_state; DROP TABLE embedded; DROP TABLE embeddings; DROP TABLE runs`
