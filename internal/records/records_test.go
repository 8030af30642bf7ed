package records_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
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
	"github.com/klauspost/compress/zstd"

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
	size, _ := strconv.Atoi(os.Getenv("REKAL_SIZE"))
	for i := range n {
		r, err := add(context.Background(), store(dir),
			records.Record{Command: fmt.Sprintf("make %d", i), Text: strings.Repeat("x", size)}, []byte("raw"))
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
	for _, r := range all(t, s) {
		out = append(out, r.ID)
	}
	return out
}

// readRecords reads the records.
func read(t *testing.T, s records.Store, do func(v *records.View)) {
	t.Helper()
	v, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	do(v)
	if err := v.Close(); err != nil {
		t.Error(err)
	}
}

func all(t *testing.T, s records.Store) (out []records.Record) {
	t.Helper()
	read(t, s, func(v *records.View) { out = v.All })
	return out
}

func find(t *testing.T, s records.Store, id int) (r records.Record, err error) {
	t.Helper()
	read(t, s, func(v *records.View) { r, err = v.Find(t.Context(), id) })
	return r, err
}

func raw(t *testing.T, s records.Store, id int) (text string, err error) {
	t.Helper()
	read(t, s, func(v *records.View) {
		var out []byte
		out, err = v.RawOutput(t.Context(), id)
		text = string(out)
	})
	return text, err
}

