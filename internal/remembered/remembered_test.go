package remembered_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/remembered"
)

const secret = `Vexing/Otter "91"+x`

func open(dir string) *remembered.Store { return remembered.Open(dir, remembered.ToKeep, rand.Reader) }

func add(t *testing.T, s *remembered.Store, values ...string) {
	t.Helper()
	for _, v := range values {
		if err := s.Add(t.Context(), []redact.Value{{Text: v, Rule: "generic-secret"}}); err != nil {
			t.Fatal(err)
		}
	}
}

func file(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(remembered.Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFind: another process finds a value in all the forms in which it is written, and nothing of it lies on the disk.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	add(t, open(dir), secret)
	cases := map[string]string{
		"plain":         secret,
		"hex":           hex.EncodeToString([]byte(secret)),
		"upper hex":     strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"query":         url.QueryEscape(secret),
		"path":          url.PathEscape(secret),
		"lower escapes": strings.ReplaceAll(url.PathEscape(secret), "%2F", "%2f"),
		"JSON":          `Vexing/Otter \"91\"+x`,
		"split":         "Vexing/Ot\\\nter \"9\\\n1\"+x",
		"split in base64": base64.StdEncoding.EncodeToString([]byte(secret))[:9] + "\\\n" +
			base64.RawStdEncoding.EncodeToString([]byte(secret))[9:25],
		"base64":           base64.RawStdEncoding.EncodeToString([]byte(secret))[:25], // all that it decides alone
		"base64 behind 1":  base64.RawStdEncoding.EncodeToString([]byte("u" + secret))[2:26],
		"base64 behind 2":  base64.RawURLEncoding.EncodeToString([]byte("u:" + secret))[3:28],
		"base64 of an URL": base64.RawURLEncoding.EncodeToString([]byte(secret))[:25],
	}
	for name, form := range cases {
		t.Run(name, func(t *testing.T) {
			text := "a \\\nlong line, " + form + " and more"
			found := open(dir).Find(text)
			if len(found) == 0 {
				t.Fatalf("not found in %q", text)
			}
			if got := text[found[0].Lo:found[0].Hi]; got != form || found[0].Rule != "generic-secret" {
				t.Errorf("found %q as %s, want %q", got, found[0].Rule, form)
			}
		})
	}
	stored := file(t, dir)
	for name, form := range cases {
		if bytes.Contains(stored, []byte(form)) || bytes.Contains(stored, []byte(form[:8])) {
			t.Errorf("%s is stored:\n%s", name, stored)
		}
	}
	if info, err := os.Stat(remembered.Path(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestNotRemembered: what is short, ordinary, or part of a longer number stays; who only reads leaves no trace.
func TestNotRemembered(t *testing.T) {
	dir := t.TempDir()
	reader := remembered.Open(dir, remembered.ToRead, rand.Reader)
	add(t, reader, "Vexing-Otter")
	if len(reader.Find("a Vexing-Otter")) != 1 {
		t.Error("a reader does not find what it added")
	}
	if _, err := os.Stat(remembered.Path(dir)); err == nil {
		t.Error("a reader wrote a file")
	}
	s := open(dir)
	add(t, s, "short77", "4711471147")
	if err := s.Add(t.Context(), []redact.Value{{
		Text: "umbrella", Rule: "generic-secret",
		OnlyWhereNamed: true,
	}}); err != nil {
		t.Fatal(err)
	}
	if found := open(dir).Find("short77 umbrella 94711471147 and Vexing-Otter"); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	if found := open(dir).Find("pin 4711471147."); len(found) != 1 {
		t.Errorf("found %v", found)
	}
}

// TestTorn: a line that a dead process left unfinished costs nothing but itself.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	add(t, open(dir), "Vexing-Otter-1")
	whole := file(t, dir)
	for cut := bytes.IndexByte(whole, '\n') + 1; cut < len(whole); cut += 7 {
		if err := os.WriteFile(remembered.Path(dir), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		add(t, open(dir), "Vexing-Otter-2")
		if found := open(dir).Find("Vexing-Otter-2"); len(found) != 1 {
			t.Fatalf("cut at %d: %v", cut, found)
		}
	}
	if err := os.WriteFile(remembered.Path(dir), []byte("no key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(dir).Add(t.Context(), []redact.Value{{Text: "Vexing-Otter-3", Rule: "r"}}); err == nil ||
		!strings.Contains(err.Error(), remembered.Path(dir)) {
		t.Errorf("error: %v", err)
	}
}

// TestSideBySide: what many add at once is all there, under one key.
func TestSideBySide(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			for i := range 5 {
				add(t, open(dir), fmt.Sprintf("Vexing-Otter-%d-%d", n, i))
			}
		})
	}
	all.Wait()
	s := open(dir)
	for n := range 20 {
		for i := range 5 {
			if len(s.Find(fmt.Sprintf("Vexing-Otter-%d-%d", n, i))) == 0 {
				t.Errorf("%d-%d is not remembered", n, i)
			}
		}
	}
}

// TestLimit: the file does not grow beyond its limit, and what came last is there, whether values come in parts or at
// once.
func TestLimit(t *testing.T) {
	for _, part := range []int{500, 12000} {
		t.Run(fmt.Sprint(part), func(t *testing.T) { testLimit(t, part) })
	}
}

func testLimit(t *testing.T, part int) {
	t.Helper()
	dir := t.TempDir()
	s := open(dir)
	var values []redact.Value
	for i := range 12000 {
		values = append(values, redact.Value{Text: fmt.Sprintf("Vexing-Otter-%d", i), Rule: "generic-secret"})
		if len(values) == part {
			if err := s.Add(t.Context(), values); err != nil {
				t.Fatal(err)
			}
			values = nil
		}
	}
	if n := len(file(t, dir)); n > remembered.Limit {
		t.Errorf("%d bytes", n)
	}
	if len(open(dir).Find("Vexing-Otter-11999")) == 0 || len(open(dir).Find("Vexing-Otter-7 ")) != 0 {
		t.Error("the last is forgotten, or the first is not")
	}
}

// TestKeys: two clones have nothing in common, so that nobody can compare what they remember.
func TestKeys(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	add(t, open(a), secret)
	add(t, open(b), secret)
	lines := func(dir string) []string { return strings.Fields(string(file(t, dir))) }
	if cmp.Equal(lines(a)[2:], lines(b)[2:]) {
		t.Error("the same fingerprints under two keys")
	}
}

// BenchmarkFind: text without any of the values.
func BenchmarkFind(b *testing.B) {
	text := strings.Repeat("The quick brown fox (42) jumps over internal/lazy/dog.go;\n", 20_000)
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := remembered.Open(b.TempDir(), remembered.ToRead, rand.Reader)
			for i := range n {
				_ = s.Add(context.Background(), []redact.Value{{Text: fmt.Sprintf("%dVexing-Otter", i*7919), Rule: "r"}})
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Find(text)
			}
		})
	}
}

// FuzzFind: whatever a file holds, places are within the text.
func FuzzFind(f *testing.F) {
	dir := f.TempDir()
	if err := open(dir).Add(context.Background(), []redact.Value{{Text: "Vexing-Otter", Rule: "r"}}); err != nil {
		f.Fatal(err)
	}
	seed, err := os.ReadFile(remembered.Path(dir))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, "a Vexing-Ot\\\nter")
	f.Fuzz(func(t *testing.T, stored []byte, text string) {
		dir := t.TempDir()
		if err := os.MkdirAll(dir+"/rekal", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(remembered.Path(dir), stored, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range open(dir).Find(text) {
			if p.Lo < 0 || p.Hi > len(text) || p.Lo >= p.Hi {
				t.Fatalf("%+v in %d bytes", p, len(text))
			}
		}
	})
}
