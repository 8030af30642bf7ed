package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// What is installed with a program is looked for where packages put it, from the file that a link leads to, too, and
// nowhere else.
func TestBeside(t *testing.T) {
	root := t.TempDir()
	put := func(path string) string {
		t.Helper()
		path = filepath.Join(root, path)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, nil, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	full, small := put("usr/libexec/git-rekal/git-rekal-full"), put("usr/bin/git-rekal")
	link := filepath.Join(root, "link")
	if err := os.Symlink(small, link); err != nil {
		t.Fatal(err)
	}
	built := put("build/bin/git-rekal")
	put("bin/git-rekal-full") // a stranger's
	t.Chdir(filepath.Dir(full))
	for exe, want := range map[string]string{small: full, link: full, built: "", "": "", "git-rekal": ""} {
		got, err := beside(exe, fullName, "../libexec/git-rekal", errNoFull)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("beside %q: %q, %v, want %q", exe, got, err, want)
		}
	}
	if got, err := beside(full, smallName, "../../bin", errNoFull); err != nil || got != small {
		t.Errorf("the small one: %q, %v", got, err)
	}
}
