package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// unpack writes what a commit holds into a new folder.
func (s *store) unpack(id git.OID) string {
	s.T.Helper()
	dir := s.T.TempDir()
	s.git("--work-tree="+dir, "checkout", "-q", string(id), "--", ".")
	return dir
}

// A ledger in a folder has the segments that it had, whoever wrote them, and nothing else of
// what lies there.
func TestFolder(t *testing.T) {
	s := newStore(t)
	var tip git.OID
	for _, n := range []int{1, 2, 3} {
		tip = s.writes("a@example.com", n)
	}
	dir := s.unpack(tip)
	f, err := ledger.OpenFolder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	sum := f.Sum()
	write(t, filepath.Join(dir, "segments", "notes.txt"), "mine")
	write(t, filepath.Join(dir, "segments", "2026", "11", "20", "01M7W59H3G669C5312M9CY0001.txt"), "mine")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "segments", "2026", "11", "20", name(1))); err != nil {
		t.Fatal(err)
	}
	if f, err = ledger.OpenFolder(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "sum beside other files", sum, f.Sum())
	repo, err := git.Init(t.Context(), filepath.Join(t.TempDir(), "into"))
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if err := f.Into(t.Context(), repo); err != nil {
		t.Fatal(err)
	}
	heads, err := ledger.Heads(repo)
	if err != nil || len(heads) != 1 {
		t.Fatal(heads, err)
	}
	harness.Equal(t, "notes", []int{1, 2, 3}, notes(t, repo, since(t, repo, heads[0].OID)))
	write(t, filepath.Join(dir, "segments", "2026", "11", "20", name(2)), "")
	if f, err = ledger.OpenFolder(t.Context(), dir); err != nil || f.Sum() == sum {
		t.Errorf("the sum stays with one more segment: %v", err)
	}
}

// More segments than one commit may add are read as well.
func TestLongFolder(t *testing.T) {
	dir, want := t.TempDir(), []int(nil)
	day := filepath.Join(dir, "segments", "2026", "11", "20")
	if err := os.MkdirAll(day, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "format"), "1\n")
	for n := range 1001 {
		write(t, filepath.Join(day, name(n)), purge(n))
		want = append(want, n)
	}
	f, err := ledger.OpenFolder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := git.Init(t.Context(), filepath.Join(t.TempDir(), "into"))
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if err := f.Into(t.Context(), repo); err != nil {
		t.Fatal(err)
	}
	heads, err := ledger.Heads(repo)
	if err != nil || len(heads) != 1 {
		t.Fatal(heads, err)
	}
	harness.Equal(t, "notes", want, notes(t, repo, since(t, repo, heads[0].OID)))
}

func TestNoLedgerInFolder(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"empty":             {},
		"another format":    {"format": "2\n"},
		"an endless format": {"format": strings.Repeat("1", 1000)},
		"segments alone":    {"segments/2026/11/20/01M7W59H3G669C5312M9CY0001.ndjson": ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, text := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, path), text)
			}
			if _, err := ledger.OpenFolder(t.Context(), dir); !errors.Is(err, ledger.ErrFormat) {
				t.Errorf("%v, want ErrFormat", err)
			}
		})
	}
}