// change changes the file behind the store's back.
func change(t *testing.T, s records.Store, statements string) {
	t.Helper()
	d, err := sql.Open("sqlite3", filepath.Join(s.Dir, "records.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.ExecContext(t.Context(), statements)
	if err = errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(in, got); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	found, err := find(t, s, 1)
	if diff := cmp.Diff(in, found); diff != "" || err != nil {
		t.Errorf("found %v (-want +got):\n%s", err, diff)
	}
	if raw, err := raw(t, s, 1); raw != "long output\n" || err != nil {
		t.Errorf("raw %q, %v", raw, err)
	}
	if _, err := find(t, s, 2); !errors.Is(err, records.ErrNone) {
		t.Errorf("Find(2): %v", err)
	}
}

// TestSecrets are out of everything before anything is written.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	token := "ghp_" + "R2d2c3poLukeLeiaHanChewieYodaObi1Wan"[:36]
	must(t, store(dir), records.Record{
		Command: "curl -H 'Authorization: " + token + "'", Text: "got " + token + "\n",
		Terms: []string{token},
	}, strings.Repeat("line\n", 200_000)+token+"\n")
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
	raw, err := raw(t, store(dir), 1)
	if err != nil || strings.Contains(raw, token) || !strings.Contains(raw, "REDACTED") {
		t.Errorf("the output: %v, %d bytes", err, len(raw))
	}
}

// TestNames holds that what redaction leaves of a name is none.
func TestNames(t *testing.T) {
	token := "ghp_" + "R2d2c3poLukeLeiaHanChewieYodaObi1Wan"[:36]
	clean, err := records.Redact(t.Context(), plain(), records.Record{
		Text: "got " + token + "\n", Terms: []string{token, "link_zone", "<private>x_y</private>"},
		Paths: []string{"a.go", "keys/" + token + ".pem"},
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
	cmd, lines := others(t, dir, 12, "REKAL_FSIZE=250000", "REKAL_SIZE=30000")
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
	if next := must(t, store(dir), records.Record{Command: "there is room again"}, "").ID; slices.Contains(announced,
		next) {
		t.Errorf("%d is given twice", next)
	}
}

// TestTakesOver keeps what a former version wrote: lines of JSON, of which a process that died left one torn, outputs,
// marks, and the last ID.
func TestTakesOver(t *testing.T) {
	s := store(filepath.Join(t.TempDir(), "records"))
	at := noon.AddDate(0, 0, -1).Format(time.RFC3339)
	scrubbed := of(t, "scrubbed", 1, 10)
	for name, text := range map[string]string{
		"2026-11-22.ndjson": `{"id":3,"at":"` + at + `","command":"one","lines":1,"bytes":2,"shown":1,"text":"a\n"}` + "\n" +
			`{"id":4,"comm` + "\n",
		"2026-11-23.ndjson": `{"id":7,"at":"` + at + `","command":"two","lines":1,"bytes":2,"shown":1,"text":"b\n"}` + "\n" +
			`{"hide":3,"of":""}` + "\n" + `{"hide":7,"of":""}` + "\n" + `{"show":7,"of":""}` + "\n" + `{"gone":"` +
			scrubbed.Record().From.Call + `"}` + "\n",
		"counter":                       "9\n",
		"raw/7.zst":                     packed("the output\n"),
		"transcripts/2026-11-22.ndjson": `{"id":8,"command":"made again"}` + "\n",
	} {
		path := filepath.Join(s.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := s.SetHidden(stopped, []int{7}, true); err == nil {
		t.Error("it went on")
	}
	there := all(t, s)
	if len(there) != 2 || there[0].ID != 3 || there[0].Command != "one" || !there[0].Hidden || there[1].ID != 7 ||
		there[1].Hidden {
		t.Errorf("%+v", there)
	}
	if r, err := find(t, s, 7); r.Text != "b\n" || err != nil {
		t.Errorf("%q, %v", r.Text, err)
	}
	if raw, err := raw(t, s, 7); raw != "the output\n" || err != nil {
		t.Errorf("%q, %v", raw, err)
	}
	if n := derive(t, s, scrubbed); n != 0 {
		t.Error("what was scrubbed is made again")
	}
	if id := must(t, s, records.Record{Command: "three"}, "").ID; id != 10 {
		t.Errorf("the next ID is %d", id)
	}
	left, err := os.ReadDir(s.Dir)
	if len(left) != 1 || err != nil {
		t.Errorf("%v, %v: want the file", left, err)
	}
}

// What goes makes the file shorter.
func TestShrinks(t *testing.T) {
	s := store(t.TempDir())
	must(t, s, records.Record{Command: "make"}, "")
	d, err := sql.Open("sqlite3", filepath.Join(s.Dir, "records.db"))
	if err != nil {
		t.Fatal(err)
	}
	var mode int
	err = d.QueryRowContext(t.Context(), "PRAGMA auto_vacuum").Scan(&mode)
	if err = errors.Join(err, d.Close()); mode != 1 || err != nil {
		t.Errorf("mode %d, %v", mode, err)
	}
}

func packed(text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

func TestRetention(t *testing.T) {
	now := noon
	s := records.Store{Dir: t.TempDir(), Now: func() time.Time { return now }}
	must(t, s, records.Record{Command: "old"}, "its output")
	now = noon.Add(8 * 24 * time.Hour)
	for range 15 {
		must(t, s, records.Record{Command: "a week later"}, "")
	}
	if _, err := raw(t, s, 1); !errors.Is(err, records.ErrNoRaw) {
		t.Errorf("the output of a week ago: %v", err)
	}
	now = noon.Add(92 * 24 * time.Hour)
	for range 16 {
		must(t, s, records.Record{Command: "new"}, "")
	}
	if there := ids(t, s); len(there) != 31 || there[0] != 2 {
		t.Errorf("there are %v, want those but the first", there)
	}
}

// TestSize drops the oldest, and never what came just now.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	s := store(dir)
	s.Size = 32 << 10
	for range 7 * 16 {
		must(t, s, records.Record{Text: strings.Repeat("word ", 200)}, "")
	}
	there := ids(t, s)
	if len(there) > 33 || len(there) < 20 || there[len(there)-1] != 112 || there[0] != 113-len(there) {
		t.Errorf("there are %d: %d to %d", len(there), there[0], there[len(there)-1])
	}
}

func TestHideAndScrub(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rekal", "records")
	s := store(dir)
	for i := range 3 {
		must(t, s, records.Record{Command: fmt.Sprint("make ", i)}, "output")
	}
	if err := s.SetHidden(t.Context(), []int{1, 2}, true); err != nil {
		t.Fatal(err)
	}
	if err := s.SetHidden(t.Context(), []int{2}, false); err != nil {
		t.Fatal(err)
	}
	if all := all(t, s); !all[0].Hidden || all[1].Hidden || all[2].Hidden {
		t.Errorf("hidden: %v", all)
	}
	if n, err := s.Scrub(t.Context(), []int{3}); n != 1 || err != nil {
		t.Errorf("scrubbed %d, %v", n, err)
	}
	if _, err := raw(t, s, 3); !errors.Is(err, records.ErrNoRaw) {
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
	clean, err := records.Redact(t.Context(), with,
		records.Record{Text: "a.go:1: no\nsecret/plan.md:1: yes\nb.go:2: no\n"},
		strings.NewReader("one\ncat secret/plan.md\ntwo\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := store(t.TempDir())
	r, err := s.Add(t.Context(), clean)
	if err != nil || r.Text != "a.go:1: no\n[excluded]\nb.go:2: no\n" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if raw, err := raw(t, s, r.ID); raw != "one\n[excluded]\ntwo\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// TestRedactRemembers: what the output calls a secret is none of the text, in which only the value is left.
func TestRedactRemembers(t *testing.T) {
	with := redact.With(redact.Settings{Remembered: remembered.Open(t.TempDir(), remembered.ToKeep, rand.Reader)})
	raw := "the password is Vexing-Otter-91 here\n" + strings.Repeat("more\n", 10)
	r, err := records.Redact(t.Context(), with, records.Record{Command: "sh x", Text: "see Vexing-Otter-91"},
		strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Record().Text; got != "see [REDACTED:generic-secret]" {
		t.Errorf("%q", got)
	}
}
