package db_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/db"
)

// crowd is an index with n sessions of two turns and a path each.
func crowd(t *testing.T, n int) (*db.DB, []string) {
	t.Helper()
	d, err := db.Open(t.Context(), t.TempDir()+"/recall.db", db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	tx, err := d.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	var touches []db.Touch
	for i := range n {
		id := fmt.Sprintf("it's %03d", i)
		ids = append(ids, id)
		touches = append(touches, db.Touch{Path: fmt.Sprintf("src/%d.go", i%7), Session: id})
		err = tx.Exec(t.Context(), `INSERT INTO facets (session, actor_type, source, captured_at, turns, tools, files, title, kind)
			VALUES (?, 'human', 's', 1, 2, 0, 1, ?, 'session')`, id, "of "+id)
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time changes nothing
		if err := tx.AddTouches(t.Context(), touches); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d, ids
}

// TestFewAndMany asks for no row, for one and for many.
func TestFewAndMany(t *testing.T) {
	d, ids := crowd(t, 120)
	for _, n := range []int{0, 1, 50, 51, 120} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			titles := map[string]string{}
			for _, id := range ids[:n] {
				titles[id] = "of " + id
			}
			facets, err := d.Facets(t.Context(), ids[:n])
			gotTitles := map[string]string{}
			for id, f := range facets {
				gotTitles[id] = f.Title
			}
			if diff := cmp.Diff(titles, gotTitles); err != nil || diff != "" {
				t.Errorf("facets: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestMatchingFile(t *testing.T) {
	d, ids := crowd(t, 20)
	for pattern, want := range map[string][]string{
		`/3\.go$`:     {ids[3], ids[10], ids[17]},
		`src/[01]`:    {ids[0], ids[1], ids[7], ids[8], ids[14], ids[15]},
		`^src/12.go$`: nil,
	} {
		got, err := d.MatchingIDs(t.Context(), db.Filter{Paths: []db.Paths{{Match: pattern}}})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", pattern, err, diff)
		}
	}
	rows, err := d.Query(t.Context(), "SELECT (SELECT count(*) FROM paths), (SELECT count(*) FROM touches)")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names, pairs int
	for rows.Next() {
		if err := rows.Scan(&names, &pairs); err != nil {
			t.Fatal(err)
		}
	}
	if names != 7 || pairs != 20 {
		t.Errorf("%d names, %d pairs, want 7 and 20", names, pairs)
	}
}
