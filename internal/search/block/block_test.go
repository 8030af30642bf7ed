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
	if len(w.Blocks) < 3 || len(w.Fence) != len(w.Blocks) {
		t.Fatalf("%d blocks, fence of %d", len(w.Blocks), len(w.Fence))
	}
	got := make(map[string]string)
	for i, b := range w.Blocks {
		err := block.Each(b, func(key string, value []byte) error {
			got[key] = string(value)
			if n := w.Fence.Find(key); n != i {
				t.Errorf("Find(%q) = %d, want %d", key, n, i)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
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

func FuzzEach(f *testing.F) {
	var w block.Writer
	w.Add("alpha", []byte("1"))
	w.Add("alphabet", []byte{})
	w.Add("beta", []byte("22"))
	w.Flush()
	f.Add(w.Blocks[0])
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{5, 1, 'a', 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		type entry struct {
			key   string
			value []byte
		}
		var got []entry
		err := block.Each(data, func(key string, value []byte) error {
			got = append(got, entry{key, value})
			return nil
		})
		if err != nil && !errors.Is(err, block.ErrFormat) {
			t.Errorf("error = %v", err)
		}
		_, _ = block.DecodeFence(data)
	})
}
