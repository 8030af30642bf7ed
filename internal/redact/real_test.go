package redact_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestLongRealTranscripts: in 60 real transcripts there is no secret, so every text must come out
// as it went in, in its normal form, but for home folders, and commands, which are cut.
func TestLongRealTranscripts(t *testing.T) {
	e := realEntry(t)
	got, rep := apply(t, redact.New(), e)
	if len(rep.Rules) != 0 || rep.Private != 0 {
		t.Errorf("false alarms: %+v", rep)
	}
	differ := 0
	check := func(was, is string, whole bool) {
		was = session.PlainText(was)
		was, is = people.ReplaceAllString(was, "~"), people.ReplaceAllString(is, "~")
		if was != is && (whole || !strings.HasPrefix(was, is)) {
			if differ++; differ < 10 {
				t.Errorf("(-want +got):\n%s", cmp.Diff(was, is))
			}
		}
	}
	for i, s := range e.Sessions {
		for j, c := range s.Turns {
			check(c.Content, got.Sessions[i].Turns[j].Content, true)
		}
		for j, c := range s.ToolCalls {
			check(c.Path, got.Sessions[i].ToolCalls[j].Path, true)
			check(c.Cmd, got.Sessions[i].ToolCalls[j].Cmd, false)
		}
	}
	t.Logf("%.2f MB, %d redactions", float64(size(e))/1e6, len(rep.Rules))
}

// people are the home folders that these transcripts name.
var people = regexp.MustCompile(`/Users/[\w-]+|/home/[\w-]+|-(?:Users|home)-\w+`)

func BenchmarkRealTranscripts(b *testing.B) {
	e := realEntry(b)
	r := redact.New()
	apply(b, r, entryOf("load"))
	b.SetBytes(size(e))
	before, n := userTime(b), 0
	for b.Loop() {
		apply(b, r, e)
		n++
	}
	b.ReportMetric(float64(size(e))*float64(n)/1e6/(userTime(b)-before).Seconds(), "MB/user-s")
}

// userTime is what this process has computed so far, which a busy machine does not add to.
func userTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// BenchmarkFirstText is what a process pays for its first texts: reading the rules and
// compiling those that one session wakes.
func BenchmarkFirstText(b *testing.B) {
	e := realEntry(b)
	e.Sessions = e.Sessions[:1]
	b.SetBytes(size(e))
	for b.Loop() {
		apply(b, redact.New(), e)
	}
}

// BenchmarkMegabyte is one text of 1 MB made of real turns.
func BenchmarkMegabyte(b *testing.B) {
	var all strings.Builder
	for _, s := range realEntry(b).Sessions {
		for _, t := range s.Turns {
			all.WriteString(t.Content + "\n")
		}
	}
	e := entryOf(all.String()[:1_000_000])
	r := redact.New()
	apply(b, r, entryOf("load"))
	b.SetBytes(size(e))
	for b.Loop() {
		apply(b, r, e)
	}
}

// BenchmarkLongWord is the text that windows fit worst: 1 MB of keywords without a space.
func BenchmarkLongWord(b *testing.B) {
	e := entryOf(strings.Repeat("keytoken", 125_000))
	r := redact.New()
	b.SetBytes(size(e))
	for b.Loop() {
		apply(b, r, e)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		apply(b, redact.New(), entryOf("x"))
	}
}

func size(e session.Entry) int64 {
	n := 0
	for _, s := range e.Sessions {
		for _, t := range s.Turns {
			n += len(t.Content)
		}
		for _, c := range s.ToolCalls {
			n += len(c.Path) + len(c.Cmd)
		}
	}
	return int64(n)
}

// realEntry reads the prompts, assistant texts, commands and paths of the 60 real
// transcripts, which are not part of the repository.
func realEntry(t testing.TB) session.Entry {
	t.Helper()
	var e session.Entry
	all := harness.Transcripts(t)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		e.Sessions = append(e.Sessions, readTranscript(t, id, bytes.NewReader(all[id])))
	}
	return e
}

func readTranscript(t testing.TB, name string, r io.Reader) session.Session {
	t.Helper()
	s := session.Session{NativeID: name}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var rec struct {
			Message struct{ Content json.RawMessage }
		}
		var prompt string
		var blocks []struct {
			Text  string
			Input struct {
				Command  string
				FilePath string `json:"file_path"`
			}
		}
		if json.Unmarshal(line, &rec) == nil {
			if json.Unmarshal(rec.Message.Content, &prompt) == nil && prompt != "" {
				s.Turns = append(s.Turns, session.Turn{Content: prompt})
			}
			_ = json.Unmarshal(rec.Message.Content, &blocks) // a prompt is no list
		}
		for _, b := range blocks {
			if b.Text != "" {
				s.Turns = append(s.Turns, session.Turn{Content: b.Text})
			}
			if b.Input.Command != "" || b.Input.FilePath != "" {
				s.ToolCalls = append(s.ToolCalls, session.ToolCall{Cmd: b.Input.Command, Path: b.Input.FilePath})
			}
		}
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
