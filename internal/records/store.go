package records

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/db"
)

// Defaults of retention.
const (
	Days    = 90       // rekal.records.days
	Size    = 64 << 20 // rekal.records.size, in bytes
	RawDays = 7        // of outputs
)

// layout is that of the file. The column head is a Record as JSON without its ID and text. Of a record that was made of
// a transcript, call is From.Call. A mark is on a record's call, or else on its ID. What search reads as turns is the
// texts that its index holds.
func layout() db.Layout {
	return db.Layout{
		Application: 0x72656b72, // "rekr"
		Version:     1,
		Settings:    "PRAGMA auto_vacuum = FULL",
		Tables: `
CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, call TEXT UNIQUE, head TEXT NOT NULL, text TEXT NOT NULL,
    key TEXT AS (printf('%010d', id)));
CREATE UNIQUE INDEX keys ON records (key);
CREATE TABLE outputs (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, packed BLOB NOT NULL);
CREATE TABLE marks (record TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE indexed (version INTEGER NOT NULL, last INTEGER NOT NULL, n INTEGER NOT NULL);
INSERT INTO indexed VALUES (0, 0, 0);
CREATE VIEW turns AS SELECT key AS session, 0 AS i, '' AS role, CAST(x'00' || text AS BLOB) AS content, NULL AS ts
    FROM records WHERE id <= (SELECT last FROM indexed);
` + db.SearchTables,
	}
}

// The marks.
const (
	hidden   = "hidden"   // it is purged
	scrubbed = "scrubbed" // it is not made of its transcript again
)

// Store is the records of one repository.
type Store struct {
	Dir  string // see the package's doc
	Now  func() time.Time
	Days int   // 0: Days
	Size int64 // 0: Size
}

// ErrNone is an ID that no record has.
var ErrNone = advice.New("no such record",
	`numbers are in the answers of recall: "git rekal --kind record -n 5" lists the latest`)

// ErrNoRaw is a record whose output is not kept any more, or was never there.
var ErrNoRaw = advice.New("it is not kept any more",
	"the raw output is kept for 7 days, the record for 90; without --raw you see what mattered")

func (s Store) file() string { return filepath.Join(s.Dir, "records.db") }

// Add stores a record and returns it with its ID. When it fails nothing was stored.
func (s Store) Add(ctx context.Context, r Redacted) (Record, error) {
	err := s.inTransaction(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		r.record.ID, err = s.insert(ctx, tx, r.record)
		if err == nil && len(r.packed) > 0 {
			err = tx.Exec(ctx, "INSERT INTO outputs VALUES (?, ?, ?)", r.record.ID, s.Now(), r.packed)
		}
		if err == nil && r.record.ID%retainEach == 0 {
			err = s.dropOld(ctx, tx)
		}
		return err
	})
	return r.record, err
}

// retainEach is after how many records what is too old or too much goes.
const retainEach = 16

// Since is the time before which nothing is kept.
func (s Store) Since() time.Time {
	return s.Now().AddDate(0, 0, -cmp.Or(s.Days, Days))
}

// AddFromTranscripts stores records that were made of transcripts, but for calls of which there is one, and what was
// scrubbed or is too old. One that was there before has the number that it had. It tells how many were new. With them
// it stores how far the transcripts were read, for Progress.
func (s Store) AddFromTranscripts(ctx context.Context, all []Redacted, progress []byte) (n int, err error) {
	err = s.inTransaction(ctx, func(ctx context.Context, tx *db.Tx) error {
		numbers, err := formerNumbers(ctx, tx)
		if err != nil {
			return err
		}
		at, err := readProgress(ctx, tx)
		if err != nil {
			return err
		}
		for _, r := range inOrder(all) {
			if !r.At.After(s.Since()) {
				continue
			}
			r.ID = numbers[r.From.Call]
			id, err := s.insert(ctx, tx, r)
			if err == nil && id > 0 && id <= at.last { // the index goes by numbers
				at, err = indexed{}, emptyIndex(ctx, tx)
			}
			if err != nil {
				return err
			}
			if id > 0 {
				n++
			}
		}
		return errors.Join(s.setProgress(ctx, tx, progress), s.dropOld(ctx, tx))
	})
	return n, err
}

// numbersTable holds the numbers of records that Renew dropped, by their calls. Files of 0.1 lack it.
const numbersTable = "CREATE TABLE IF NOT EXISTS numbers (call TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID"

func formerNumbers(ctx context.Context, tx *db.Tx) (map[string]int, error) {
	out := map[string]int{}
	err := tx.Exec(ctx, numbersTable)
	if err == nil {
		err = db.Each(ctx, tx, func(rows *db.Rows) error {
			var call string
			var id int
			err := rows.Scan(&call, &id)
			out[call] = id
			return err
		}, "SELECT call, id FROM numbers")
	}
	return out, err
}

