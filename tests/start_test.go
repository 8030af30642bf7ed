package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// fullOnly are libraries that cost each start milliseconds, or the program megabytes.
var fullOnly = []string{
	"github.com/marcboeker/go-duckdb", "github.com/yuin/goldmark", "github.com/alecthomas/chroma", "charm.land/bubbletea",
	"gonum.org/",
	"github.com/modelcontextprotocol/go-sdk", "github.com/creachadair/jrpc2", "github.com/google/jsonschema-go",
	"html/template", "encoding/gob", "encoding/xml",
}

// Nothing that a commit or a question starts holds a heavy library.
func TestSmallProgram(t *testing.T) {
	harness.Binary(t) // go test does not see what go list reads
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./git-rekal")
	cmd.Dir = harness.Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.Lines(string(out)) {
		for _, heavy := range fullOnly {
			if strings.HasPrefix(pkg, heavy) {
				t.Errorf("git-rekal holds %s", strings.TrimSpace(pkg))
			}
		}
	}
}

// maxStart is how many bytes the start of a package may make; more costs time that no command gets back.
const maxStart = 20 << 10

// What packages make before main runs is bounded: tables are made when they are used.
func TestStart(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(harness.Binary(t), "git-rekal"), "-h")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes`)
	found := form.FindAllStringSubmatch(stderr.String(), -1)
	if len(found) < 50 {
		t.Fatalf("%d packages in the trace:\n%s", len(found), stderr.String())
	}
	for _, m := range found {
		bytes, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if bytes > maxStart {
			t.Errorf("the start of %s makes %d bytes, at most %d are allowed", m[1], bytes, maxStart)
		}
	}
}
