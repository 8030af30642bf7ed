package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// source is one real session, redacted: what made-up ones are put together from.
type source struct {
	name    string
	turns   []session.Turn
	calls   [][]session.ToolCall // behind each turn
	subject string               // of a commit that it led to; "" where none is known
}

// readSources reads the real sessions below dir: those with a transcript as git-rekal decodes
// it, the others from the ranking corpus, which keeps their turns and, apart, what their tools
// did.
func readSources(ctx context.Context, dir string) ([]source, error) {
	sources, err := readTranscripts(ctx, filepath.Join(dir, "claude-code", "transcripts-60.tar.gz"))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, s := range sources {
		known[s.name] = true
	}
	err = harness.EachLine(filepath.Join(dir, "ranking", "corpus.jsonl.gz"), func(d document) {
		if !known[d.Doc] && len(d.Turns) > 0 {
			sources = append(sources, d.source())
		}
	})
	if err != nil {
		return nil, err
	}
	subjects, err := readSubjects(filepath.Join(dir, "ranking"))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.name, b.name) })
	for i := range sources {
		sources[i].subject = subjects[sources[i].name]
	}
	return sources, clean(ctx, sources)
}

// readTranscripts decodes an archive of transcripts.
func readTranscripts(ctx context.Context, path string) ([]source, error) {
	all, err := harness.ReadTranscripts(path)
	var out []source
	for native, text := range all {
		doc, err := transcript.ClaudeCode{}.Decode(ctx, bytes.NewReader(text), transcript.Options{
			File: transcript.File{NativeID: native}, Roots: []string{folder(text)},
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", native, err)
		}
		for _, part := range doc.Sessions {
			if len(part.Turns) > 0 {
				out = append(out, sourceOf(part.Session))
			}
		}
	}
	return out, err
}

// folder is where the first record of a transcript was made: the recorded repository's root.
func folder(transcript []byte) string {
	_, after, _ := bytes.Cut(transcript, []byte(`"cwd":"`))
	cwd, _, _ := bytes.Cut(after, []byte(`"`))
	return string(cwd)
}

func sourceOf(s session.Session) source {
	out := source{name: s.NativeID, turns: s.Turns, calls: make([][]session.ToolCall, len(s.Turns))}
	for _, c := range s.ToolCalls {
		at := max(c.Turn, 0)
		out.calls[at] = append(out.calls[at], c)
	}
	return out
}

// document is a session of the ranking corpus.
type document struct {
	Doc         string
	Turns       []struct{ Role, Text string }
	FilesEdited []string `json:"files_edited"`
	FilesRead   []string `json:"files_read"`
	Cmds        []string
}

// source spreads what the tools did over the turns, about two calls a turn.
func (d document) source() source {
	out := source{name: d.Doc, calls: make([][]session.ToolCall, len(d.Turns))}
	var all []session.ToolCall
	for i := range max(len(d.FilesEdited), len(d.FilesRead), len(d.Cmds)) {
		if i < len(d.FilesRead) {
			all = append(all, session.ToolCall{Tool: "Read", Path: d.FilesRead[i]})
		}
		if i < len(d.FilesEdited) {
			all = append(all, session.ToolCall{Tool: "Edit", Path: d.FilesEdited[i]})
		}
		if i < len(d.Cmds) {
			all = append(all, session.ToolCall{Tool: "Bash", Cmd: d.Cmds[i]})
		}
	}
	for i, t := range d.Turns {
		role := session.RoleAssistant
		if t.Role == "user" {
			role = session.RoleHuman
		}
		out.turns = append(out.turns, session.Turn{Role: role, Content: t.Text})
		for n := range min(2, len(all)) {
			out.calls[i] = append(out.calls[i], all[(2*i+n)%len(all)])
		}
	}
	return out
}

// readSubjects reads the commits' subjects of the ranking queries, by session.
func readSubjects(dir string) (map[string]string, error) {
	text := map[string]string{}
	err := harness.EachLine(filepath.Join(dir, "queries.jsonl"), func(q struct{ QID, Query string }) { text[q.QID] = q.Query })
	if err != nil {
		return nil, err
	}
	qrels, err := os.ReadFile(filepath.Join(dir, "qrels.tsv"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(qrels)) {
		if f := strings.Fields(line); len(f) == 3 && out[f[1]] == "" {
			out[f[1]] = text[f[0]]
		}
	}
	return out, nil
}

// clean redacts the sources.
func clean(ctx context.Context, sources []source) error {
	redactor := redact.New()
	for i := range sources {
		s := &sources[i]
		e := session.Entry{Subject: s.subject, Sessions: []session.Session{{Turns: s.turns}}}
		for t, calls := range s.calls {
			for _, c := range calls {
				c.Turn = t
				e.Sessions[0].ToolCalls = append(e.Sessions[0].ToolCalls, c)
			}
		}
		done, _, err := redactor.Apply(ctx, e)
		if err != nil {
			return err
		}
		whole := done.Entry()
		whole.Sessions[0].NativeID = s.name
		subject := whole.Subject
		*s = sourceOf(whole.Sessions[0])
		s.subject = subject
	}
	return nil
}
