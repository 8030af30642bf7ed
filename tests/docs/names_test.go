package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestNames: a function that a package keeps to itself has a name that at most one other package uses, so that a search
// for it finds what is meant. init is Go's own.
func TestNames(t *testing.T) {
	root := filepath.Join(harness.Root(t), "internal")
	packages := map[string][]string{} // by function
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		in := filepath.Dir(path)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && !fn.Name.IsExported() && fn.Name.Name != "init" &&
				!slices.Contains(packages[fn.Name.Name], in) {
				packages[fn.Name.Name] = append(packages[fn.Name.Name], in)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range packages {
		if len(in) > 2 {
			t.Errorf("%s is a function of %d packages: %s", name, len(in), strings.Join(in, ", "))
		}
	}
}

// TestTiers: -short leaves out the long tests of each package, as package harness sees to it.
func TestTiers(t *testing.T) {
	long := regexp.MustCompile(`(?m)^func Test(Long|Night)`)
	has, knows := map[string]bool{}, map[string]bool{} // by folder
	err := filepath.WalkDir(harness.Root(t), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".build" { // other versions may lie there
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		in := filepath.Dir(path)
		has[in] = has[in] || long.Match(text)
		knows[in] = knows[in] || strings.Contains(string(text), module+"tests/harness")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for in := range has {
		if has[in] && !knows[in] {
			t.Errorf("%s has long tests, and no test that imports tests/harness", in)
		}
	}
}

func TestLongTierIsNotShort(t *testing.T) {
	if testing.Short() {
		t.Error("-short runs long tests")
	}
}
