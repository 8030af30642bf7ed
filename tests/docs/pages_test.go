package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var (
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	linkTo   = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	quoted   = regexp.MustCompile("`[^`\n]*`")
	jsonName = regexp.MustCompile(`json:"([a-z_0-9]+)`)
)

// pages are the documents that people read, by their paths below the root.
func pages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "editors/vscode/README.md"}
	err := filepath.WalkDir(filepath.Join(harness.Root(t), "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			rel, _ := filepath.Rel(harness.Root(t), path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// anchors are the names that GitHub gives to the headings of a page.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		out["#"+strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return out
}

// TestLinks: what a page links to is there, the heading too.
func TestLinks(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		for _, m := range linkTo.FindAllStringSubmatch(quoted.ReplaceAllString(read(t, page), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			seen++
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(filepath.Join(harness.Root(t), to)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, to)
			} else if m[2] != "" && !anchors(read(t, to))[m[2]] {
				t.Errorf("%s links to %s, which has no %s", page, to, m[2])
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d links were read", seen)
	}
}

// TestFields: docs/json.md names each field of the shapes that leave the process.
func TestFields(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(harness.Root(t), "internal/result/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	contract := read(t, "docs/json.md")
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range jsonName.FindAllSubmatch(source, -1) {
			if name := string(m[1]); !strings.Contains(contract, "`"+name+"`") && !strings.Contains(contract, `"`+name+`"`) {
				t.Errorf("docs/json.md does not name %s of %s", name, filepath.Base(file))
			}
		}
	}
}

// TestAgents: README says how many agents are read, and docs/agents.md where each keeps its sessions.
func TestAgents(t *testing.T) {
	agents := slices.DeleteFunc(session.Agents(), func(name string) bool { return name == session.Imported })
	if want := fmt.Sprintf("[%d agents](docs/agents.md)", len(agents)); !strings.Contains(read(t, "README.md"), want) {
		t.Errorf("README.md does not say %q", want)
	}
	for _, name := range agents {
		if !strings.Contains(read(t, "docs/agents.md"), " | `"+name+"` | ") {
			t.Errorf("docs/agents.md has no row for %s", name)
		}
	}
}

// TestSize: what a newcomer has to read stays what one person reads. Notes of measurements, in docs/lab, are not
// counted.
func TestSize(t *testing.T) {
	words, count := 0, 0
	for _, page := range pages(t) {
		n := len(strings.Fields(read(t, page)))
		if page == "README.md" && n > 900 {
			t.Errorf("%s has %d words, more than 900", page, n)
		}
		if page == "README.md" || filepath.Dir(page) == "docs" {
			words, count = words+n, count+1
		}
	}
	if words > 20_000 || count > 14 {
		t.Errorf("%d pages have %d words: at most 14 and 20,000", count, words)
	}
}
