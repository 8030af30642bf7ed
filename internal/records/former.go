package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
)

// Versions up to 0.1 kept records as lines of JSON in a file for each day, and each output in a file. These are taken
// over once. What had been made of transcripts is made again.

func (s Store) hasFormer() bool {
	_, err := os.Stat(filepath.Join(s.Dir, "counter"))
	return err == nil
}

// formerLine is a record, or a mark on one.
type formerLine struct {
	Record
	Hide *int   `json:"hide,omitempty"`
	Show *int   `json:"show,omitempty"`
	Of   string `json:"of,omitempty"`   // the call of a record that a mark hides or shows
	Gone string `json:"gone,omitempty"` // the call of a record that was scrubbed
}

// takeFormerRecords stores what a former version kept, where no record was ever numbered here.
func (s Store) takeFormerRecords(ctx context.Context, tx *db.Tx) error {
	if !s.hasFormer() {
		return nil
	}
	numbered := false
	err := db.Each(ctx, tx, func(*db.Rows) error { numbered = true; return nil },
		"SELECT seq FROM sqlite_sequence WHERE name = 'records'")
	if err != nil || numbered {
		return err
	}
	files, err := os.ReadDir(s.Dir)
	for _, f := range files {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(f.Name(), ".ndjson") {
			continue
		}
		var data []byte
		data, err = os.ReadFile(filepath.Join(s.Dir, f.Name()))
		for line := range bytes.Lines(data) {
			var l formerLine
			if err == nil && json.Unmarshal(line, &l) == nil { // else a process died while it wrote the line
				err = s.takeFormerLine(ctx, tx, l)
			}
		}
	}
	last, _ := os.ReadFile(filepath.Join(s.Dir, "counter"))
	if n, bad := strconv.Atoi(strings.TrimSpace(string(last))); err == nil && bad == nil {
		err = errors.Join(tx.Exec(ctx, "DELETE FROM sqlite_sequence"),
			tx.Exec(ctx, "INSERT INTO sqlite_sequence VALUES ('records', ?)", n))
	}
	return err
}

func (s Store) takeFormerLine(ctx context.Context, tx *db.Tx, l formerLine) error {
	switch {
	case l.Gone != "":
		return tx.Exec(ctx, "INSERT OR REPLACE INTO marks VALUES (?, ?)", l.Gone, scrubbed)
	case l.Of != "" && l.Hide != nil:
		return tx.Exec(ctx, "INSERT INTO marks VALUES (?, ?) ON CONFLICT DO NOTHING", l.Of, hidden)
	case l.Hide != nil:
		return tx.Exec(ctx, "INSERT INTO marks VALUES (?, ?) ON CONFLICT DO NOTHING", *l.Hide, hidden)
	case l.Of != "" && l.Show != nil:
		return tx.Exec(ctx, "DELETE FROM marks WHERE record = ? AND mark = ?", l.Of, hidden)
	case l.Show != nil:
		return tx.Exec(ctx, "DELETE FROM marks WHERE record = ?", strconv.Itoa(*l.Show))
	case l.ID == 0:
		return nil
	}
	id, err := s.insert(ctx, tx, l.Record)
	if err == nil {
		err = tx.Exec(ctx, "UPDATE records SET id = ? WHERE id = ?", l.ID, id)
	}
	if packed, bad := os.ReadFile(filepath.Join(s.Dir, "raw", strconv.Itoa(l.ID)+".zst")); err == nil && bad == nil {
		err = tx.Exec(ctx, "INSERT INTO outputs VALUES (?, ?, ?)", l.ID, l.At, packed)
	}
	return err
}

// dropFormer removes what was taken over.
func (s Store) dropFormer() error {
	if !s.hasFormer() {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(s.Dir, "*.ndjson"))
	for _, path := range append(files, filepath.Join(s.Dir, "raw"), filepath.Join(s.Dir, "transcripts"),
		filepath.Join(s.Dir, "counter")) {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}
