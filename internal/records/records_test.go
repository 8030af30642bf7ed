package records_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/remembered"
)

// TestMain is also the process that others kill: with REKAL_ADD it adds records to that folder, and says each ID
// when it is stored.
func TestMain(m *testing.M) {
	dir := os.Getenv("REKAL_ADD")
	if dir == "" {
		os.Exit(m.Run())
	}
	n, _ := strconv.Atoi(os.Getenv("REKAL_TIMES"))
	if limit, err := strconv.Atoi(os.Getenv("REKAL_FSIZE")); err == nil { // a disk with so much room
		rlimit := syscall.Rlimit{Cur: uint64(limit), Max: uint64(limit)}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &rlimit); err != nil {
			panic(err)
		}
	}
	for i := range n {
		r, err := add(context.Background(), store(dir), records.Record{Command: fmt.Sprintf("make %d", i), Text: strings.Repeat("x", 300)}, []byte("raw"))
		if err != nil {
			fmt.Println("failed")
			continue
		}
		fmt.Println(r.ID)
	}
	os.Exit(0)
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func store(dir string) records.Store {
	return records.Store{Dir: dir, Now: func() time.Time { return noon }}
}

var plain = sync.OnceValue(redact.New)

func add(ctx context.Context, s records.Store, r records.Record, raw []byte) (records.Record, error) {
	clean, err := records.Redact(ctx, plain(), r, bytes.NewReader(raw))
	if err != nil {
		return records.Record{}, err
	}
	return s.Add(ctx, clean)
}

func must(t *testing.T, s records.Store, r records.Record, raw string) records.Record {
	t.Helper()
	out, err := add(t.Context(), s, r, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ids(t *testing.T, s records.Store) (out []int) {
	t.Helper()
	all, err := s.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		out = append(out, r.ID)
	}
	return out
}

func TestAddAndFind(t *testing.T) {
	s := store(filepath.Join(t.TempDir(), "records"))
	exit := 1
	in := records.Record{
		At: noon, Command: "pytest -q", Exit: &exit, Lines: 3, Text: "FAILED a.py::b\n", Terms: []string{"b"},
		Paths: []string{"a.py"}, Files: map[string]string{"a.py": "3f2a"}, Failed: 1, Tests: true,
	}
	got := must(t, s, in, "long output\n")
	in.ID = 1
	if diff := cmp.Diff(in, got, cmpopts.IgnoreUnexported(records.Record{})); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	found, err := s.Find(1)
	if diff := cmp.Diff(in, found, cmpopts.IgnoreUnexported(records.Record{})); diff != "" || err != nil {
		t.Errorf("found %v (-want +got):\n%s", err, diff)
	}
	raw, err := s.Raw(1)
	if string(raw) != "long output\n" || err != nil {
		t.Errorf("raw %q, %v", raw, err)
	}
	if _, err := s.Find(2); !errors.Is(err, records.ErrNone) {
		t.Errorf("Find(2): %v", err)
	}
}

// TestSecrets are out of everything before anything is written.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	token := "ghp_" + "R2d2c3poLukeLeiaHanChewieYodaObi1Wan"[:36]
	must(t, store(dir), records.Record{Command: "curl -H 'Authorization: " + token + "'", Text: "got " + token + "\n", Terms: []string{token}}, strings.Repeat("line\n", 200_000)+token+"\n")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), token) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := store(dir).Raw(1)
	if err != nil || strings.Contains(string(raw), token) || !strings.Contains(string(raw), "REDACTED") {
		t.Errorf("the output: %v, %d bytes", err, len(raw))
	}
}

