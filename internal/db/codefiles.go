package db

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// codeDDL is what tells a squash merge that no hook saw: which code commits the ledgers know,
// and what each left in which file. ts is NULL where the checkpoint was made long after the
// commit; key is the beginning of git_sha, because a join by numbers takes half the time.
const codeDDL = `
CREATE TABLE code_commits (
    key BIGINT NOT NULL, git_sha VARCHAR NOT NULL, user_email VARCHAR NOT NULL, git_branch VARCHAR NOT NULL,
    via VARCHAR, ts TIMESTAMP, patch_id VARCHAR);
CREATE TABLE code_files (key BIGINT NOT NULL, path VARCHAR NOT NULL, blob VARCHAR);
`

// AppendCode adds the code commits of checkpoints with what they left in their files.
func (t *Tx) AppendCode(cps []session.Checkpoint) error {
	err := t.Append("code_commits", func(row func(...any) error) error {
		for _, c := range cps {
			if len(c.Files) == 0 {
				continue
			}
			if err := row(key(c.GitSHA), c.GitSHA, c.UserEmail, c.GitBranch, opt(c.Via), committed(c), opt(c.PatchID)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.Append("code_files", func(row func(...any) error) error {
		for _, c := range cps {
			for _, f := range c.Files {
				if err := row(key(c.GitSHA), f.Path, opt(f.Blob)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// key is the first 8 bytes of an OID as a number; 0 where it is none.
func key(sha string) int64 {
	n, err := strconv.ParseUint(sha[:min(len(sha), 16)], 16, 64)
	if err != nil {
		return 0
	}
	return int64(n)
}

// committed is when the code commit of a checkpoint was made, where the checkpoint was made
// because of it.
func committed(c session.Checkpoint) any {
	switch c.Via {
	case session.ViaCommit, session.ViaMerge, session.ViaAm, session.ViaRewrite:
		return at(c.TS)
	}
	return nil
}

// CodeCommit is a code commit that a ledger knows, as far as it meets a CodeQuery.
type CodeCommit struct {
	SHA, Email, Branch string
	TS                 time.Time // zero: not known
	PatchID            string
	Files              int      // how many files it changed
	Paths              []string // those of them that were asked for, in order
	Blobs              []string // what it left in each of Paths; "" for a deletion
}

// CodeQuery asks for the code commits that changed one of some files.
type CodeQuery struct {
	Paths, Blobs []string // the files, and a blob for each that is of interest
	PatchID      string
	Until        time.Time     // none made later
	Slack        time.Duration // by which clocks may differ
	Limit        int
}

// CodeCommits reads code commits, first those with the patch-id, then those that left one of
// the blobs in its file, then the latest. A merge is not granted the slack: pulling what has
// just been merged is common, and leaves the same blobs.
func (d *DB) CodeCommits(ctx context.Context, q CodeQuery) ([]CodeCommit, error) {
	rows, err := d.Query(ctx, `WITH rev AS (SELECT unnest(?::VARCHAR[]) AS path, unnest(?::VARCHAR[]) AS blob),
		hit AS (SELECT key, bool_or(f.blob IS NOT NULL AND f.blob = rev.blob) AS same
			FROM code_files f JOIN rev ON rev.path = f.path GROUP BY key),
		top AS (SELECT * FROM code_commits JOIN hit USING (key) WHERE git_sha <> ?
			AND (ts IS NULL OR ts <= CASE WHEN via = ? THEN ?::TIMESTAMP ELSE ?::TIMESTAMP END)
			ORDER BY coalesce(patch_id = ?, false) DESC, same DESC, ts DESC NULLS LAST, git_sha LIMIT ?),
		f AS (SELECT DISTINCT key, path, coalesce(blob, '') AS blob FROM code_files WHERE key IN (SELECT key FROM top)),
		n AS (SELECT key, count(*) AS files,
			list(f.path ORDER BY f.path) FILTER (WHERE rev.path IS NOT NULL) AS paths,
			list(f.blob ORDER BY f.path) FILTER (WHERE rev.path IS NOT NULL) AS blobs
			FROM f LEFT JOIN rev ON rev.path = f.path GROUP BY key),
		c AS (SELECT key, git_sha, min(user_email) AS email, min(git_branch) AS branch, min(ts) AS ts,
			coalesce(min(patch_id), '') AS patch, bool_or(same) AS same FROM top GROUP BY key, git_sha)
		SELECT git_sha, email, branch, ts, patch, files, paths, blobs FROM c JOIN n USING (key)
		ORDER BY patch = ? DESC, same DESC, ts DESC NULLS LAST, git_sha`,
		q.Paths, q.Blobs, session.ZeroSHA, session.ViaMerge, q.Until.UTC(), q.Until.Add(q.Slack).UTC(), q.PatchID, q.Limit, q.PatchID)
	if err != nil {
		return nil, err
	}
	var out []CodeCommit
	err = each(rows, func() error {
		var c CodeCommit
		var ts sql.NullTime
		var paths, blobs any
		if err := rows.Scan(&c.SHA, &c.Email, &c.Branch, &ts, &c.PatchID, &c.Files, &paths, &blobs); err != nil {
			return err
		}
		c.TS, c.Paths, c.Blobs = ts.Time, list(paths), list(blobs)
		out = append(out, c)
		return nil
	})
	return out, err
}
