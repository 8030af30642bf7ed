package db_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
)

// TestRuns writes runs of several pages and reads spans of them, in the transaction that made
// them and after it.
func TestRuns(t *testing.T) {
	ctx := t.Context()
	d, err := db.Open(ctx, filepath.Join(t.TempDir(), "recall.db"), db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	want := map[int][]byte{0: pattern(3_000_000, 1), 1: pattern(10, 2), 2: pattern(8000, 3)}
	tx, err := d.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for run, data := range want {
		w := tx.NewRun(ctx, run)
		for piece := range bytes.Lines(data) { // pieces of many lengths
			w.Write(piece)
		}
		if err := w.Close(); err != nil || w.Size() != int64(len(data)) {
			t.Fatalf("run %d: %d bytes of %d, %v", run, w.Size(), len(data), err)
		}
	}
	spans := []db.Span{
		{Run: 0, From: 0, To: 3_000_000},
		{Run: 2, From: 3999, To: 4001},
		{Run: 1, From: 3, To: 10},
		{Run: 0, From: 2_999_999, To: 3_000_000},
		{Run: 0, From: 1_234_567, To: 1_250_000},
		{Run: 0, From: 5, To: 5},
		{Run: 2, From: 4000, To: 8000},
	}
	check := func(q db.Querier) {
		t.Helper()
		got, err := db.ReadSpans(ctx, q, spans)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range spans {
			if !bytes.Equal(got[i], want[s.Run][s.From:s.To]) {
				t.Errorf("span %v is not what was written", s)
			}
		}
	}
	check(tx)
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	check(d)
	again, err := d.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Rollback()
	check(again)
}

// TestLargeRun reads a run of thousands of pages, hundreds of pages apart.
func TestLargeRun(t *testing.T) {
	ctx := t.Context()
	d, err := db.Open(ctx, filepath.Join(t.TempDir(), "recall.db"), db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const tableSize = 4 << 20
	want := pattern(2*tableSize+100_000, 7)
	tx, err := d.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, size := range []int{tableSize, 2 * tableSize, len(want)} { // the last stays
		w := tx.NewRun(ctx, size)
		w.Write(want[:size])
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	spans := []db.Span{
		{From: tableSize - 3, To: tableSize + 3},
		{From: 10, To: int64(len(want)) - 10},
		{From: 2 * tableSize, To: 2*tableSize + 1},
	}
	for at := int64(0); at < int64(len(want))-5; at += 100_000 {
		spans = append(spans, db.Span{From: at, To: at + 5})
	}
	for i := range spans {
		spans[i].Run = len(want)
	}
	check := func(q db.Querier) {
		t.Helper()
		for _, some := range [][]db.Span{spans, spans[:1], spans[2:]} {
			got, err := db.ReadSpans(ctx, q, some)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range some {
				if !bytes.Equal(got[i], want[s.From:s.To]) {
					t.Errorf("span %v is not what was written", s)
				}
			}
		}
	}
	check(tx)
	for _, size := range []int{tableSize, 2 * tableSize} {
		if err := tx.DropRun(ctx, size); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	check(d)
	rows, err := d.Query(ctx, "SELECT count(DISTINCT page >> 32) FROM runs")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var left int
	if rows.Next(); rows.Scan(&left) != nil || left != 1 {
		t.Errorf("%d runs are left, not 1", left)
	}
}

// pattern is bytes that differ from place to place.
func pattern(n int, seed uint32) []byte {
	out := make([]byte, n)
	for i := range out {
		seed = seed*1664525 + 1013904223
		out[i] = byte(seed >> 24)
	}
	return out
}

// TestSpansThatAreNotThere checks that a damaged header, which asks for anything, is damage.
func TestSpansThatAreNotThere(t *testing.T) {
	ctx := t.Context()
	d, err := db.Open(ctx, filepath.Join(t.TempDir(), "recall.db"), db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tx, err := d.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	w := tx.NewRun(ctx, 0)
	w.Write(pattern(9000, 1))
	if err := errors.Join(w.Close(), tx.Commit(ctx)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []db.Span{
		{Run: 0, From: 0, To: 9001},
		{Run: 0, From: 9000, To: 9001},
		{Run: 0, From: 100, To: 1 << 60},
		{Run: 0, From: 1 << 60, To: 1<<60 + 5},
		{Run: 0, From: -5000, To: 10},
		{Run: 7, From: 0, To: 10},
	} {
		if _, err := db.ReadSpans(context.Background(), d, []db.Span{s}); !errors.Is(err, db.ErrCorrupt) &&
			!errors.Is(err, db.ErrSchema) {
			t.Errorf("span %v gives %v", s, err)
		}
	}
}
