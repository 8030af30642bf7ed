// Package statedb keeps what this clone knows beside its ledgers and its index, in one SQLite file in git-rekal's
// folder of the git directory:
//
//	state.db
//	    texts   one text by name: how far capture read, whose lines HEAD has, which fetched ledgers were taken in,
//	            what was said of hooks, which commits HEAD and the branches reach, and which were reverted
//	    edits   what sessions did to files, as prints of lines, by path
//
// In and out: rows. What they say is the business of the packages that write them.
//
// Files of their own remain of what no process can make again (fingerprints of secrets, which outlive a damaged
// database as lines; the list of what init added, which says that a repository is set up before anything is opened), of
// what a shell reads (which hook ran), of the embedding server (its package knows nothing of ours), and of the words of
// a large tree: 40 MB must not be written while a commit waits for the lock.
//
// Promises: a change is all or nothing for other processes, and after a kill; none waits long for another process,
// since a commit may wait for it. Everything can be made again, from ledgers, transcripts and the code. So no change
// waits for the disk, a file that is damaged or of a former version is made anew. In a file of a later version, and
// where the folder is gone, as after a clean, nothing is read and nothing changed.
package statedb

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/lock"
)

// Names in the folder: the file, and the lock of who makes it anew.
const (
	file     = "state.db"
	lockFile = "lock.state"
)

// patience is how long one waits for other processes. Who reads waits only while a change is written to the file, a few
// milliseconds; a change waits for the whole of another one, which the edits of a large round may make a tenth of a
// second.
const patience = time.Second

// texts has rows of their own (WITHOUT ROWID, to compare two names would read the texts behind them).
func layout() db.Layout {
	return db.Layout{
		Application: 0x72656b73, // "reks"
		Version:     2,
		Temporary:   patience,
		Tables: `
CREATE TABLE texts (name TEXT PRIMARY KEY, sum INTEGER NOT NULL, text BLOB NOT NULL);
CREATE TABLE edits (path TEXT NOT NULL, sum INTEGER NOT NULL, line BLOB NOT NULL, UNIQUE (path, sum));
INSERT INTO texts VALUES ('born', 0, hex(randomblob(8)));`,
	}
}

// Read asks the database of a folder. Of one that is not there, or is damaged, nothing is asked.
func Read(ctx context.Context, dir string, ask func(db.Querier) error) error {
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		return nil //nolint:nilerr // what can't be looked at says nothing
	}
	err := open(ctx, dir, func(d *db.DB) error { return ask(d) })
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		var d *db.DB
		if d, err = layout().Open(ctx, filepath.Join(dir, file), db.ReadOnly); err == nil {
			err = errors.Join(ask(d), d.Close())
		}
	}
	return err
}

// Change changes the database of a folder in one transaction.
func Change(ctx context.Context, dir string, do func(context.Context, *db.Tx) error) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return open(ctx, dir, func(d *db.DB) error { return d.Change(ctx, do) })
}

// open opens the database, and makes it anew where it is damaged or of another version, also where use finds that. One
// process does that at a time, and only if use fails again: another one may have done it meanwhile. What a later
// version made is left alone, and where the folder is gone nothing is done.
func open(ctx context.Context, dir string, use func(*db.DB) error) error {
	err := once(ctx, dir, use)
	if isDamaged(err) {
		var held *lock.Lock
		if held, err = lock.Acquire(ctx, filepath.Join(dir, lockFile), lock.ToWrite, patience); err == nil {
			if err = once(ctx, dir, use); isDamaged(err) {
				if err = remove(dir); err == nil {
					err = once(ctx, dir, use)
				}
			}
			err = errors.Join(err, held.Remove())
		}
	}
	if _, gone := os.Stat(dir); err == nil || errors.Is(err, db.ErrNewer) || errors.Is(gone, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("state: %w", err)
}

func once(ctx context.Context, dir string, use func(*db.DB) error) error {
	d, err := layout().Open(ctx, filepath.Join(dir, file), db.ReadWrite)
	if err != nil {
		return err
	}
	return errors.Join(use(d), d.Close())
}

func isDamaged(err error) bool {
	return errors.Is(err, db.ErrCorrupt) || errors.Is(err, db.ErrSchema) && !errors.Is(err, db.ErrNewer)
}

// remove removes the database of a folder, with its log.
func remove(dir string) (err error) {
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if gone := os.Remove(filepath.Join(dir, file+end)); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// Text is the text of a name; nil for none, or where it can't be read. born tells what was kept from what was forgotten
// since or made anew.
func Text(ctx context.Context, dir, name string) (text []byte, born string) {
	var sum uint32
	err := Read(ctx, dir, func(q db.Querier) error {
		return db.Each(ctx, q, func(rows *db.Rows) error { return rows.Scan(&born, &sum, &text) },
			"SELECT b.text, coalesce(t.sum, 0), t.text FROM texts b LEFT JOIN texts t ON t.name = ? WHERE b.name = 'born'", name)
	})
	if err != nil {
		return nil, ""
	}
	if sum != crc32.ChecksumIEEE(text) { // SQLite itself does not see each damage
		return nil, born
	}
	return text, born
}

// shortText is the size of the longest text that ShortTexts reads, in bytes.
const shortText = 64 << 10

// ShortTexts are all short texts, by name; nil for one that Text has to read. Of what can't be read there is none.
func ShortTexts(ctx context.Context, dir string) map[string][]byte {
	out := map[string][]byte{}
	var name string
	var sum uint32
	var text []byte
	err := Read(ctx, dir, func(q db.Querier) error {
		clear(out) // of a file that was damaged further on
		return db.Each(ctx, q, func(rows *db.Rows) error {
			err := rows.Scan(&name, &sum, &text)
			if text == nil || sum == crc32.ChecksumIEEE(text) {
				out[name] = text
			}
			return err
		}, "SELECT name, sum, CASE WHEN length(text) <= ? THEN text END FROM texts", shortText)
	})
	if err != nil {
		clear(out)
	}
	return out
}

// Forget removes the text of a name, and all edits. Who goes by what was there has its SetText do nothing.
func Forget(ctx context.Context, dir, name string) error {
	return Change(ctx, dir, func(ctx context.Context, tx *db.Tx) error {
		return tx.Exec(ctx, "DELETE FROM edits; DELETE FROM texts WHERE name = ?; UPDATE texts SET text = hex(randomblob(8)) WHERE name = 'born'", name)
	})
}

// SetText replaces the text of a name. Where born is not "" it does nothing in a database that was made anew since, or
// made to forget.
func SetText(ctx context.Context, dir, name string, text []byte, born string) error {
	return Change(ctx, dir, func(ctx context.Context, tx *db.Tx) error {
		return tx.Exec(ctx, `INSERT OR REPLACE INTO texts SELECT ?1, ?2, ?3 WHERE ?4 IN ('', (SELECT text FROM texts WHERE name = 'born'))`,
			name, crc32.ChecksumIEEE(text), text, born)
	})
}