// TestNames holds that what redaction leaves of a name is none.
func TestNames(t *testing.T) {
	token := "ghp_" + "R2d2c3poLukeLeiaHanChewieYodaObi1Wan"[:36]
	clean, err := records.Redact(t.Context(), plain(), records.Record{
		Text: "got " + token + "\n", Terms: []string{token, "link_zone", "<private>x_y</private>"}, Paths: []string{"a.go", "keys/" + token + ".pem"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := clean.Record(); !slices.Equal(r.Terms, []string{"link_zone"}) || !slices.Equal(r.Paths, []string{"a.go"}) {
		t.Errorf("%q, %q", r.Terms, r.Paths)
	}
}

// others starts processes that add records, and returns what they announce.
func others(t *testing.T, dir string, times int, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "REKAL_ADD="+dir, "REKAL_TIMES="+strconv.Itoa(times)), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// TestAtOnce has 20 processes, of which every fourth is killed: each ID that was announced is there, and none twice.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wait sync.WaitGroup
	var mutex sync.Mutex
	announced := map[int]bool{}
	for i := range 20 {
		cmd, lines := others(t, dir, 10)
		wait.Go(func() {
			for n := 0; lines.Scan(); n++ {
				id, err := strconv.Atoi(lines.Text())
				mutex.Lock()
				if err != nil || announced[id] {
					t.Errorf("announced %q, which is known: %v", lines.Text(), announced[id])
				}
				announced[id] = true
				mutex.Unlock()
				if i%4 == 0 && n == i/4 {
					_ = cmd.Process.Kill()
				}
			}
			_ = cmd.Wait() // killed, or done
		})
	}
	wait.Wait()
	there := ids(t, store(dir))
	seen := map[int]bool{}
	for _, id := range there {
		if seen[id] {
			t.Errorf("%d was given twice", id)
		}
		seen[id] = true
	}
	for id := range announced {
		if !seen[id] {
			t.Errorf("%d was announced and is lost", id)
		}
	}
	if len(announced) < 150 {
		t.Errorf("only %d were announced", len(announced))
	}
	if next := must(t, store(dir), records.Record{Command: "next"}, "").ID; next <= slices.Max(there) {
		t.Errorf("the next ID is %d", next)
	}
}

// TestFullDisk loses nothing that was announced, announces nothing that is not there, and leaves no torn line.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd, lines := others(t, dir, 12, "REKAL_FSIZE=3000")
	var announced []int
	failed := 0
	for lines.Scan() {
		if id, err := strconv.Atoi(lines.Text()); err == nil {
			announced = append(announced, id)
		} else {
			failed++
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if failed == 0 || len(announced) == 0 {
		t.Fatalf("%d failed, %d did not", failed, len(announced))
	}
	if diff := cmp.Diff(announced, ids(t, store(dir))); diff != "" {
		t.Errorf("(-announced +there):\n%s", diff)
	}
	if next := must(t, store(dir), records.Record{Command: "there is room again"}, "").ID; slices.Contains(announced, next) {
		t.Errorf("%d is given twice", next)
	}
}

// TestTorn passes over what a process that died left of a line.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	s := store(dir)
	must(t, s, records.Record{Command: "one"}, "")
	f, err := os.OpenFile(filepath.Join(dir, "2026-11-23.ndjson"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"id":2,"comm`); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "counter")); err != nil {
		t.Fatal(err)
	}
	if id := must(t, s, records.Record{Command: "two"}, "").ID; id != 2 {
		t.Errorf("the next ID is %d", id)
	}
	if diff := cmp.Diff([]int{1, 2}, ids(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRetention(t *testing.T) {
	dir := t.TempDir()
	now := noon
	s := records.Store{Dir: dir, Now: func() time.Time { return now }}
	must(t, s, records.Record{Command: "old"}, "its output")
	now = noon.Add(8 * 24 * time.Hour)
	age(t, filepath.Join(dir, "raw", "1.zst"), noon)
	must(t, s, records.Record{Command: "a week later"}, "")
	if _, err := s.Raw(1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the output of a week ago: %v", err)
	}
	now = noon.Add(92 * 24 * time.Hour)
	must(t, s, records.Record{Command: "new"}, "")
	if diff := cmp.Diff([]int{2, 3}, ids(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func age(t *testing.T, path string, to time.Time) {
	t.Helper()
	if err := os.Chtimes(path, to, to); err != nil {
		t.Fatal(err)
	}
}

// TestSize drops the oldest, and never what came just now.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	s := store(dir)
	s.Size = 32 << 10
	for range 100 {
		must(t, s, records.Record{Text: strings.Repeat("word ", 200)}, "")
	}
	there := ids(t, s)
	if len(there) > 33 || len(there) < 20 || there[len(there)-1] != 100 || there[0] != 101-len(there) {
		t.Errorf("there are %d: %d to %d", len(there), there[0], there[len(there)-1])
	}
}

func TestHideAndScrub(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rekal", "records")
	s := store(dir)
	for i := range 3 {
		must(t, s, records.Record{Command: fmt.Sprint("make ", i)}, "output")
	}
	if err := s.Hide(t.Context(), []int{1, 2}, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Hide(t.Context(), []int{2}, false); err != nil {
		t.Fatal(err)
	}
	all, err := s.All()
	if err != nil || !all[0].Hidden || all[1].Hidden || all[2].Hidden {
		t.Errorf("hidden: %v, %v", all, err)
	}
	if n, err := s.Scrub(t.Context(), []int{3}); n != 1 || err != nil {
		t.Errorf("scrubbed %d, %v", n, err)
	}
	if _, err := s.Raw(3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the output of what was scrubbed: %v", err)
	}
	if id := must(t, s, records.Record{}, "").ID; id != 4 {
		t.Errorf("the ID behind a scrub is %d", id)
	}
	if err := s.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}

// TestExcluded leaves out the lines that name an excluded path, and nothing else of an output.
func TestExcluded(t *testing.T) {
	with := redact.With(redact.Settings{Exclude: []string{"secret/**"}})
	clean, err := records.Redact(t.Context(), with, records.Record{Text: "a.go:1: no\nsecret/plan.md:1: yes\nb.go:2: no\n"}, strings.NewReader("one\ncat secret/plan.md\ntwo\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := store(t.TempDir())
	r, err := s.Add(t.Context(), clean)
	if err != nil || r.Text != "a.go:1: no\n[excluded]\nb.go:2: no\n" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if raw, err := s.Raw(r.ID); string(raw) != "one\n[excluded]\ntwo\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// TestRedactRemembers: what the output calls a secret is none of the text, in which only the value is left.
func TestRedactRemembers(t *testing.T) {
	with := redact.With(redact.Settings{Remembered: remembered.Open(t.TempDir(), remembered.ToKeep, rand.Reader)})
	raw := "the password is Vexing-Otter-91 here\n" + strings.Repeat("more\n", 10)
	r, err := records.Redact(t.Context(), with, records.Record{Command: "sh x", Text: "see Vexing-Otter-91"}, strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Record().Text; got != "see [REDACTED:generic-secret]" {
		t.Errorf("%q", got)
	}
}
