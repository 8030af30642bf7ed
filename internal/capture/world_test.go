package capture_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// The test binary stands in for the hook of another process: it captures once in $WORLD.
const roleVar = "REKAL_CAPTURE_TEST_WORLD"

func TestMain(m *testing.M) {
	root := os.Getenv(roleVar)
	if root == "" {
		os.Exit(m.Run())
	}
	w := &world{Place: &harness.Place{Root: root, Env: someone}, now: time.Now}
	c, done, err := w.capturer()
	if err == nil {
		defer done()
		_, err = c.Run(context.Background(), session.ViaCommit, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const email = "dev@example.com"

// start is when the stories begin: second 0 of the records below.
var start = time.Date(2026, 11, 20, 9, 0, 0, 500_000_000, time.UTC)

func second(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

// world is a home with transcripts and a real repository with a ledger.
type world struct {
	*harness.Place
	now  func() time.Time // of the captures
	via  string
	redo []session.Rewrite
	red  redact.Settings // of the captures
	env  map[string]string
}

// someone is who git's commits are of.
var someone = []string{
	"GIT_AUTHOR_NAME=Dev", "GIT_COMMITTER_NAME=Dev", "GIT_AUTHOR_EMAIL=" + email,
	"GIT_COMMITTER_EMAIL=" + email,
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Place: harness.New(t), via: session.ViaCommit}
	w.Env = someone
	w.at(3600)
	if err := errors.Join(os.MkdirAll(w.store(), 0o777), os.MkdirAll(w.cache(), 0o777)); err != nil {
		t.Fatal(err)
	}
	w.Init("repo")
	w.commit(-86400, "before all sessions", "README", "hello\n")
	if _, err := w.own(w.open()).Create(context.Background()); err != nil {
		t.Fatal(err)
	}
	return w
}

// startOver puts an empty ledger in the place of the one that is there, and no cache.
func (w *world) startOver() {
	w.T.Helper()
	w.git("branch", "-D", "rekal/"+email)
	w.forget()
	if _, err := w.own(w.open()).Create(context.Background()); err != nil {
		w.T.Fatal(err)
	}
}

// forget removes the cache.
func (w *world) forget() {
	w.T.Helper()
	if err := os.Remove(filepath.Join(w.cache(), "state.db")); err != nil {
		w.T.Fatal(err)
	}
}

// at sets the clock of the captures; each reading of it is a millisecond later.
func (w *world) at(sec int) {
	n := 0
	w.now = func() time.Time { n++; return second(sec).Add(time.Duration(n) * time.Millisecond) }
}

func (w *world) repo() string  { return w.At("repo") }
func (w *world) cache() string { return w.At("cache") }

// store is the folder of the repository's transcripts.
func (w *world) store() string {
	return filepath.Join(w.Home(), ".claude", "projects",
		regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(w.repo(), "-"))
}

func (w *world) git(args ...string) string {
	w.T.Helper()
	return w.Git("repo", args...)
}

// dated is the world with git's clock at that second.
func (w *world) dated(sec int) *harness.Place {
	return w.With(fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", second(sec).Unix()))
}

// commit writes files (path, text, path, text…) and commits them at that second.
func (w *world) commit(sec int, message string, files ...string) string {
	w.T.Helper()
	return w.dated(sec).Commit("repo", message, files...)
}

// transcript is the path of a transcript by its name below the store.
func (w *world) transcript(name string) string { return filepath.Join(w.store(), name+".jsonl") }

// add appends records to a transcript.
func (w *world) add(name string, records ...string) {
	w.T.Helper()
	old, err := os.ReadFile(w.transcript(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.T.Fatal(err)
	}
	text := string(old)
	for _, r := range records {
		text += strings.ReplaceAll(r, "$REPO", w.repo()) + "\n"
	}
	w.Write(w.transcript(name), text)
}

// The records that Claude Code writes, of a session at a second. $REPO is the repository.
func rec(sid, kind string, sec int, extra string) string {
	return fmt.Sprintf(`{"cwd":"$REPO","sessionId":%q,"version":"2.1.39","gitBranch":"main","type":%q,"timestamp":%q,%s}`,
		sid, kind, second(sec).Format("2006-01-02T15:04:05.000Z"), extra)
}

func ask(sid string, sec int, text string) string {
	return rec(sid, "user", sec, fmt.Sprintf(`"message":{"role":"user","content":%q}`, text))
}

func say(sid string, sec int, text string) string {
	return rec(sid, "assistant", sec, fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"text","text":%q}]}`,
		text))
}

func use(sid string, sec int, tool, path string) string {
	return rec(sid, "assistant", sec,
		fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"tool_use","id":"t%s%d","name":%q,"input":{"file_path":"$REPO/%s"}}]}`, path, sec, tool, path))
}

// retitle is the user giving session A a title.
func retitle(text string) string {
	return fmt.Sprintf(`{"type":"custom-title","customTitle":%q,"sessionId":%q}`, text, sidA)
}

// byAgent makes a record one of a subagent.
func byAgent(id, record string) string {
	return strings.Replace(record, `{"cwd"`, fmt.Sprintf(`{"isSidechain":true,"agentId":%q,"cwd"`, id), 1)
}

func (w *world) open() *git.Repo {
	w.T.Helper()
	repo, err := git.Open(w.T.Context(), w.repo(), w.Environ())
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(repo.Close)
	return repo
}

var signature = git.Signature{Name: "Dev", Email: email, When: start}

func (w *world) own(repo *git.Repo) *ledger.Ledger {
	w.T.Helper()
	l, err := ledger.OpenOwn(repo, signature, rand.Reader)
	if err != nil {
		w.T.Fatal(err)
	}
	return l
}

// capturer is what a process has that knows nothing but the files.
func (w *world) capturer() (*capture.Capturer, func(), error) {
	repo, err := git.Open(context.Background(), w.repo(), w.Environ())
	if err != nil {
		return nil, nil, err
	}
	own, err := ledger.OpenOwn(repo, signature, rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	return &capture.Capturer{
		Repo: repo, Ledger: own, Redactor: redact.With(w.red), Agents: transcript.Agents(), Home: w.Home(),
		Getenv: func(name string) string { return w.env[name] }, Email: email, CacheDir: w.cache(), Now: w.now,
	}, repo.Close, nil
}

// capture runs one capture, as a hook would.
func (w *world) capture() capture.Outcome {
	w.T.Helper()
	out := w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Run(w.T.Context(), w.via, w.redo) })
	if len(out.Warnings) > 0 {
		w.T.Errorf("warnings: %v", out.Warnings)
	}
	return out
}

