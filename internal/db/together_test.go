package db_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestTogether has three sessions that changed a.go with b.go, one of them purged, and one that changed a.go with c.go.
func TestTogether(t *testing.T) {
	ctx := t.Context()
	ids := []string{
		"01KAB3F9AAAAAAAAAAAAAAAAA1", "01KAB3F9AAAAAAAAAAAAAAAAA2", "01KAB3F9AAAAAAAAAAAAAAAAA3",
		"01KAB3F9AAAAAAAAAAAAAAAAA4",
	}
	path := sessions(t, ids...)
	w, err := db.Open(ctx, path, db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := w.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var shares []db.FileRow
	var touches []db.Touch
	for i, id := range ids {
		other := "dir/b.go"
		if i == 3 {
			other = "c.go"
		}
		for _, file := range []string{"a.go", other} {
			for checkpoint := range 2 { // twice in one session is once
				shares = append(shares, db.FileRow{Checkpoint: fmt.Sprint(i, checkpoint), Session: id, Path: file, Change: "M"})
			}
			touches = append(touches, db.Touch{Path: file, Session: id})
		}
		for _, path := range []string{"/etc/passwd", "dir", "dir/edited.go", "dir/read.go"} {
			touches = append(touches, db.Touch{Path: path, Session: id})
		}
		err = errors.Join(err, tx.Exec(ctx, `INSERT OR REPLACE INTO facets (session, actor_type, source, captured_at, turns, tools, files, title, kind)
			VALUES (?, 'human', 'codex', ?, 3, 2, 2, ?, 'session')`, id, noon.UnixMicro()+int64(i), "title "+id[25:]))
	}
	err = errors.Join(err, tx.AppendShares(ctx, shares), tx.AddTouches(ctx, touches),
		tx.Exec(ctx, `INSERT INTO tool_calls (session, i, turn, tool, act, path, failed) VALUES (?1, 900, 0, 'Edit', 'edit', 'dir/edited.go', 0), (?1, 901, 0, 'Grep', 'read', 'dir', 0), (?1, 902, 0, 'Edit', 'edit', 'dir', 1)`, ids[3]),
		tx.Exec(ctx, `INSERT INTO purged VALUES (?)`, ids[0]), tx.Commit(ctx), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	d := openData(t, path)

	pairs, err := d.ChangedTogether(ctx, "", 10)
	harness.Equal(t, "pairs of more than one session", []db.Pair{{A: "a.go", B: "dir/b.go", Sessions: 2}}, pairs)
	near, err2 := d.ChangedTogether(ctx, "a.go", 10)
	harness.Equal(t, "with a.go", []db.Pair{{A: "a.go", B: "dir/b.go", Sessions: 2}, {A: "a.go", B: "c.go", Sessions: 1}},
		near)
	of, err3 := d.ChangedTogether(ctx, "dir/b.go", 1)
	harness.Equal(t, "with dir/b.go", []db.Pair{{A: "dir/b.go", B: "a.go", Sessions: 2}}, of)
	stands := func(path string) bool { return path == "dir/read.go" }
	all, err4 := d.Touched(ctx, "", 10, stands)
	edited, read, b := db.Touched{Path: "dir/edited.go", Sessions: 3}, db.Touched{Path: "dir/read.go", Sessions: 3},
		db.Touched{Path: "dir/b.go", Sessions: 2}
	harness.Equal(t, "files of the repository, and no folder",
		[]db.Touched{{Path: "a.go", Sessions: 3}, edited, read, b, {Path: "c.go", Sessions: 1}}, all)
	some, err5 := d.Touched(ctx, "DIR/", 2, stands)
	harness.Equal(t, "two of a folder", []db.Touched{edited, read}, some)
	list, total, err6 := d.List(ctx, db.ListQuery{Skip: 1, Limit: 1})
	harness.Equal(t, "the second of three", []db.Listed{{
		ID: ids[2], Kind: db.KindSession, Title: "title 3",
		Source: "codex", At: noon.Add(2000), Turns: 3, Files: 2,
	}}, list)
	if err := errors.Join(err, err2, err3, err4, err5, err6); err != nil || total != 3 {
		t.Errorf("%d in all, %v", total, err)
	}
}
