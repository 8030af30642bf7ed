package notes_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/notes"
)

func TestRename(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"see `src/a.py`.", "see `lib/b.py`."},
		{"src/a.py is old, src/a.py:12 too", "lib/b.py is old, lib/b.py:12 too"},
		{"It is src/a.py.", "It is lib/b.py."},
		{"run ./src/a.py, not ../src/a.py", "run ./lib/b.py, not ../src/a.py"},
		{"web/src/a.py is another", ""},
		{"src/a.pyc, src/a.py.bak, my-src/a.py and src/a.py/x are others", ""},
		{"web/src/a.py, not src/a.py", "web/src/a.py, not lib/b.py"},
		{"", ""},
	} {
		got, is := notes.Rename(c.line, "src/a.py", "lib/b.py")
		if want := c.want; want == "" && (got != c.line || is) || want != "" && (got != want || !is) {
			t.Errorf("%q became %q, %t", c.line, got, is)
		}
	}
}
