// Package docs_test compares what the documents say of the code with the code: the drawing of the packages, what asks
// what, and the files that CONTRIBUTING.md names.
package docs_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

const module = "github.com/git-rekal/git-rekal/"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is what stands below a heading, up to the next one.
func section(t *testing.T, name, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, name), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", name, heading)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

// short is a package by its path below internal/, or below the module.
func short(path string) string { return strings.TrimPrefix(path, "internal/") }

var (
	arrow       = regexp.MustCompile(`^([a-z/]+) ──[^▶]*▶ `)
	path        = regexp.MustCompile("`([^` ]*/[^` ]*|[^` ]+\\.go)`(?: \\(`([A-Za-z]+)`\\))?")
	placeholder = regexp.MustCompile(`<[a-z]+>`)
)

// imports are the packages that one imports, but for its tests.
func imports(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(harness.Root(t), "internal", name, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", name, len(files), err)
	}
	var out []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if in, err := strconv.Unquote(spec.Path.Value); err == nil && strings.HasPrefix(in, module) {
				out = append(out, short(strings.TrimPrefix(in, module)))
			}
		}
	}
	return out
}

// TestDoors: whoever answers a user asks package ask alone, and so a past moment is a past moment everywhere.
func TestDoors(t *testing.T) {
	behind := []string{"db", "materialize", "recall", "tables", "why"}
	for _, name := range []string{"brief", "cli", "lsp", "mcp", "mcp/view", "web"} {
		for _, in := range imports(t, name) {
			if slices.Contains(behind, in) || in == "search" || strings.HasPrefix(in, "search/") {
				t.Errorf("%s imports %s, which only ask does", name, in)
			}
		}
	}
}

// TestDrawing: of two packages with an arrow between them, one imports the other.
func TestDrawing(t *testing.T) {
	seen := 0
	for line := range strings.Lines(section(t, "docs/architecture.md", "## How a turn's text travels")) {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		rest := strings.TrimSpace(line)
		for m := arrow.FindStringSubmatch(rest); m != nil; m = arrow.FindStringSubmatch(rest) {
			rest = rest[len(m[0]):]
			from, to := m[1], strings.Fields(rest)[0]
			if !slices.Contains(imports(t, from), to) && !slices.Contains(imports(t, to), from) {
				t.Errorf("%s ▶ %s: neither imports the other", from, to)
			}
			seen++
		}
	}
	if want := strings.Count(section(t, "docs/architecture.md", "## How a turn's text travels"), "▶"); seen != want ||
		seen < 10 {
		t.Errorf("%d arrows were read, of %d", seen, want)
	}
}

// TestPaths: each path that the pages name is there, and holds the name that stands in parentheses behind it. The files
// of architecture.md lie in internal/.
func TestPaths(t *testing.T) {
	for _, c := range []struct{ page, heading, base string }{
		{"CONTRIBUTING.md", "## Where a change goes", ""},
		{"docs/architecture.md", "## The flows", "internal"},
	} {
		t.Run(c.page, func(t *testing.T) {
			found := path.FindAllStringSubmatch(section(t, c.page, c.heading), -1)
			if len(found) < 10 {
				t.Errorf("%d paths", len(found))
			}
			folder := ""
			for _, m := range found {
				if !strings.Contains(m[1], "/") { // beside the one before
					m[1] = folder + "/" + m[1]
				}
				folder = filepath.Dir(m[1])
				if err := stands(filepath.Join(harness.Root(t), c.base), m[1], m[2]); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// stands looks for a path, in which <x> stands for any name, and for a word in one of its files.
func stands(base, name, word string) error {
	files, err := filepath.Glob(filepath.Join(base, placeholder.ReplaceAllString(name, "*")))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(files) == 0 {
		return fmt.Errorf("%s is not there", name)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); word == "" || err == nil && regexp.MustCompile(`\b`+word+`\b`).Match(text) {
			return nil
		}
	}
	return fmt.Errorf("%s has no %s", name, word)
}