func (w *world) try(run func(*capture.Capturer) (capture.Outcome, error)) capture.Outcome {
	w.T.Helper()
	c, done, err := w.capturer()
	if err != nil {
		w.T.Fatal(err)
	}
	defer done()
	out, err := run(c)
	if err != nil {
		w.T.Fatal(err)
	}
	return out
}

// held is what the ledger says.
type held struct {
	sessions    map[string]session.Session // by native ID
	checkpoints []session.Checkpoint
	rewrites    []session.Rewrite
	wrote       []session.Wrote
}

// held reads the ledger from its beginning, and checks that each segment adds only what is
// new: it goes on where the session ended, and no turn stands there twice.
func (w *world) held() held {
	w.T.Helper()
	repo := w.open()
	tip, err := w.own(repo).Tip()
	if err != nil {
		w.T.Fatal(err)
	}
	commits, err := ledger.Since(w.T.Context(), repo, tip)
	if err != nil {
		w.T.Fatal(err)
	}
	h := held{sessions: map[string]session.Session{}}
	for _, c := range commits {
		for _, seg := range c.Segments {
			e, err := ledger.ReadSegment(repo, seg)
			if err != nil {
				w.T.Fatal(err)
			}
			for _, s := range e.Sessions {
				h.take(w.T, s)
			}
			if e.Checkpoint != nil {
				h.checkpoints = append(h.checkpoints, *e.Checkpoint)
			}
			h.rewrites, h.wrote = append(h.rewrites, e.Rewrites...), append(h.wrote, e.Wrote...)
		}
	}
	return h
}

