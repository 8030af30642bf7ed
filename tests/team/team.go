package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's name of a blob
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/templates"
)

// plan says which team to write.
type plan struct {
	authors, sessions, first int
	seed                     uint64
	until                    time.Time
}

// every is how far apart an author's sessions lie.
const every = 84 * time.Hour

// work is one session and the commit that came of it.
type work struct {
	session session.Session
	subject string
	email   string
	when    time.Time // of the commit
	files   []file
}

type file struct{ path, text string }

// write writes the code first, because a ledger names its commits.
func (p plan) write(ctx context.Context, repo string) error {
	works := make([][]work, p.authors)
	for a := range works {
		for s := range p.sessions {
			works[a] = append(works[a], p.work(a, p.first+s))
		}
	}
	shas, err := p.code(ctx, repo, works)
	if err != nil {
		return err
	}
	redactor := redact.New()
	return fastImport(ctx, repo, nil, func(out io.Writer) error {
		for a := range works {
			if err := p.ledger(ctx, redactor, out, works[a], shas[a]); err != nil {
				return err
			}
		}
		return nil
	})
}

// fastImport feeds git from a function.
func fastImport(ctx context.Context, repo string, args []string, write func(io.Writer) error) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repo, "fast-import", "--quiet", "--date-format=raw"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(in, 1<<20)
	failed := write(out)
	if failed == nil {
		failed = out.Flush()
	}
	failed = errors.Join(failed, in.Close())
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git fast-import: %w: %s", err, stderr.Bytes())
	}
	return failed
}

// code writes one branch of everybody's commits, in turns, and returns their names.
func (p plan) code(ctx context.Context, repo string, works [][]work) ([][]string, error) {
	marks, err := filepath.Abs(filepath.Join(repo, "team-marks"))
	if err != nil {
		return nil, err
	}
	err = fastImport(ctx, repo, []string{"--export-marks=" + marks}, func(out io.Writer) error {
		from := ""
		if p.first > 0 {
			from = "from refs/heads/main^0\n"
		}
		for s := range p.sessions {
			for a := range works {
				w := works[a][s]
				fmt.Fprintf(out, "commit refs/heads/main\nmark :%d\n%s%s", mark(a, s, p.sessions), who(w), data(w.subject+"\n"))
				fmt.Fprint(out, from)
				for _, f := range w.files {
					fmt.Fprintf(out, "M 100644 inline %s\n%s", f.path, data(f.text))
				}
				from = ""
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	shas, err := readMarks(marks, len(works), p.sessions)
	return shas, errors.Join(err, os.Remove(marks))
}

// readMarks reads which commit git made of each session.
func readMarks(path string, authors, sessions int) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	shas := make([][]string, authors)
	for a := range shas {
		shas[a] = make([]string, sessions)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		var sha string
		if _, err := fmt.Sscanf(line, ":%d %s", &n, &sha); err != nil {
			return nil, fmt.Errorf("marks: %q: %w", line, err)
		}
		shas[(n-1)/sessions][(n-1)%sessions] = sha
	}
	return shas, nil
}

func mark(a, s, sessions int) int { return a*sessions + s + 1 }

func who(w work) string {
	name, _, _ := strings.Cut(w.email, "@")
	return fmt.Sprintf("committer %s <%s> %d +0000\n", name, w.email, w.when.Unix())
}

func data(text string) string { return fmt.Sprintf("data %d\n%s\n", len(text), text) }

// ledger writes one author's branch.
func (p plan) ledger(ctx context.Context, redactor *redact.Redactor, out io.Writer, works []work, shas []string) error {
	ref, err := ledger.RefName(works[0].email)
	if err != nil {
		return err
	}
	from := "from " + ref + "^0\n"
	if p.first == 0 {
		from = ""
		fmt.Fprintf(out, "commit %s\n%s%s", ref, who(works[0]), data("rekal ledger\n"))
		fmt.Fprintf(out, "M 100644 inline format\n%sM 100644 inline README.md\n%s",
			data(fmt.Sprintf("%d\n", ledger.Format)), data(templates.LedgerReadme()))
	}
	for i, w := range works {
		parts, err := encode(ctx, redactor, w, shas[i])
		if err != nil {
			return err
		}
		id, err := ulid.New(ulid.Timestamp(w.when), rand.NewChaCha8(sha256Of(w.session.NativeID)))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "commit %s\n%s%s%s", ref, who(w), data(fmt.Sprintf("%.7s %s\n", shas[i], w.subject)), from)
		for n, part := range parts {
			name := id.String()
			if n > 0 {
				name = fmt.Sprintf("%s.%d", name, n)
			}
			fmt.Fprintf(out, "M 100644 inline segments/%s/%s.ndjson\n%s", w.when.Format("2006/01/02"), name, data(string(part)))
		}
		from = ""
	}
	return nil
}

// encode makes the segments of a checkpoint as git-rekal does.
func encode(ctx context.Context, redactor *redact.Redactor, w work, sha string) ([][]byte, error) {
	cp := &session.Checkpoint{
		GitSHA: sha, GitBranch: "main", UserEmail: w.email, TS: w.when, ActorType: session.ActorHuman, Via: session.ViaCommit,
	}
	for _, f := range w.files {
		cp.Files = append(cp.Files, session.File{Path: f.path, Change: "M", Blob: blob(f.text)})
	}
	clean, _, err := redactor.Apply(ctx, session.Entry{Checkpoint: cp, Sessions: []session.Session{w.session}})
	if err != nil {
		return nil, err
	}
	return segment.Encode(clean)
}

func blob(text string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)) //nolint:gosec // git's name of a blob
	return hex.EncodeToString(sum[:])
}

// work makes up an author's session number s; the same numbers give the same text.
func (p plan) work(author, s int) work {
	v := newVoice(p.seed, author, s)
	start := p.until.Add(-every*time.Duration(p.first+p.sessions-s) + time.Duration(author)*every/time.Duration(p.authors+1)).Truncate(time.Millisecond)
	native := v.uuid()
	w := work{
		email: fmt.Sprintf("%s.%s%d@example.com", firstNames[author%len(firstNames)], lastNames[author/len(firstNames)%len(lastNames)], author),
		session: session.Session{
			Source: "claude-code", NativeID: native, ActorType: session.ActorHuman, Branch: "main",
			StartedAt: start, ID: session.NewID(start, "claude-code", native),
		},
	}
	w.subject = v.subject()
	w.session.Title = w.subject
	w.files = v.files()
	v.talk(&w.session, w.files)
	w.session.Bytes = int64(20_000 + v.n(400_000))
	sum := sha256Of(native)
	w.session.Hash = hex.EncodeToString(sum[:])
	w.when = w.session.Turns[len(w.session.Turns)-1].TS.Add(time.Minute)
	return w
}

// talk lets the two speak, and the assistant use its tools.
func (v *voice) talk(s *session.Session, files []file) {
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
				call.Tool, call.Cmd, call.Path = tool, "", files[v.n(len(files))].path
			}
			s.ToolCalls = append(s.ToolCalls, call)
		}
	}
}

// files are what the commit changed.
func (v *voice) files() []file {
	var out []file
	for range 1 + v.n(3) {
		path := filepath.Join(v.one([]string{"internal", "pkg", "cmd", "web/src"}), v.one(things), v.name()+v.one([]string{".go", "_test.go", ".ts", ".sql"}))
		out = append(out, file{path, fmt.Sprintf("// %s\n// %s\n", v.answer(), v.answer())})
	}
	return out
}
