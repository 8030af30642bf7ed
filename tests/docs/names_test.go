package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestNames: a function that a package keeps to itself has a name that at most one other package uses, so that a search for it finds what
// is meant. init is Go's own.
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
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && !fn.Name.IsExported() && fn.Name.Name != "init" && !slices.Contains(packages[fn.Name.Name], in) {
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
