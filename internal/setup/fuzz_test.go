package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/hooks"
	"github.com/git-rekal/git-rekal/templates"
)

// FuzzOurScript: a hook is ours only when it is what we wrote, whatever binary it names; what is
// somebody else's is never taken for it.
func FuzzOurScript(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, binary string) {
		for _, name := range hooks.Names() {
			ours := hooks.Script(name, quoteForShell(binary), "..")
			if !templates.Unedited(ours) {
				t.Fatalf("our own %s with %q is not ours", name, binary)
			}
			if strings.Count(ours, "\n") != strings.Count(hooks.Script(name, quoteForShell("/x"), ".."), "\n") {
				t.Fatalf("%q takes more than its line", binary)
			}
			if text != "" && templates.Unedited(ours+text) ||
				templates.Unedited(text) && !strings.Contains(text, hooks.BinaryLine) {
				t.Fatalf("%q counts as our %s", text, name)
			}
			_, _, _ = callsRekal(text, name), dependsOnName(text), isLefthook(text)
		}
	})
}

// FuzzRecord: whatever stands in .git/rekal/made, what clean takes away is empty, and is below the
// repository.
func FuzzRecord(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		root := t.TempDir()
		tree := filepath.Join(root, "a", "repo")
		l := Layout{
			WorkTree: tree, CommonDir: filepath.Join(tree, ".git"), RekalDir: filepath.Join(tree, ".git/rekal"),
			HooksDir: filepath.Join(tree, ".git", "hooks"), Exclude: filepath.Join(tree, ".git", "info", "exclude"),
		}
		for _, dir := range []string{l.RekalDir, l.HooksDir, filepath.Dir(l.Exclude), filepath.Join(root, "b")} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		keep := filepath.Join(root, "c")
		if err := os.WriteFile(keep, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(l.RekalDir, "made"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := readRecord(l)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.remove(&Report{})
		for _, path := range []string{keep, filepath.Join(root, "b")} {
			if _, err := os.Lstat(path); err != nil {
				t.Fatalf("%q takes %s away", text, path)
			}
		}
	})
}