// inOrder are records in the order of their times.
func inOrder(all []Redacted) (out []Record) {
	for _, r := range all {
		out = append(out, r.record)
	}
	slices.SortStableFunc(out, func(a, b Record) int { return a.At.Compare(b.At) })
	return out
}

// insert adds a record, with its ID or a new one, and returns that; 0 where its call has a record or was scrubbed.
func (s Store) insert(ctx context.Context, tx *db.Tx, r Record) (id int, err error) {
	call, at := any(nil), r.At
	if r.From != nil {
		call = r.From.Call
	}
	if at.IsZero() {
		at = s.Now()
	}
	head, text := r, r.Text
	head.ID, head.Text = 0, ""
	line, err := json.Marshal(head)
	if err != nil {
		return 0, err
	}
	err = db.Each(ctx, tx, func(rows *db.Rows) error { return rows.Scan(&id) }, `INSERT INTO records (id, at, call, head, text) SELECT nullif(?6, 0), ?1, ?2, ?3, ?4
		WHERE NOT EXISTS (SELECT 1 FROM records WHERE call = ?2) AND NOT EXISTS (SELECT 1 FROM marks WHERE record = ?2 AND mark = ?5) RETURNING id`, at, call, string(line), text, scrubbed, r.ID)
	return id, err
}

// dropOld drops what is too old, and of what is too much the oldest: outputs before records, and never the latest
// record. Records made of transcripts have a quarter of the size for themselves.
func (s Store) dropOld(ctx context.Context, tx *db.Tx) error {
	size := cmp.Or(s.Size, Size)
	err := tx.Exec(ctx, `DELETE FROM outputs WHERE at < ?1 OR id IN (SELECT id FROM (SELECT id, sum(length(packed)) OVER (ORDER BY id DESC) AS total FROM outputs)
		WHERE total > ?2 - (SELECT coalesce(sum(octet_length(head) + octet_length(text)), 0) FROM records WHERE call IS NULL))`, s.Now().AddDate(0, 0, -RawDays), size)
	if err == nil {
		err = tx.Exec(ctx, `DELETE FROM records WHERE at < ?1 OR id IN (
			SELECT id FROM (SELECT id, call, sum(octet_length(head) + octet_length(text)) OVER latest AS total, row_number() OVER latest AS n
				FROM records WINDOW latest AS (PARTITION BY call IS NULL ORDER BY at DESC, id DESC))
			WHERE n > 1 AND total > iif(call IS NULL, ?2, ?2 / 4))`, s.Since(), size)
	}
	if err == nil {
		err = tx.Exec(ctx, `DELETE FROM outputs WHERE id NOT IN (SELECT id FROM records)`)
	}
	return err
}

// SetHidden purges records, or shows them again.
func (s Store) SetHidden(ctx context.Context, ids []int, hide bool) error {
	return s.inTransaction(ctx, func(ctx context.Context, tx *db.Tx) error {
		if hide {
			return tx.Exec(ctx, `INSERT INTO marks SELECT coalesce(call, id), ? FROM records WHERE id IN (SELECT value FROM json_each(?)) ON CONFLICT DO NOTHING`, hidden, jsonList(ids))
		}
		return tx.Exec(ctx, `DELETE FROM marks WHERE record IN (SELECT coalesce(call, id) FROM records WHERE id IN (SELECT value FROM json_each(?)))`, jsonList(ids))
	})
}

// Scrub takes records and their outputs out for good, with the index that was made of them, and tells how many there
// were.
func (s Store) Scrub(ctx context.Context, ids []int) (n int, err error) {
	err = s.inTransaction(ctx, func(ctx context.Context, tx *db.Tx) error {
		err := tx.Exec(ctx, `INSERT OR REPLACE INTO marks SELECT call, ? FROM records WHERE call IS NOT NULL AND id IN (SELECT value FROM json_each(?))`, scrubbed, jsonList(ids))
		if err == nil {
			err = db.Each(ctx, tx, func(*db.Rows) error { n++; return nil },
				`DELETE FROM records WHERE id IN (SELECT value FROM json_each(?)) RETURNING id`, jsonList(ids))
		}
		if err == nil {
			err = tx.Exec(ctx, `DELETE FROM outputs WHERE id IN (SELECT value FROM json_each(?))`, jsonList(ids))
		}
		if err == nil {
			err = emptyIndex(ctx, tx)
		}
		return err
	})
	if err != nil {
		return n, err
	}
	return n, s.Vacuum(ctx)
}

