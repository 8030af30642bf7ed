// Package harness is what all tests stand on: a folder with a home and real git in it (place.go), the one
// binary that end-to-end tests run (binary.go), and the real data beside the repository (data.go).
//
// `go test` keeps a result as long as what the test looked at stays the same, and it only sees what a test
// reads inside the module and in the environment. So Binary looks at the sources that it builds, and Data
// at REKAL_DATA_SUM, which the Makefile sets to what lies there.
package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// With -short only the first tier runs (CONTRIBUTING.md), unless -skip says what does not.
var _ = func() bool {
	short := slices.Contains(os.Args, "-test.short=true") &&
		!slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.skip=") })
	if short {
		os.Args = slices.Insert(os.Args, 1, "-test.skip=^Test(Long|Night)") // package testing reads them later
	}
	return short
}()

// Equal fails the test where the two differ, and shows how. Nil and empty are the same.
func Equal(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%.10000s", what, diff)
	}
}

// Redactor has the rules that need nothing from outside. There is one in a process, since its rules are
// compiled when the first text needs them.
var Redactor = sync.OnceValue(redact.New)

// root is the folder of the module; the tests of a package run in the package's folder.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", os.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	return "", err
})

// Root is the folder of the module.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatalf("the module's folder: %v", err)
	}
	return dir
}
