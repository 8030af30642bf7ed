package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/history"
)

// plan says which team to write.
type plan struct {
	authors, sessions, first int
	seed                     uint64
	until                    time.Time
}

// every is how far apart an author's sessions lie.
const every = 84 * time.Hour

// history is the plan as it is written: a session a commit.
func (p plan) history() history.Plan {
	return history.Plan{
		Authors: p.authors, Steps: p.sessions, More: p.first > 0,
		Step: func(author, n int) history.Step { return p.work(author, p.first+n) },
	}
}

// work makes up an author's session number s; the same numbers give the same text.
func (p plan) work(author, s int) history.Step {
	v := newVoice(p.seed, author, s)
	start := p.until.Add(-every*time.Duration(p.first+p.sessions-s) + time.Duration(author)*every/time.Duration(p.authors+1)).Truncate(time.Millisecond)
	talk := history.Session(start, v.uuid(), int64(20_000+v.n(400_000)))
	w := history.Step{
		Email:   fmt.Sprintf("%s.%s%d@example.com", vocabulary.FirstNames[author%len(vocabulary.FirstNames)], vocabulary.LastNames[author/len(vocabulary.FirstNames)%len(vocabulary.LastNames)], author),
		Subject: v.subject(),
		Files:   v.files(),
	}
	talk.Title = w.Subject
	v.talk(&talk, w.Files)
	w.When = talk.LastTS().Add(time.Minute)
	w.Sessions = []session.Session{talk}
	return w
}

// talk lets the two speak, and the assistant use its tools.
func (v *voice) talk(s *session.Session, files []history.File) {
	at := s.StartedAt
	for i := range 6 + v.n(16) {
		t := session.Turn{Index: i, Role: session.RoleAssistant, TS: at, Content: v.answer()}
		if i == 0 || v.n(4) == 0 {
			t.Role, t.Content = session.RoleHuman, v.prompt(i == 0)
		}
		s.Turns = append(s.Turns, t)
		at = at.Add(time.Duration(2_000+v.n(60_000)) * time.Millisecond)
		for range v.n(3) {
			call := session.ToolCall{Index: len(s.ToolCalls), Turn: i, Tool: "Bash", Cmd: v.command()}
			if tool := v.one([]string{"Read", "Edit", "Edit", "Bash"}); tool != "Bash" {
				call.Tool, call.Cmd, call.Path = tool, "", files[v.n(len(files))].Path
			}
			s.ToolCalls = append(s.ToolCalls, call)
		}
	}
}

// files are what the commit changed.
func (v *voice) files() []history.File {
	var out []history.File
	for range 1 + v.n(3) {
		path := filepath.Join(v.one([]string{"internal", "pkg", "cmd", "web/src"}), v.one(vocabulary.Things), v.name()+v.one([]string{".go", "_test.go", ".ts", ".sql"}))
		out = append(out, history.File{Path: path, Text: fmt.Sprintf("// %s\n// %s\n", v.answer(), v.answer())})
	}
	return out
}
