package records_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/compress"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// world is a repository with records.
type world struct {
	t     *testing.T
	repo  *git.Repo
	store records.Store
	now   time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	p := harness.New(t)
	p.Init("repo")
	repo, err := git.Open(t.Context(), p.At("repo"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Home()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(repo.Close)
	w := &world{t: t, repo: repo, now: noon}
	w.store = records.Store{Dir: filepath.Join(t.TempDir(), "records"), Now: func() time.Time { return w.now }}
	return w
}

func (w *world) add(r records.Record) int {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	r.At = w.now
	clean, err := records.Redact(w.t.Context(), redact.New(), r, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := w.store.Add(w.t.Context(), clean)
	if err != nil {
		w.t.Fatal(err)
	}
	return out.ID
}

func (w *world) ask(q records.Question) records.Answer {
	w.t.Helper()
	v, err := w.store.OpenIndexed(w.t.Context(), func(err error) { w.t.Error(err) })
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := v.Ask(w.t.Context(), w.repo, q)
	if err != nil || v.Close() != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) ids(q records.Question) (out []int) {
	w.t.Helper()
	for _, h := range w.ask(q).Hits {
		n, _ := strconv.Atoi(h.ID)
		out = append(out, n)
	}
	return out
}

func exit(n int) *int { return &n }

func TestFound(t *testing.T) {
	w := newWorld(t)
	first := w.add(records.Record{
		Command: "pytest -q", Exit: exit(1), Instruction: "only the failing ones",
		Text: "FAILED tests/test_auth.py::test_login - token is stale\n", Terms: []string{"test_login"},
		Paths: []string{"tests/test_auth.py"}, Tests: true, Failed: 1,
	})
	w.add(records.Record{Command: "npm install", Exit: exit(0), Text: "added 298 packages in 20s\n"})
	a := w.ask(records.Question{Words: "stale token"})
	if len(a.Hits) != 1 || a.Hits[0].ID != strconv.Itoa(first) {
		t.Fatalf("found %+v", a.Hits)
	}
	h := a.Hits[0]
	if diff := cmp.Diff([]string{"content"}, h.Matched); diff != "" || h.Kind != "record" ||
		h.Freshness != result.Unverifiable {
		t.Errorf("%+v\nmatched (-want +got):\n%s", h, diff)
	}
	all := w.ask(records.Question{Words: "pytest failing test_login tests/test_auth.py"}).Hits[0].Matched
	if diff := cmp.Diff([]string{"content", "instruction", "command", "files", "terms"}, all); diff != "" {
		t.Errorf("matched (-want +got):\n%s", diff)
	}
	later := w.add(records.Record{Command: "make deploy", Text: "the token of the registry is stale again\n"})
	if got := w.ids(records.Question{Words: "registry token"}); !slices.Contains(got, later) {
		t.Errorf("what was added is not found: %v", got)
	}
}

// TestRebuilt gives the same answers when the index is lost, damaged, or grew step by step.
func TestRebuilt(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.add(records.Record{Command: fmt.Sprintf("run %d", i), Text: fmt.Sprintf("worker %d of zone%d crashed\n", i, i%3)})
		if i%7 == 0 {
			w.ids(records.Question{Words: "worker"})
		}
	}
	q := records.Question{Words: "zone1 crashed"}
	grown := w.ask(q)
	if len(grown.Hits) != 10 {
		t.Errorf("%d hits", len(grown.Hits))
	}
	for name, damage := range map[string]string{
		"lost":            "UPDATE indexed SET version = 0, last = 0, n = 0",
		"damaged":         "UPDATE runs SET data = 'no run'; UPDATE indexed SET last = last - 1",
		"of another time": "UPDATE indexed SET version = 1",
	} {
		w.sqlite(damage)
		if diff := cmp.Diff(grown, w.ask(q)); diff != "" {
			t.Errorf("%s (-grown +anew):\n%s", name, diff)
		}
	}
}

// sqlite changes the file behind the store's back.
func (w *world) sqlite(statements string) {
	w.t.Helper()
	change(w.t, w.store, statements)
}

// TestReadOnly asks where the index can't be written: no record answers words that the index lacks, and the latest are
// still listed.
func TestReadOnly(t *testing.T) {
	w := newWorld(t)
	w.add(records.Record{Command: "ls", Text: "main.go\n"})
	w.sqlite("CREATE TRIGGER block BEFORE UPDATE ON indexed BEGIN SELECT RAISE(ABORT, 'blocked'); END")
	warned := 0
	v, err := w.store.OpenIndexed(t.Context(), func(error) { warned++ })
	if err != nil || warned != 1 {
		t.Fatalf("%v, %d warnings", err, warned)
	}
	if a, err := v.Ask(t.Context(), w.repo, records.Question{Words: "main.go"}); err != nil || len(a.Hits) != 0 {
		t.Errorf("answered with %+v, %v", a, err)
	}
	if a, err := v.Ask(t.Context(), w.repo, records.Question{}); err != nil || len(a.Hits) != 1 || v.Close() != nil {
		t.Errorf("the latest: %+v, %v", a, err)
	}
}

// TestListing holds that a listing of files is not about each of them more than what was said about one.
func TestListing(t *testing.T) {
	w := newWorld(t)
	listed := "config.go\nmain.go\nparse.go\nreadme.md\n"
	w.add(records.Record{Command: "ls", Text: listed, Paths: strings.Fields(listed)})
	named := w.add(records.Record{
		Command: "make", Text: "config.go:3: unknown key\nread the config again\ngo on\n",
		Paths: []string{"config.go"},
	})
	unnamed := w.add(records.Record{Command: "make", Dir: "b", Text: "parse.go:1: error\n", Paths: []string{"b/parse.go"}})
	if got := w.ids(records.Question{Words: "config"}); got[0] != named {
		t.Errorf("config: %v", got)
	}
	if got := w.ids(records.Question{Words: "b/parse.go"}); got[0] != unnamed {
		t.Errorf("a path that the output does not name whole: %v", got)
	}
	if h := w.ask(records.Question{Words: "readme"}).Hits; len(h) != 1 || h[0].Score > 1.3 {
		t.Errorf("one name of a listing scores as much as what was said twice: %+v", h)
	}
}

// TestOrder holds that results come by score, also where scores are nearly equal, and of equal ones the latest first.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	for i := range 6 {
		w.add(records.Record{
			Command: fmt.Sprint("run ", i),
			Text:    "zone crashed" + strings.Repeat(" again", 1000+i/2*2) + "\n",
		})
	}
	if diff := cmp.Diff([]int{2, 1, 4, 3, 6, 5}, w.ids(records.Question{Words: "zone"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAll holds that no record is left out where nobody says how many, and that one that is but mentioned is not read.
func TestAll(t *testing.T) {
	w := newWorld(t)
	for i := range 234 {
		w.add(records.Record{Command: fmt.Sprint("deploy ", i), Text: fmt.Sprintf("zone %d crashed\n", i)})
	}
	for name, q := range map[string]records.Question{
		"listed": {}, "found": {Words: "crashed"},
		"brief": {Words: "crashed", Brief: true},
	} {
		a, texts := w.ask(q), 0
		for _, h := range a.Hits {
			if h.Snippet != "" {
				texts++
			}
		}
		want := 234
		if q.Brief {
			want = 10
		}
		if len(a.Hits) != 234 || a.Total != 234 || texts != want || a.Hits[233].Title == "" {
			t.Errorf("%s: %d of %d, %d with a text", name, len(a.Hits), a.Total, texts)
		}
	}
}

// TestPassage holds that a record shows where it answers, in whole lines or in one, and names why.
func TestPassage(t *testing.T) {
	w := newWorld(t)
	w.add(records.Record{
		Command: "make", Instruction: "the linker", Terms: []string{"link_zone"},
		Text: strings.Repeat("nothing of note happened in this step\n", 60) +
			"zone seven: the kitten crashed\nbeside link_zone\n" + strings.Repeat("nothing of note happened in that step\n", 60),
	})
	w.add(records.Record{Command: "other", Text: "fine\n"})
	for _, tt := range []struct {
		q       records.Question
		lines   bool
		matched []string
	}{
		{records.Question{Words: "kitten"}, true, []string{"content"}},
		{records.Question{Words: "kitten", Snippet: 100}, false, []string{"content"}},
		{records.Question{Words: "kittne", Snippet: 100}, false, []string{"content", "ngram"}},
		{records.Question{Words: "kitten linker", Snippet: 100}, false, []string{"content", "instruction"}},
		{records.Question{Words: "kitten link_zone", Snippet: 100}, false, []string{"content", "terms"}},
	} {
		h := w.ask(tt.q).Hits[0]
		if !tt.lines && (len(h.Snippet) > 110 || strings.Contains(h.Snippet, "\n")) ||
			!strings.Contains(h.Snippet, "kitten crashed") {
			t.Errorf("%q: %q", tt.q.Words, h.Snippet)
		}
		if diff := cmp.Diff(tt.matched, h.Matched); diff != "" {
			t.Errorf("%q: matched (-want +got):\n%s", tt.q.Words, diff)
		}
	}
	w.add(records.Record{Command: "third", Text: "a kitten again\n"})
	for _, h := range w.ask(records.Question{Words: "kitten"}).Hits {
		if h.Command == "make" && (!strings.Contains(h.Snippet, "step\nzone seven: the kitten crashed\nbeside") ||
			len([]rune(h.Snippet)) > 1200 || !strings.HasPrefix(h.Snippet, "…\n")) {
			t.Errorf("%q", h.Snippet)
		}
	}
}

func TestLatestOfAKind(t *testing.T) {
	w := newWorld(t)
	old := w.add(records.Record{
		Command: "go test ./...", Exit: exit(1), Tests: true, Failed: 2,
		Text: "--- FAIL: TestOld (0.00s)\n",
	})
	build := w.add(records.Record{Command: "make", Exit: exit(2), Errors: 1, Text: "a.c:1:1: error: no\n"})
	failed := w.add(records.Record{
		Command: "go test ./...", Exit: exit(1), Tests: true, Failed: 1,
		Text: "--- FAIL: TestNew (0.00s)\n",
	})
	passed := w.add(records.Record{Command: "go test ./a", Exit: exit(0), Tests: true, Text: "ok  \ta\n"})
	last := w.add(records.Record{Command: "ls", Exit: exit(0), Text: "a.c\n"})
	for question, want := range map[string][]int{
		"last failing tests":             {failed, old},
		"the last test run":              {passed, failed, old},
		"what were the last test errors": {failed, old},
		"build errors":                   {build},
		"the latest errors":              {failed, build, old},
	} {
		a := w.ask(records.Question{Words: question})
		var got []int
		for _, h := range a.Hits {
			n, _ := strconv.Atoi(h.ID)
			got = append(got, n)
		}
		if diff := cmp.Diff(want, got); diff != "" || !a.Latest {
			t.Errorf("%q, latest %v (-want +got):\n%s", question, a.Latest, diff)
		}
	}
	if got := w.ids(records.Question{Words: "build error", Timed: true, Until: noon.Add(time.Hour)}); !slices.Equal(got,
		[]int{build}) {
		t.Errorf("in a time: %v", got)
	}
	if got := w.ids(records.Question{Latest: true}); got[0] != last || len(got) != 5 {
		t.Errorf("the latest of all: %v", got)
	}
	if a := w.ask(records.Question{Words: "TestNew failing"}); a.Latest {
		t.Error("a question with a topic asks for the latest")
	}
}

func TestFilesAndFreshness(t *testing.T) {
	w := newWorld(t)
	root := w.repo.Layout().WorkTree
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("bundle.js", "one")
	now, err := worktree.Open(w.repo, "")
	if err != nil {
		t.Fatal(err)
	}
	blob := string(now.Blob("bundle.js", nil))
	now.Close()
	built := w.add(records.Record{
		Command: "npm run build", Text: "build failed: bundle.js\n",
		Paths: []string{"bundle.js"}, Files: map[string]string{"bundle.js": blob},
	})
	w.add(records.Record{Command: "npm run docs", Text: "build failed: index.html\n", Paths: []string{"docs/index.html"}})
	state := func() string {
		a := w.ask(records.Question{Words: "build failed bundle", Files: []string{"bundle.js"}})
		if len(a.Hits) != 1 || a.Hits[0].ID != strconv.Itoa(built) || !a.TouchFiles {
			t.Fatalf("%+v", a)
		}
		return a.Hits[0].Freshness
	}
	if got := state(); got != result.Fresh {
		t.Error(got)
	}
	put("bundle.js", "two")
	if got := state(); got != result.StaleChanged {
		t.Error(got)
	}
	if err := os.Remove(filepath.Join(root, "bundle.js")); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != result.StaleDeleted {
		t.Error(got)
	}
	if a := w.ask(records.Question{Words: "build failed", Files: []string{"src/none.go"}}); len(a.Hits) != 2 ||
		a.TouchFiles {
		t.Errorf("where nothing touches it: %+v", a)
	}
}

// TestMerge holds that records take at most a third of the first ten places, and that sessions keep their order and
// scores.
func TestMerge(t *testing.T) {
	sessions := func() (out []result.Hit) {
		for i := range 12 {
			out = append(out, result.Hit{ID: fmt.Sprint("s", i), Kind: "session", Score: 2 - float64(i)/10})
		}
		return out
	}
	of := records.Answer{Total: 8}
	for i := range 8 {
		of.Hits = append(of.Hits, result.Hit{ID: strconv.Itoa(i), Kind: records.Kind, Score: 3})
	}
	for _, tt := range []struct{ limit, records, in int }{{0, 3, 10}, {10, 3, 10}, {1, 1, 1}, {5, 1, 5}, {6, 2, 6}} {
		answer := result.Recall{Results: sessions(), Total: 12}
		records.Merge(&answer, of, tt.limit)
		n, next := 0, 0
		for i, h := range answer.Results {
			if h.Kind == records.Kind {
				if i < tt.in {
					n++
				}
			} else if h.ID != sessions()[next].ID || h.Score != sessions()[next].Score {
				t.Errorf("limit %d: place %d is %s, not the next session", tt.limit, i, h.ID)
			} else {
				next++
			}
		}
		if n != tt.records || answer.Total != 20 || tt.limit > 0 && len(answer.Results) != tt.limit {
			t.Errorf("limit %d: %d records in the first %d, total %d, %d results", tt.limit, n, tt.in, answer.Total,
				len(answer.Results))
		}
	}
	alone := result.Recall{}
	records.Merge(&alone, of, 0)
	if len(alone.Results) != 8 {
		t.Errorf("alone: %d", len(alone.Results))
	}
	weak := result.Recall{Results: []result.Hit{{ID: "s", Weak: true, Score: 0.2}}, Total: 1}
	records.Merge(&weak, of, 0)
	if weak.Total != 8 || weak.Results[0].Kind != records.Kind {
		t.Errorf("beside a weak session: %+v", weak)
	}
}

// TestBrief holds that a brief answer has the best ten, a third of them records, and names all the others.
func TestBrief(t *testing.T) {
	var of records.Answer
	for i := range 8 {
		of.Hits = append(of.Hits, result.Hit{ID: strconv.Itoa(i), Kind: records.Kind, Score: 3 - float64(i)/10, Title: "t"})
	}
	of.Total, of.Unknown = 8, []string{"both", "there"}
	answer := result.Recall{
		Results: []result.Hit{{ID: "s", Kind: "session", Score: 2}}, More: []result.Mention{{ID: "m", Score: 2.45}}, Total: 2,
		Unknown: []string{"both", "here"},
	}
	records.Merge(&answer, of, 0)
	records.KeepBrief(&answer)
	ids := ""
	for _, h := range answer.Results {
		ids += h.ID + " "
	}
	for _, m := range answer.More {
		ids += "+" + m.ID
	}
	if want := "0 1 2 s +3+4+5+m+6+7"; ids != want || answer.Total != 10 || strings.Join(answer.Unknown, " ") != "both" {
		t.Errorf("%s, want %s; %+v", ids, want, answer)
	}
	alone := result.Recall{Unknown: []string{"there"}}
	records.Merge(&alone, of, 0)
	records.KeepBrief(&alone)
	if len(alone.Results) != 8 || len(alone.More) != 0 {
		t.Errorf("alone: %d, and %d more", len(alone.Results), len(alone.More))
	}
}

// TestQuestions asks 60 questions about records that real tools' outputs make (testdata/questions.tsv): the right one
// is first in at least 50.
func TestQuestions(t *testing.T) {
	w := newWorld(t)
	names := map[int]string{}
	for _, group := range []string{"seen", "held"} {
		for name, r := range real(t, filepath.Join("..", "compress", "testdata", group)) {
			names[w.add(r)] = group + "/" + name
		}
	}
	questions, err := os.ReadFile(filepath.Join("testdata", "questions.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	right, asked := 0, 0
	for line := range strings.Lines(string(questions)) {
		text, want, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		asked++
		got := w.ids(records.Question{Words: text})
		if len(got) > 0 && slices.Contains(strings.Fields(want), names[got[0]]) {
			right++
			continue
		}
		first := ""
		if len(got) > 0 {
			first = names[got[0]]
		}
		t.Logf("%q: %q, not %q", text, first, want)
	}
	t.Logf("%d of %d questions have the right record first", right, asked)
	if asked < 60 || right < 50 {
		t.Errorf("%d of %d", right, asked)
	}
}

// real makes records of the outputs of real tools in a folder.
func real(t *testing.T, dir string) iter.Seq2[string, records.Record] {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no outputs", err)
	}
	return func(yield func(string, records.Record) bool) {
		for _, p := range paths {
			if !yield(strings.TrimSuffix(filepath.Base(p), ".json"), recorded(t, p)) {
				return
			}
		}
	}
}

// recorded makes a record of one output.
func recorded(t *testing.T, p string) records.Record {
	t.Helper()
	var told struct {
		Command string
		Exit    int
	}
	raw, err := os.ReadFile(p)
	if err != nil || json.Unmarshal(raw, &told) != nil {
		t.Fatal(p, err)
	}
	f, err := os.Open(strings.TrimSuffix(p, ".json") + ".txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	small := compress.New(compress.Options{})
	if _, err := io.Copy(small, z); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r := small.Close()
	return records.Record{
		Command: told.Command, Exit: &told.Exit, Text: r.Text, Terms: r.Terms, Paths: r.Paths,
		Tests: r.Tests, Failed: r.Failed, Errors: r.Errors,
	}
}
