package block_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/google/go-cmp/cmp"
)

func TestWriterAndFence(t *testing.T) {
	var w block.Writer
	want := make(map[string]string)
	for i := range 5000 {
		key, value := fmt.Sprintf("key%06d", i*2), fmt.Sprint("value ", i)
		want[key] = value
		w.Add(key, []byte(value))
	}
	w.Flush()
	data := slices.Clone(w.Take())
	if len(w.Fence.Keys) < 3 || w.Fence.End() != int64(len(data)) || len(w.Take()) > 0 {
		t.Fatalf("%d blocks, an end at %d of %d bytes", len(w.Fence.Keys), w.Fence.End(), len(data))
	}
	got := make(map[string]string)
	for key := range want {
		from, to := w.Fence.Find(key)
		e := block.NewEntries(data[from:to])
		for e.Next() {
			if string(e.Key) == key {
				got[key] = string(e.Value)
			}
		}
		if err := e.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if from, to := w.Fence.Find("a"); from < to {
		t.Errorf("before the first key there is %d to %d", from, to)
	}
	fence, err := block.DecodeFence(block.AppendFence(nil, w.Fence))
	if diff := cmp.Diff(w.Fence, fence); err != nil || diff != "" {
		t.Errorf("fence: %v (-want +got):\n%s", err, diff)
	}
}

// TestEntriesInPieces checks that records may be cut anywhere.
func TestEntriesInPieces(t *testing.T) {
	var w block.Writer
	for i := range 100 {
		w.Add(fmt.Sprintf("key%03d", i), bytes.Repeat([]byte{byte(i)}, i))
	}
	w.Flush()
	data := w.Take()
	rest := data
	e := block.NextEntries(func() ([]byte, error) {
		n := min(7, len(rest))
		piece := rest[:n]
		rest = rest[n:]
		return piece, nil
	})
	n := 0
	for ; e.Next(); n++ {
		if string(e.Key) != fmt.Sprintf("key%03d", n) || len(e.Value) != n || n > 0 && e.Value[0] != byte(n) {
			t.Fatalf("entry %d is %q, %v", n, e.Key, e.Value)
		}
	}
	if e.Err() != nil || n != 100 {
		t.Errorf("%d entries, %v", n, e.Err())
	}
	cut := block.NewEntries(data[:len(data)-1])
	for cut.Next() {
	}
	if !errors.Is(cut.Err(), block.ErrFormat) {
		t.Errorf("cut data gives %v", cut.Err())
	}
}

func FuzzEntries(f *testing.F) {
	var w block.Writer
	w.Add("alpha", []byte("1"))
	w.Add("alphabet", []byte{})
	w.Add("beta", []byte("22"))
	w.Flush()
	f.Add(slices.Clone(w.Take()))
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{5, 1, 'a', 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		e := block.NewEntries(data)
		for e.Next() {
		}
		if err := e.Err(); err != nil && !errors.Is(err, block.ErrFormat) {
			t.Errorf("error = %v", err)
		}
		_, _ = block.DecodeFence(data)
	})
}