// Vacuum leaves nothing in the file of records that were removed. Who removes them calls it, and who goes on for one
// that was killed in between.
func (s Store) Vacuum(ctx context.Context) error {
	if _, err := os.Stat(s.file()); err != nil {
		return nil //nolint:nilerr // there is none
	}
	d, err := layout().Open(ctx, s.file(), db.ReadWrite)
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	return errors.Join(d.Vacuum(ctx), d.Close())
}

// Forget drops the records that were made of transcripts, which can be made again. If there are no others, it removes
// the folder.
func (s Store) Forget(ctx context.Context) error {
	v, err := s.Open(ctx)
	if err != nil {
		return err
	}
	left := 0
	if v.db != nil {
		err = db.Each(ctx, v.db, func(rows *db.Rows) error { return rows.Scan(&left) },
			`SELECT (SELECT count(*) FROM records WHERE call IS NULL) + (SELECT count(*) FROM marks)`)
	}
	if err = errors.Join(err, v.Close()); err != nil {
		return err
	}
	if left == 0 {
		return s.Remove()
	}
	return s.Renew(ctx)
}

// Renew drops the records that were made of transcripts, which are made again with the numbers that they had.
func (s Store) Renew(ctx context.Context) error {
	if _, err := os.Stat(s.file()); err != nil {
		return nil //nolint:nilerr // there is none
	}
	return s.inTransaction(ctx, func(ctx context.Context, tx *db.Tx) error {
		const drop = `INSERT OR REPLACE INTO numbers SELECT call, id FROM records WHERE call IS NOT NULL; DELETE FROM records WHERE call IS NOT NULL`
		return errors.Join(tx.Exec(ctx, numbersTable+"; "+drop), emptyIndex(ctx, tx), s.setProgress(ctx, tx, nil))
	})
}

// Remove takes away everything, and the folder.
func (s Store) Remove() error {
	if err := os.RemoveAll(s.Dir); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	_ = os.Remove(filepath.Dir(s.Dir)) // rekal/, when nothing else is in it
	return nil
}

// progressTable says how far transcripts were read, within the bounds of today: within others they are read anew,
// because what was too old or too much is no record. Files of 0.1 lack it.
const progressTable = "CREATE TABLE IF NOT EXISTS progress (bounds TEXT NOT NULL, state BLOB NOT NULL)"

func (s Store) bounds() string {
	return fmt.Sprintf("%d-%d", cmp.Or(s.Days, Days), cmp.Or(s.Size, Size))
}

// Progress is the progress that AddFromTranscripts stored; nil for none.
func (s Store) Progress(ctx context.Context) (state []byte, err error) {
	v, err := s.Open(ctx)
	if err != nil || v.db == nil {
		return nil, err
	}
	err = db.Each(ctx, v.db, func(rows *db.Rows) error { return rows.Scan(&state) },
		"SELECT state FROM progress WHERE bounds = ?", s.bounds())
	if errors.Is(err, db.ErrSchema) {
		err = nil
	}
	return state, errors.Join(err, v.Close())
}

// setProgress replaces the progress; nil removes it.
func (s Store) setProgress(ctx context.Context, tx *db.Tx, state []byte) error {
	// it names sessions, which may be forgotten
	err := tx.Exec(ctx, progressTable+"; PRAGMA secure_delete = ON; DELETE FROM progress")
	if err == nil && state != nil {
		err = tx.Exec(ctx, "INSERT INTO progress VALUES (?, ?)", s.bounds(), state)
	}
	return err
}

// DropProgress has all transcripts be read again.
func (s Store) DropProgress(ctx context.Context) error {
	if _, err := os.Stat(s.file()); err != nil {
		return nil //nolint:nilerr // there is none
	}
	return s.inTransaction(ctx, func(ctx context.Context, tx *db.Tx) error { return s.setProgress(ctx, tx, nil) })
}

// inTransaction writes in one transaction. A file that is not there is made, with the records that a former version
// left.
func (s Store) inTransaction(ctx context.Context, do func(context.Context, *db.Tx) error) error {
	err := os.MkdirAll(s.Dir, 0o700)
	if err == nil {
		err = layout().Change(ctx, s.file(), db.ReadWrite, func(ctx context.Context, tx *db.Tx) error {
			if err := s.takeFormerRecords(ctx, tx); err != nil {
				return err
			}
			return do(ctx, tx)
		})
	}
	if err == nil {
		err = s.dropFormer() // all of it is in the file now
	}
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	return nil
}

// jsonList is a list of numbers as JSON, for json_each.
func jsonList(ids []int) string { return strings.ReplaceAll(fmt.Sprint(ids), " ", ",") }
