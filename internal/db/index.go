package db

// IndexVersion is the schema version of index.db. Any change of a table below, of a blob that
// search keeps in one, or of how text is tokenised raises it: the index is then rebuilt.
const IndexVersion = 17

// IndexSchema is the schema of index.db: the tables of the schema page (turns_ft …
// index_state, documented columns first) and those in which package search keeps its
// postings and vectors. The page's PRIMARY KEY constraints hold but are not declared: with
// declared keys the file of 600 small commits grew to forty times its size (measured).
func IndexSchema() Schema {
	return Schema{Kind: "index", Version: IndexVersion, DDL: indexDDL + recallDDL + renamesDDL + wroteDDL + rewritesDDL + codeDDL + searchDDL + purgedDDL + cursorDDL}
}

const indexDDL = `
CREATE TABLE turns_ft (
    id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, turn_index INTEGER NOT NULL,
    role VARCHAR NOT NULL, content VARCHAR NOT NULL USING COMPRESSION zstd, ts VARCHAR);
CREATE TABLE tool_calls_index (
    id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, call_order INTEGER NOT NULL,
    tool VARCHAR NOT NULL, path VARCHAR, cmd_prefix VARCHAR, act VARCHAR);
CREATE TABLE files_index (
    checkpoint_id VARCHAR NOT NULL, session_id VARCHAR NOT NULL,
    file_path VARCHAR NOT NULL, change_type VARCHAR NOT NULL, blob BIGINT NOT NULL,
    inferred BOOLEAN NOT NULL);
CREATE TABLE session_facets (
    session_id VARCHAR NOT NULL, user_email VARCHAR, git_branch VARCHAR, actor_type VARCHAR,
    agent_id VARCHAR, captured_at TIMESTAMP, turn_count INTEGER, tool_call_count INTEGER,
    file_count INTEGER, checkpoint_id VARCHAR, git_sha VARCHAR,
    title VARCHAR, source VARCHAR, parent_session_id VARCHAR, started_at TIMESTAMP,
    last_turn_at TIMESTAMP, files VARCHAR[], commits VARCHAR[], kind VARCHAR NOT NULL DEFAULT 'session',
    left_paths VARCHAR[], left_blobs BIGINT[]);
CREATE TABLE session_embeddings (
    session_id VARCHAR NOT NULL, embedding FLOAT[], model VARCHAR NOT NULL,
    generated_at TIMESTAMP NOT NULL);
CREATE TABLE file_cooccurrence (
    file_a VARCHAR NOT NULL, file_b VARCHAR NOT NULL, session_count INTEGER NOT NULL);
CREATE TABLE index_state (
    session_count INTEGER, turn_count INTEGER, embedding_dim INTEGER, last_indexed_at TIMESTAMP,
    trained_to VARCHAR);
`
