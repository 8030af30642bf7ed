package capture_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/archive"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// copies are the transcripts of the home, in a folder of backups.
func (w *world) copies() (out []string) {
	w.T.Helper()
	for _, a := range transcript.Agents() {
		found, err := a.Locate(w.T.Context(), transcript.Env{Home: w.Home(), Roots: []string{w.repo()}})
		if err != nil {
			w.T.Fatal(err)
		}
		for _, f := range found.Files {
			path, _, _ := strings.Cut(f.Path, ".db/")
			if path != f.Path {
				path += ".db"
			} else {
				text, err := os.ReadFile(path)
				if err != nil {
					w.T.Fatal(err)
				}
				info, err := os.Stat(path)
				if err != nil {
					w.T.Fatal(err)
				}
				name, err := filepath.Rel(w.Home(), path)
				if err != nil {
					w.T.Fatal(err)
				}
				path = filepath.Join(w.At("backup"), name)
				w.Write(path, string(text))
				if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil { // Cursor's records have no other time
					w.T.Fatal(err)
				}
			}
			out = append(out, path)
		}
	}
	return out
}

// takesOver imports what lies in the folder of backups.
func (w *world) takesOver() capture.Outcome {
	w.T.Helper()
	s := archive.Files(w.T.Context(), w.open(), w.copies(), "")
	if s.Transcripts != 1 || len(s.Failed) > 0 {
		w.T.Fatalf("%d transcripts, failed: %v", s.Transcripts, s.Failed)
	}
	return w.try(func(c *capture.Capturer) (capture.Outcome, error) {
		c.Agents = s.Agents
		return c.Import(w.T.Context())
	})
}

// TestImportsOnce: what a hook captured is not imported, what was imported is not captured, and either goes on where
// the other ended.
func TestImportsOnce(t *testing.T) {
	for name, s := range scribes() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s.begin(w, 0)
			s.ask(w, 1, "write a function")
			s.say(w, 2, "Here it is.")
			s.edit(w, 3, "a.go", nil, strings.Split(strings.TrimSpace(first), "\n"))
			w.commit(4, "one", "a.go", first)
			w.at(4)
			stored(t, w.takesOver(), 1, 2, 1)
			w.lines("one a.go 1-3 " + s.native())
			w.at(5)
			stored(t, w.takesOver(), 0, 0, 0)
			stored(t, w.capture(), 0, 0, 0)
			s.say(w, 10, "Anything else?")
			w.at(11)
			stored(t, w.capture(), 1, 1, 0)
			stored(t, w.takesOver(), 0, 0, 0)
			s.say(w, 20, "No?")
			w.at(21)
			stored(t, w.takesOver(), 1, 1, 0)
			w.forget()
			w.at(22)
			stored(t, w.capture(), 0, 0, 0)
			tool := w.held().sessions[s.native()].ToolCalls[0].Tool + " a.go"
			w.tells(s.native(), "0 human: write a function", "1 assistant: Here it is.", tool, "2 assistant: Anything else?",
				"3 assistant: No?")
			harness.Equal(t, "sessions", 1, len(w.held().sessions))
		})
	}
}
