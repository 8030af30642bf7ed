package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Left is what the commits behind a session left in one of its files, the last time.
type Left struct {
	Path string
	Blob Key // LeftNothing where they deleted it; 0 where the ledger does not say
}

// LeftNothing stands in the place of a blob where a file was deleted. No blob has this key: its
// first fifteen digits would all be zero.
const LeftNothing Key = 1

// LeftByCommit is what a commit left in a file.
func LeftByCommit(f session.File) Key {
	if f.Change == "D" {
		return LeftNothing
	}
	return KeyOf(f.Blob)
}

func zipLeft(paths []string, blobs []int64) []Left {
	out := make([]Left, min(len(paths), len(blobs)))
	for i := range out {
		out[i] = Left{paths[i], Key(blobs[i])}
	}
	return out
}

// CommitOf is the code commit of the first of these checkpoints that is tied to one, and with no
// checkpoints that of the last one of all; "" for none.
func (d *DB) CommitOf(ctx context.Context, checkpoints []string) (sha string, err error) {
	if len(checkpoints) == 0 {
		err = query(ctx, d, `SELECT sha FROM ties ORDER BY ts DESC, checkpoint LIMIT 1`).one(&sha)
	} else {
		err = query(ctx, d, `SELECT sha FROM json_each(?) a CROSS JOIN ties t ON t.checkpoint = a.value ORDER BY a.key LIMIT 1`, checkpoints).one(&sha)
	}
	return sha, err
}
