package transcript

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/tidwall/gjson"
)

// partsAgain is how many parts are searched once more: one is there before it says what is edited, or takes the row of
// one that was deleted.
const partsAgain = 200

const openCodePartsBack = ` WHERE rowid > ? AND rowid <= ? AND octet_length(data) <= ? ORDER BY rowid DESC`

// errSpent ends a search that read as much as it may.
var errSpent = errors.New("enough was read")

// searchParts takes those sessions out of begun, which has the folders of some, that edited a file of this repository,
// as the rows of a table tell; the latest rows first, as long as there is something left to spend.
func (l *finder) searchParts(ctx context.Context, db *rows, table string, had partsSearched,
	begun map[string]string,
) (now partsSearched, err error) {
	if now.Last, err = db.lastRow(ctx, table); err != nil || now.Last == 0 {
		return now, err
	}
	now.Left = append(slices.Clone(had.Left), [2]int64{max(0, min(had.Last, now.Last)-partsAgain), now.Last})
	names := map[string][]string{}
	for i := len(now.Left) - 1; i >= 0 && err == nil; {
		var more bool
		more, err = db.each(ctx, func(scan func(...any) error) error {
			var row int64
			var session, part sql.RawBytes
			if err := scan(&row, &session, &part); err != nil {
				return err
			}
			dir, elsewhere := begun[string(session)]
			if elsewhere && names[dir] == nil {
				names[dir] = l.rootNames(dir)
			}
			if elsewhere && containsAny(part, names[dir]) && l.edits(part) {
				delete(begun, string(session))
			}
			now.Left[i][1] = row - 1
			if l.left -= int64(len(part)); l.env.Search != 0 && l.left <= 0 {
				return errSpent
			}
			return nil
		}, `SELECT rowid, session_id, data FROM `+table+openCodePartsBack, now.Left[i][0], now.Left[i][1], MaxLine)
		if err == nil && !more {
			now.Left, i = now.Left[:i], i-1
		}
	}
	if errors.Is(err, errSpent) {
		err = nil
	}
	return now, err
}

// edits reports whether a part, or a message of version 2, holds a call that edits.
func (l *finder) edits(part []byte) bool {
	if slices.Contains(l.editing, cmp.Or(gjson.GetBytes(part, "tool").Str, gjson.GetBytes(part, "type").Str)) {
		return true
	}
	return slices.ContainsFunc(gjson.GetBytes(part, "content.#.name").Array(),
		func(name gjson.Result) bool { return slices.Contains(l.editing, name.Str) })
}
