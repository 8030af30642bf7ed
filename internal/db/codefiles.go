package db

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// codeDDL is what tells a squash merge that no hook saw: which code commits the ledgers know,
// and what each left in which file. ts is NULL where the checkpoint was made long after the
// commit. OIDs and patch-ids that are only compared are Keys: a join by numbers costs half, and
// the tables take a third of the space (10,000 commits of four files: 0.9 MB).
const codeDDL = `
CREATE TABLE code_commits (
    key BIGINT NOT NULL, git_sha VARCHAR NOT NULL, user_email VARCHAR NOT NULL, git_branch VARCHAR NOT NULL,
    via VARCHAR, ts TIMESTAMP, patch BIGINT NOT NULL);
CREATE TABLE code_files (key BIGINT NOT NULL, path VARCHAR NOT NULL, blob BIGINT NOT NULL);
`

// AppendCode adds the code commits of checkpoints with what they left in their files.
func (t *Tx) AppendCode(cps []session.Checkpoint) error {
	err := t.Append("code_commits", func(row func(...any) error) error {
		for _, c := range cps {
			if len(c.Files) == 0 {
				continue
			}
			if err := row(int64(KeyOf(c.GitSHA)), c.GitSHA, c.UserEmail, c.GitBranch, opt(c.Via), committed(c), int64(KeyOf(c.PatchID))); err != nil {
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
				if err := row(int64(KeyOf(c.GitSHA)), f.Path, int64(KeyOf(f.Blob))); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Key is the beginning of an OID or a patch-id as a number: 64 of its bits, which no two of a
// repository share. 0 is none.
type Key int64

// KeyOf is the key of 40 hexadecimal digits; 0 for anything that does not begin with 16.
func KeyOf(hex string) Key {
	if len(hex) < 16 {
		return 0
	}
	n, err := strconv.ParseUint(hex[:16], 16, 64)
	if err != nil {
		return 0
	}
	return Key(n)
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
	SamePatch          bool      // its patch-id is the one asked for
	Files              int       // how many files it changed
	Paths              []string  // those of them that were asked for, in order
	Blobs              []Key     // what it left in each of Paths; 0 for a deletion
}

// CodeQuery asks for the code commits that changed one of some files.
type CodeQuery struct {
	Files   map[string]Key // and the blob that is of interest in each
	PatchID string         // "": none
	Until   time.Time      // none made later
	Slack   time.Duration  // by which clocks may differ
	Limit   int
}

// CodeCommits reads code commits, first those with the patch-id, then those that left one of
// the blobs in its file, then the latest. A merge is not granted the slack: pulling what has
// just been merged is common, and leaves the same blobs.
func (d *DB) CodeCommits(ctx context.Context, q CodeQuery) ([]CodeCommit, error) {
	var paths []string
	var blobs []int64
	for p, b := range q.Files {
		paths, blobs = append(paths, p), append(blobs, int64(b))
	}
	rows, err := d.Query(ctx, `WITH rev AS (SELECT unnest(?::VARCHAR[]) AS path, unnest(?::BIGINT[]) AS blob),
		hit AS (SELECT key, bool_or(f.blob <> 0 AND f.blob = rev.blob) AS same
			FROM code_files f JOIN rev ON rev.path = f.path GROUP BY key)
		SELECT key, git_sha, user_email, git_branch, ts, patch <> 0 AND patch = ? AS copy FROM code_commits JOIN hit USING (key)
		WHERE git_sha <> ? AND (ts IS NULL OR ts <= CASE WHEN via = ? THEN ?::TIMESTAMP ELSE ?::TIMESTAMP END)
		ORDER BY copy DESC, same DESC, ts DESC NULLS LAST, git_sha, user_email LIMIT ?`,
		paths, blobs, int64(KeyOf(q.PatchID)), session.ZeroSHA, session.ViaMerge, q.Until.UTC(), q.Until.Add(q.Slack).UTC(), q.Limit)
	if err != nil {
		return nil, err
	}
	var out []CodeCommit
	at := map[int64]int{} // a commit that two ledgers know counts once
	err = each(rows, func() error {
		var c CodeCommit
		var k int64
		var ts sql.NullTime
		if err := rows.Scan(&k, &c.SHA, &c.Email, &c.Branch, &ts, &c.SamePatch); err != nil {
			return err
		}
		if _, known := at[k]; !known {
			c.TS = ts.Time
			at[k] = len(out)
			out = append(out, c)
		}
		return nil
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out, d.codeFiles(ctx, q.Files, out, at)
}

// codeFiles fills in what commits left in their files; at says by key where each stands.
func (d *DB) codeFiles(ctx context.Context, asked map[string]Key, commits []CodeCommit, at map[int64]int) error {
	rows, err := d.Query(ctx, `SELECT DISTINCT key, path, blob FROM code_files
		WHERE key IN (SELECT unnest(?::BIGINT[])) ORDER BY ALL`, slices.Collect(maps.Keys(at)))
	if err != nil {
		return err
	}
	return each(rows, func() error {
		var k int64
		var path string
		var blob Key
		if err := rows.Scan(&k, &path, &blob); err != nil {
			return err
		}
		c := &commits[at[k]]
		c.Files++
		if _, ok := asked[path]; ok {
			c.Paths, c.Blobs = append(c.Paths, path), append(c.Blobs, blob)
		}
		return nil
	})
}
