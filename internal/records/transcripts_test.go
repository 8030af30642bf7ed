package records_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/records"
)

// of is a record of a call, made some days ago, with a text of about so many bytes.
func of(t *testing.T, call string, days, size int) records.Redacted {
	t.Helper()
	at := noon.AddDate(0, 0, -days)
	r := records.Record{
		At: at, Command: "make " + call, Text: strings.Repeat("some line\n", size/10),
		From: &records.From{
			Source: "claude-code", Native: "n", Session: "01",
			Call: records.CallKey("claude-code", call, at),
		},
	}
	clean, err := records.Redact(t.Context(), plain(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return clean
}

func derive(t *testing.T, s records.Store, all ...records.Redacted) int {
	t.Helper()
	n, err := s.AddFromTranscripts(t.Context(), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDerive(t *testing.T) {
	s := store(filepath.Join(t.TempDir(), "records"))
	must(t, s, records.Record{At: noon, Command: "typed", Text: "x\n"}, "raw")
	if n := derive(t, s, of(t, "b", 1, 10), of(t, "a", 3, 10), of(t, "b", 1, 10), of(t, "old", 91, 10)); n != 2 {
		t.Errorf("%d are new, want 2: each call once, and none that is too old", n)
	}
	if n := derive(t, s, of(t, "a", 3, 10)); n != 0 {
		t.Errorf("%d are new of what is there", n)
	}
	must(t, s, records.Record{At: noon, Command: "typed", Text: "x\n"}, "raw")
	if got := ids(t, s); !slices.Equal(got, []int{1, 2, 3, 4}) {
		t.Errorf("IDs %v", got)
	}
	if r, err := find(t, s, 2); err != nil || r.Command != "make a" || r.Text != "some line\n" {
		t.Errorf("the first call is %+v, %v", r, err)
	}

	// What is purged or scrubbed stays so when all is made again, under the same numbers.
	if err := s.SetHidden(t.Context(), []int{2}, true); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Scrub(t.Context(), []int{3}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := s.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := derive(t, s, of(t, "a", 3, 10), of(t, "b", 1, 10)); n != 1 {
		t.Errorf("%d made again, want 1", n)
	}
	if all := all(t, s); len(all) != 3 || all[1].ID != 2 || !all[1].Hidden {
		t.Errorf("%+v", all)
	}
}

// TestDerivedBound holds that records of transcripts have a bound of their own: the oldest days go, and none that was
// typed.
func TestDerivedBound(t *testing.T) {
	s := store(filepath.Join(t.TempDir(), "records"))
	s.Size = 80_000
	typed := must(t, s, records.Record{At: noon, Command: "typed", Text: "x\n"}, "raw")
	var made []records.Redacted
	for day := range 40 {
		made = append(made, of(t, fmt.Sprint(day), day, 1000))
	}
	derive(t, s, made...)
	all := all(t, s)
	if all[0].ID != typed.ID || len(all) < 10 || len(all) > 1+80_000/4/1000 {
		t.Errorf("%d records are left, the first is %d", len(all), all[0].ID)
	}
	for i, r := range all[1:] {
		if want := noon.AddDate(0, 0, i-len(all)+2); !r.At.Equal(want) {
			t.Errorf("record %d is of %v, want %v: the latest days stay", r.ID, r.At, want)
		}
	}
	if err := s.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(ids(t, s)) != 1 {
		t.Error("Forget left something, or took what was typed")
	}
	later := s
	later.Now = func() time.Time { return noon.AddDate(0, 0, 200) }
	if n := derive(t, later, made[0]); n != 0 {
		t.Errorf("%d of what is too old", n)
	}
}

// TestRenewedNumbers holds that a number stays that of its call when all is made again, in whatever order transcripts
// are read, and that questions find each, also what is made again behind an index of later numbers.
func TestRenewedNumbers(t *testing.T) {
	w := newWorld(t)
	made := []records.Redacted{of(t, "a", 3, 10), of(t, "b", 2, 10), of(t, "c", 1, 10)}
	derive(t, w.store, made...)
	question := records.Question{Words: "some line"}
	if got := w.ids(question); len(got) != 3 {
		t.Fatalf("found %v", got)
	}
	if err := w.store.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	typed := w.add(records.Record{Command: "make typed", Text: "some line\n"})
	for i, want := range [][]int{{3, typed}, {1, 3, typed}, {1, 2, 3, typed}} {
		derive(t, w.store, made[[]int{2, 0, 1}[i]])
		got := w.ids(question)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("round %d: found %v, want %v", i, got, want)
		}
	}
	if r, err := find(t, w.store, 2); err != nil || r.Command != "make b" {
		t.Errorf("number 2 is %+v, %v", r, err)
	}
}
