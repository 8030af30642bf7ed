package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/model"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// set is a file of queries, and the least mean nDCG@10 that is allowed: a floor, not a goal. Nothing is tuned
// to it.
type set struct {
	name, suffix string
	floor        float64
}

// TestOwnSets holds floors on the project's own corpus. Measured: subjects 0.9561, keywords 0.9350.
func TestOwnSets(t *testing.T) {
	checkSets(t, filepath.Join(harness.Root(t), "tests/testdata/ranking"), nil, []set{
		{"subjects", "", 0.94},
		{"keywords", "_kw", 0.93},
	})
}

// TestLongOwnSetsWithModel is TestOwnSets with the model that is built in. Measured: subjects 0.9699, keywords 0.9350.
func TestLongOwnSetsWithModel(t *testing.T) {
	checkSets(t, filepath.Join(harness.Root(t), "tests/testdata/ranking"), harness.Model(t), []set{
		{"subjects", "", 0.955},
		{"keywords", "_kw", 0.93},
	})
}

// TestNightDevSetsWithModel takes minutes for the vectors.
func TestNightDevSetsWithModel(t *testing.T) {
	checkSets(t, harness.Data(t, "ranking"), harness.Model(t), []set{
		{"subjects", "", 0.645},
		{"body", "_body", 0.785},
		{"keywords", "_kw", 0.57},
		{"typos", "_typo", 0.635},
		{"other words", "_other_words", 0.39},
	})
}

// TestLongDevSets keeps the figures of docs/lab/search.md from falling, on the shared dev sets.
func TestLongDevSets(t *testing.T) {
	checkSets(t, harness.Data(t, "ranking"), nil, []set{
		{"subjects", "", 0.645},
		{"body", "_body", 0.785},
		{"keywords", "_kw", 0.57},
		{"typos", "_typo", 0.635},
	})
}

func checkSets(t *testing.T, dir string, m *model.Model, sets []set) {
	t.Helper()
	var queries []string
	for _, s := range sets {
		queries = append(queries, filepath.Join(dir, "queries"+s.suffix+".jsonl"))
	}
	runs, err := rank(t.Context(), dir, m, false, queries...)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range sets {
		t.Run(s.name, func(t *testing.T) {
			got := ndcg(runs[i], readQrels(t, filepath.Join(dir, "qrels"+s.suffix+".tsv")))
			t.Logf("nDCG@10 = %.4f", got)
			if got < s.floor {
				t.Errorf("nDCG@10 = %.4f, below %.3f", got, s.floor)
			}
		})
	}
}

// readQrels reads lines of query, relevant document and relevance.
func readQrels(t *testing.T, path string) map[string]map[string]bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := make(map[string]map[string]bool)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < 3 || fields[2] == "0" {
			continue
		}
		if out[fields[0]] == nil {
			out[fields[0]] = make(map[string]bool)
		}
		out[fields[0]][fields[1]] = true
	}
	if len(out) == 0 {
		t.Fatalf("%s names no relevant document", path)
	}
	return out
}

// ndcg is the mean nDCG@10 over the queries of qrels, as score.py computes it.
func ndcg(results []result, qrels map[string]map[string]bool) float64 {
	gain := func(rank int) float64 { return 1 / math.Log2(float64(rank)+1) }
	sums := make(map[string]float64)
	for _, r := range results {
		if qrels[r.QID][r.Doc] {
			sums[r.QID] += gain(r.Rank)
		}
	}
	total := 0.0
	for q, relevant := range qrels {
		ideal := 0.0
		for i := range min(len(relevant), depth) {
			ideal += gain(i + 1)
		}
		total += sums[q] / ideal
	}
	return total / float64(len(qrels))
}

// TestRankAnyFolder checks groups, missing and null fields, and a corpus that is not
// compressed.
func TestRankAnyFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("corpus.jsonl", `{"doc":"a","turns":[{"role":"user","text":"alpha beta"}]}
{"doc":"b","group":null,"title":null,"start":null,"branch":null,"files_edited":null,"cmds":null,"turns":[{"role":"assistant","text":"alpha"}]}
{"doc":"a","group":"g","turns":[{"role":"speaker A","text":"alpha gamma"}]}
{"doc":"c","group":"g","turns":[]}
`)
	queries := write("queries.jsonl", `{"qid":"q1","query":"alpha"}
{"qid":"q2","query":"alpha","group":"g"}
{"qid":"q3","query":"?!","group":"g"}
{"qid":"q4","query":"alpha","group":"nowhere"}
`)
	out := filepath.Join(dir, "run.tsv")
	if err := run(context.Background(), harness.Model(t), dir, queries, out, false); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(got)) {
		lines = append(lines, line[:strings.LastIndex(line, "\t")])
	}
	want := "q1\t1\tb q1\t2\ta q2\t1\ta"
	if s := strings.Join(lines, " "); s != want {
		t.Errorf("run = %q, want %q", s, want)
	}
}

// TestTogether splits the project's own corpus into four, which are asked at once: hardly less is found than in one.
// Measured: subjects 0.9563, keywords 0.9367; by the scores that each has alone 0.9303.
func TestTogether(t *testing.T) {
	dir := filepath.Join(harness.Root(t), "tests/testdata/ranking")
	split := t.TempDir()
	for _, name := range []string{"corpus.jsonl", "queries.jsonl", "queries_kw.jsonl"} {
		out, err := os.Create(filepath.Join(split, name))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = harness.EachLine(filepath.Join(dir, name), func(line map[string]any) {
			line["group"] = string(rune('a' + n%4))
			n++
			if err := json.NewEncoder(out).Encode(line); err != nil {
				t.Fatal(err)
			}
		})
		if err := errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := rank(t.Context(), split, nil, true, filepath.Join(split, "queries.jsonl"),
		filepath.Join(split, "queries_kw.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i, suffix := range []string{"", "_kw"} {
		got := ndcg(runs[i], readQrels(t, filepath.Join(dir, "qrels"+suffix+".tsv")))
		t.Logf("nDCG@10 of queries%s = %.4f", suffix, got)
		if floor := 0.93; got < floor {
			t.Errorf("nDCG@10 of queries%s = %.4f, below %.3f", suffix, got, floor)
		}
	}
}
