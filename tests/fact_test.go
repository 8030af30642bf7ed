package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// newFact adds a fact of sessions: what is written behind which line of which file. The pages are changed for people
// alone.
var newFact = []struct{ file, behind, text string }{
	{
		"internal/session/facts.go", "// the language model that spoke last in this part, as the agent names it\n",
		"\tEffort string `json:\"effort,omitzero\"`\n",
	},
	{
		"internal/session/facts.go", "return &f.Model }},\n",
		"\t\t{Name: \"effort\", Of: func(f *Facts) *string { return &f.Effort }, Label: \"effort \"},\n",
	},
	{"internal/transcript/document.go", "p.Model = p.model.lastModel()\n", "\tp.Effort = \"high\"\n"},
	{"docs/ledger-format.md", "", ""},
	{"docs/json.md", "", ""},
	{"CHANGELOG.md", "", ""},
}

// maxFilesOfFact is how many files a new fact touches at most.
const maxFilesOfFact = 6

// A new fact of sessions is described once: it is in the ledger, in each answer, in SQL, and in what people and agents
// read.
func TestLongNewFact(t *testing.T) {
	if files := changedFiles(t); len(files) > maxFilesOfFact {
		t.Errorf("%d files are changed", len(files))
	}
	bin := buildWithFact(t)
	p := harness.New(t).With("PATH=" + bin + ":" + os.Getenv("PATH"))
	p.Init("repo")
	p.Git("repo", "rekal", "init")
	p.Write("repo/a.txt", "one\n")
	p.Talk("repo", "00000000-0000-4000-8000-000000000001", "main", time.Now().Add(-time.Hour),
		harness.Said{Who: "human", Text: "why do wombats dig?"}, harness.Said{Who: "Write", Text: "a.txt", New: "one\n"},
		harness.Said{Who: "assistant", Text: "To sleep."})
	p.Commit("repo", "Dig")
	id := p.Git("repo", "rekal", "query", "SELECT id FROM sessions")
	id = strings.TrimSuffix(strings.TrimPrefix(id, `{"id":"`), `"}`)
	for _, ask := range [][]string{
		{"wombats"},
		{"wombats", "--checkpoint", "HEAD"},
		{"log", "--json"},
		{"show", "--json", id},
		{"query", "--session", id},
		{"query", "SELECT effort FROM sessions"},
		{"query", "--index", "SELECT effort FROM session_facets"},
	} {
		if out := p.Git("repo", append([]string{"rekal"}, ask...)...); !strings.Contains(out, `"effort":"high"`) {
			t.Errorf("%q answers without it:\n%s", ask, out)
		}
	}
	for _, ask := range [][]string{{"show", id}, {"handoff", id}} {
		if out := p.Git("repo", append([]string{"rekal"}, ask...)...); !strings.Contains(out,
			"claude-opus-4-6, effort high") {
			t.Errorf("%q is read without it:\n%s", ask, out)
		}
	}
	if entry := p.Git("repo", "grep", "-h", "effort", "rekal/a@example.com"); !strings.Contains(entry, `"effort":"high"`) {
		t.Errorf("the ledger is without it: %s", entry)
	}
}

// changedFiles are the files of newFact, by their paths, with what they become; "" for a page.
func changedFiles(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, c := range newFact {
		text := out[c.file]
		if text == "" && c.behind != "" {
			b, err := os.ReadFile(filepath.Join(harness.Root(t), c.file))
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if strings.Count(text, c.behind) != 1 && c.behind != "" {
			t.Fatalf("%s has no line that ends in %q, or several", c.file, c.behind)
		}
		out[c.file] = strings.Replace(text, c.behind, c.behind+c.text, 1)
	}
	return out
}

// buildWithFact builds the programs of a copy of the tree that has the fact.
func buildWithFact(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	replace := map[string]string{}
	for file, text := range changedFiles(t) {
		if text == "" {
			continue
		}
		copied := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(harness.Root(t), file)] = copied
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	with := "-overlay=" + filepath.Join(dir, "overlay.json")
	harness.Build(t, "git-rekal", filepath.Join(dir, "git-rekal"), with)
	harness.Build(t, "git-rekal/full", filepath.Join(dir, "git-rekal-full"), with)
	return dir
}

// The pages name each fact.
func TestFactsAreDocumented(t *testing.T) {
	for _, page := range []string{"docs/ledger-format.md", "docs/json.md"} {
		text, err := os.ReadFile(filepath.Join(harness.Root(t), page))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range session.AllFacts() {
			if !strings.Contains(string(text), "`"+f.Name+"`") {
				t.Errorf("%s does not say what %s is", page, f.Name)
			}
		}
	}
}