func (h held) take(t testing.TB, part session.Session) {
	t.Helper()
	s, ok := h.sessions[part.NativeID]
	if !ok {
		h.sessions[part.NativeID] = part
		return
	}
	if turn, tool := s.FirstTurn+len(s.Turns), s.FirstTool+len(s.ToolCalls); part.FirstTurn != turn ||
		part.FirstTool != tool || part.ID != s.ID {
		t.Errorf("%s: a segment goes on with turn %d and call %d of %s, where %d and %d of %s follow",
			part.NativeID, part.FirstTurn, part.FirstTool, part.ID, turn, tool, s.ID)
	}
	turns, calls := slices.Concat(s.Turns, part.Turns), slices.Concat(s.ToolCalls, part.ToolCalls)
	s.TakeHead(part)
	s.Turns, s.ToolCalls = turns, calls
	h.sessions[part.NativeID] = s
}

// story is a session in one line a turn or call: "0 human: why", "Edit a.go".
func story(s session.Session) []string {
	var out []string
	calls := s.ToolCalls
	flush := func(turn int) {
		for len(calls) > 0 && calls[0].Turn <= turn {
			out = append(out, strings.TrimSpace(calls[0].Tool+" "+calls[0].Path))
			calls = calls[1:]
		}
	}
	flush(s.FirstTurn - 1)
	for _, t := range s.Turns {
		out = append(out, fmt.Sprintf("%d %s: %s", t.Index, t.Role, t.Content))
		flush(t.Index)
	}
	for _, c := range calls {
		out = append(out, fmt.Sprintf("out of order: %+v", c))
	}
	return out
}

// tells checks the story of a session.
func (w *world) tells(native string, want ...string) {
	w.T.Helper()
	harness.Equal(w.T, "session "+native, want, story(w.held().sessions[native]))
}

// ties checks what the checkpoints tie to what: "<subject> <via>: <native
// IDs>; <files>", with those that only are linked in brackets.
func (w *world) ties(want ...string) {
	w.T.Helper()
	repo := w.open()
	tip, err := w.own(repo).Tip()
	if err != nil {
		w.T.Fatal(err)
	}
	commits, err := ledger.Since(w.T.Context(), repo, tip)
	if err != nil {
		w.T.Fatal(err)
	}
	native := map[string]string{}
	var got []string
	for _, c := range commits {
		for _, seg := range c.Segments {
			e, err := ledger.ReadSegment(repo, seg)
			if err != nil {
				w.T.Fatal(err)
			}
			var names []string
			for _, s := range e.Sessions {
				native[s.ID] = s.NativeID
				names = append(names, s.NativeID)
			}
			if e.Checkpoint == nil {
				continue
			}
			for _, l := range e.Checkpoint.Links {
				if slices.ContainsFunc(e.Sessions, func(p session.Session) bool { return p.ID == l.Session }) {
					continue
				}
				mark := "(" + native[l.Session] + ")"
				if l.Inferred {
					mark = "(" + native[l.Session] + "?)"
				}
				names = append(names, mark)
			}
			slices.Sort(names)
			var files []string
			for _, f := range e.Checkpoint.Files {
				files = append(files, f.Change+f.Path)
			}
			got = append(got, fmt.Sprintf("%s %s: %s; %s", w.subject(e.Checkpoint.GitSHA), e.Checkpoint.Via,
				strings.Join(names, " "), strings.Join(files, " ")))
		}
	}
	harness.Equal(w.T, "checkpoints", want, got)
}

func (w *world) subject(sha string) string {
	if sha == session.ZeroSHA {
		return "-"
	}
	return w.git("log", "-1", "--format=%s", sha)
}

// stored checks what a capture says it stored.
func stored(t testing.TB, out capture.Outcome, sessions, turns, calls int) {
	t.Helper()
	if out.Sessions != sessions || out.Turns != turns || out.ToolCalls != calls {
		t.Errorf("stored %d sessions, %d turns, %d calls; want %d, %d, %d", out.Sessions, out.Turns, out.ToolCalls, sessions,
			turns, calls)
	}
}
