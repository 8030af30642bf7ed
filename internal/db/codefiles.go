package db

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// AppendCode adds the code commits of checkpoints with what they left in their files: what tells a squash merge that no
// hook saw. OIDs and patch-ids that are only compared are Keys. ts is NULL where the checkpoint was made long after the
// commit.
func (t *Tx) AppendCode(ctx context.Context, cps []session.Checkpoint) error {
	return cmp.Or(
		t.insert(ctx, insertInto("code_commits", 8), func(row func(...any)) {
			for _, c := range cps {
				if len(c.Files) > 0 {
					row(int64(KeyOf(c.GitSHA)), c.GitSHA, c.UserEmail, c.GitBranch, orNull(c.Via), commitTime(c),
						int64(KeyOf(c.PatchID)), c.ID)
				}
			}
		}),
		t.insert(ctx, "INSERT INTO code_files VALUES (?, ?, ?) ON CONFLICT DO NOTHING", func(row func(...any)) {
			for _, c := range cps {
				for _, f := range c.Files {
					row(f.Path, int64(KeyOf(c.GitSHA)), int64(KeyOf(f.Blob)))
				}
			}
		}))
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

// commitTime is when the code commit of a checkpoint was made, where the checkpoint was made
// because of it.
func commitTime(c session.Checkpoint) any {
	switch c.Via {
	case session.ViaCommit, session.ViaMerge, session.ViaAm, session.ViaRewrite:
		return microsOrNull(c.TS)
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
	// of the commit that may be made of them: none that a hook captured after it, if a hook captured it
	SHA   string
	Until time.Time     // none made later
	Slack time.Duration // by which clocks may differ
	Limit int
}

// CodeCommits reads code commits, first those with the patch-id, then those that left one of
// the blobs in its file, then the latest. A merge is not granted the slack: pulling what has
// just been merged is common, and leaves the same blobs.
func (d *DB) CodeCommits(ctx context.Context, q CodeQuery) ([]CodeCommit, error) {
	type hit struct {
		Path string `json:"path"`
		Blob int64  `json:"blob"`
	}
	asked := []hit{}
	for p, b := range q.Files {
		asked = append(asked, hit{p, int64(b)})
	}
	var out []CodeCommit
	at := map[int64]int{} // a commit that two ledgers know counts once
	err := query(ctx, d, `WITH rev AS (SELECT value ->> 'path' AS path, value ->> 'blob' AS blob FROM json_each(?)),
		hit AS MATERIALIZED (SELECT key, max(f.blob <> 0 AND f.blob = rev.blob) AS same
			FROM rev CROSS JOIN code_files f ON rev.path = f.path GROUP BY key)
		SELECT c.key, sha, email, branch, ts, patch <> 0 AND patch = ? AS copy FROM hit CROSS JOIN code_commits c ON c.key = hit.key
		WHERE sha <> ? AND (ts IS NULL OR ts <= CASE WHEN via = ? THEN ? ELSE ? END AND ts < coalesce((SELECT min(ts) FROM code_commits WHERE key = ?), ts + 1))
		ORDER BY copy DESC, same DESC, ts DESC NULLS LAST, sha, email LIMIT ?`,
		asJSON(asked), int64(KeyOf(q.PatchID)), session.ZeroSHA, session.ViaMerge, q.Until, q.Until.Add(q.Slack),
		int64(KeyOf(q.SHA)), q.Limit).each(func(rows *Rows) error {
		var c CodeCommit
		var k int64
		if err := rows.Scan(&k, &c.SHA, &c.Email, &c.Branch, timeColumn{&c.TS}, &c.SamePatch); err != nil {
			return err
		}
		if _, known := at[k]; !known {
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

// HasCodeCommit reports whether a ledger names a code commit, by its OID.
func (d *DB) HasCodeCommit(ctx context.Context, sha string) (has bool, err error) {
	err = query(ctx, d, `SELECT EXISTS (SELECT 1 FROM code_commits WHERE key = ?)`, int64(KeyOf(sha))).one(&has)
	return has, err
}

// AnyCodeCommit reports whether a code commit is known that was made until a time, or nobody knows when.
func (d *DB) AnyCodeCommit(ctx context.Context, until time.Time) (any bool, err error) {
	err = query(ctx, d, `SELECT EXISTS (SELECT 1 FROM code_commits WHERE sha <> ? AND (ts IS NULL OR ts <= ?))`,
		session.ZeroSHA, until).one(&any)
	return any, err
}

// codeFiles fills in what commits left in their files; at says by key where each stands.
func (d *DB) codeFiles(ctx context.Context, asked map[string]Key, commits []CodeCommit, at map[int64]int) error {
	return query(ctx, d, `SELECT key, path, blob FROM code_files
		WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key, path, blob`, slices.Collect(maps.Keys(at))).each(func(rows *Rows) error {
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
