package block_test

import (
	"errors"
	"fmt"
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
	blocks := w.Take()
	if len(blocks) < 3 || len(w.Fence) != len(blocks) || len(w.Take()) > 0 {
		t.Fatalf("%d blocks, fence of %d, or more", len(blocks), len(w.Fence))
	}
	got := make(map[string]string)
	for i, b := range blocks {
		e := block.NewEntries(b)
		for e.Next() {
			got[string(e.Key)] = string(e.Value)
			if n := w.Fence.Find(string(e.Key)); n != i {
				t.Errorf("Find(%q) = %d, want %d", e.Key, n, i)
			}
		}
		if err := e.Err(); err != nil {
			t.Fatal(err)
		}
	}
	all := 0
	for e := block.NewEntries(blocks...); e.Next(); {
		all++
	}
	if all != len(want) {
		t.Errorf("%d entries in one walk, want %d", all, len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if n := w.Fence.Find("a"); n != -1 {
		t.Errorf("Find before the first key = %d, want -1", n)
	}
	fence, err := block.DecodeFence(block.AppendFence(nil, w.Fence))
	if diff := cmp.Diff(w.Fence, fence); err != nil || diff != "" {
		t.Errorf("fence: %v (-want +got):\n%s", err, diff)
	}
}

func FuzzEntries(f *testing.F) {
	var w block.Writer
	w.Add("alpha", []byte("1"))
	w.Add("alphabet", []byte{})
	w.Add("beta", []byte("22"))
	w.Flush()
	f.Add(w.Take()[0])
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
