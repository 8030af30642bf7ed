package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// grown is one of them: its whole text, and where it was cut.
type grown struct {
	id    string
	text  []byte
	sizes []int
}

// growth reads the nine real sessions whose lengths at successive commits are known.
func growth(t *testing.T) []grown {
	t.Helper()
	table, err := os.ReadFile(harness.Data(t, "claude-code/growth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	files := harness.Transcripts(t)
	var out []grown
	for line := range strings.Lines(string(table)) {
		id, list, _ := strings.Cut(strings.TrimSpace(line), "\t")
		g := grown{id: id, text: files[id]}
		for n := range strings.SplitSeq(list, ",") {
			size, err := strconv.Atoi(n)
			if err != nil || size > len(g.text) {
				t.Fatalf("%s: %q, and %d bytes", line, n, len(g.text))
			}
			g.sizes = append(g.sizes, size)
		}
		out = append(out, g)
	}
	if len(out) != 9 {
		t.Fatalf("%d sessions, want nine", len(out))
	}
	return out
}

// moved is the text cut to n bytes as it would stand had it been written in the repository:
// cut first, for the sizes are those of the original.
func (g grown) moved(n int, repo string) []byte {
	raw := bytes.Clone(g.text[:n])
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`"cwd":"([^"]+)"`).FindAllSubmatch(g.text, -1) {
		seen[string(m[1])] = true
	}
	var dirs []string
	for d := range seen {
		dirs = append(dirs, d)
	}
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, d := range dirs {
		raw = bytes.ReplaceAll(raw, []byte(d), []byte(repo))
	}
	return raw
}

// TestLongRealGrowth replays the real sessions commit by commit. At each step the ledger holds
// every turn and call that the transcript held then, exactly once; at the end it is what
// one capture of the whole gives.
func TestLongRealGrowth(t *testing.T) {
	for _, g := range growth(t) {
		t.Run(g.id[:8], func(t *testing.T) {
			w := newWorld(t)
			for i, size := range g.sizes {
				w.commit(i, fmt.Sprint("step ", i), "step", fmt.Sprint(i))
				w.Write(w.transcript(g.id), string(g.moved(size, w.repo())))
				w.capture()
				harness.Equal(t, fmt.Sprint("step ", i), content(decoded(t, w, g.id)), content(w.held().sessions[g.id]))
			}
			stored(t, w.capture(), 0, 0, 0)
			grown := w.held().sessions[g.id]
			w.startOver()
			w.capture()
			once := w.held().sessions[g.id]
			harness.Equal(t, "at the end", content(once), content(grown))
			if grown.Hash != once.Hash || grown.Bytes != once.Bytes || grown.ID != once.ID || grown.Title != once.Title ||
				grown.Model != once.Model {
				t.Errorf("at the end %+v, captured at once %+v", head(grown), head(once))
			}
		})
	}
}

// decoded is what the transcript holds now, read at once and redacted.
func decoded(t *testing.T, w *world, native string) session.Session {
	t.Helper()
	raw, err := os.ReadFile(w.transcript(native))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := transcript.ClaudeCode{}.Decode(context.Background(), bytes.NewReader(raw), transcript.Options{
		File: transcript.File{NativeID: native}, Roots: []string{w.repo()},
	})
	if err != nil || len(doc.Sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(doc.Sessions), err)
	}
	clean, _, err := harness.Redactor().Apply(context.Background(),
		session.Entry{Sessions: []session.Session{doc.Sessions[0].Session}})
	if err != nil {
		t.Fatal(err)
	}
	return clean.Entry().Sessions[0]
}

// content is a session's turns and calls without what a boundary between two reads may
// change: the path of a call whose failure is told in a later read.
func content(s session.Session) session.Session {
	calls := slices.Clone(s.ToolCalls)
	for i := range calls {
		calls[i].Path = ""
		// a call that is captured before it ends has no status, and what it printed is not known
		calls[i].Exit, calls[i].Terms = 0, ""
	}
	return session.Session{Turns: s.Turns, ToolCalls: calls}
}

// head is a session without its turns and calls.
func head(s session.Session) session.Session {
	s.Turns, s.ToolCalls = nil, nil
	return s
}
