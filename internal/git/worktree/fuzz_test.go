package worktree

import (
	"strings"
	"testing"
)

// FuzzReadIndex: an index is read as far as it can be, and each of its names is found again where they are in order.
func FuzzReadIndex(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, oid := range []int{20, 32} {
			namesAgain(t, readIndex(raw, oid))
		}
	})
}

func namesAgain(t *testing.T, x *index) {
	t.Helper()
	last, ordered := "", true
	for i := range x.len() {
		e := x.entry(i)
		_, name := e.oid(), string(e.name)
		ordered = ordered && name > last
		last = name
		if _, ok := x.find(name); ordered && x.len() == i+1 && !ok {
			t.Fatalf("%q is in the index, and not found", name)
		}
	}
	if _, ok := x.find(last + "\x00"); ok && !strings.HasSuffix(last, "/") && ordered {
		t.Fatalf("behind %q something is found", last)
	}
}
