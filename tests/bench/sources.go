package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	session.Session
	subject string // of a commit that it led to; "" where none is known
}

// callsAt are those behind a turn.
func (s source) callsAt(turn int) (out []session.ToolCall) {
	for _, c := range s.ToolCalls {
		if max(c.Turn, 0) == turn {
			out = append(out, c)
		}
	}
	return out
}

// readSources reads the real sessions below dir: those with a transcript as git-rekal decodes
// it, the others from the ranking corpus, which keeps their turns and, apart, what their tools
// did.
func readSources(ctx context.Context, dir string) ([]source, error) {
	sources, err := readTranscripts(ctx, filepath.Join(dir, "claude-code", "transcripts-60.tar.gz"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known := map[string]bool{}
	for _, s := range sources {
		known[s.NativeID] = true
	}
	dir = filepath.Join(dir, "ranking")
	err = harness.Corpus(dir, func(d harness.Document) {
		if !known[d.Doc] && len(d.Turns) > 0 {
			sources = append(sources, source{Session: spread(d.Session(""))})
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.NativeID, b.NativeID) })
	subjects, err := readSubjects(dir)
	if err != nil {
		return nil, err
	}
	redactor := redact.New()
	for i, s := range sources {
		done, _, err := redactor.Apply(ctx, session.Entry{
			Subject:  subjects[s.NativeID],
			Sessions: []session.Session{s.Session},
		})
		if err != nil {
			return nil, err
		}
		sources[i] = source{done.Entry().Sessions[0], done.Entry().Subject}
	}
	return sources, nil
}

// readTranscripts decodes an archive of transcripts.
func readTranscripts(ctx context.Context, path string) (out []source, err error) {
	all, err := harness.ReadTranscripts(path)
	for native, text := range all {
		_, after, _ := bytes.Cut(text, []byte(`"cwd":"`))
		root, _, _ := bytes.Cut(after, []byte(`"`)) // of the repository in which it was recorded
		doc, err := transcript.ClaudeCode{}.Decode(ctx, bytes.NewReader(text), transcript.Options{
			File: transcript.File{NativeID: native}, Roots: []string{string(root)},
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", native, err)
		}
		for _, part := range doc.Sessions {
			if len(part.Turns) > 0 {
				out = append(out, source{Session: part.Session})
			}
		}
	}
	return out, err
}

// spread puts what the tools did behind the turns, two calls a turn.
func spread(s session.Session) session.Session {
	all := s.ToolCalls
	s.ToolCalls = nil
	for turn := range s.Turns {
		for n := range min(2, len(all)) {
			c := all[(2*turn+n)%len(all)]
			c.Turn = turn
			s.ToolCalls = append(s.ToolCalls, c)
		}
	}
	return s
}

// readSubjects reads the commits' subjects of the ranking queries, by session.
func readSubjects(dir string) (map[string]string, error) {
	text := map[string]string{}
	err := harness.EachLine(filepath.Join(dir, "queries.jsonl"),
		func(q struct{ QID, Query string }) { text[q.QID] = q.Query })
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
