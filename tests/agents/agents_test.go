// Package agents runs coding agents as they come from npm, without a network, against a scripted model on this machine,
// and looks at what git-rekal makes of them: of a session that edits and commits, of the same one resumed, of another
// one that finds it through the MCP tool, of one in a linked worktree and one in a subdirectory. `make agents` installs
// and runs them; it is no part of `make test`.
package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// stage is an agent with a home and a repository of its own.
type stage struct {
	program
	*harness.Place // T is of the scene that is played
	model          *model
	npm            string // where the agents are installed
	repo           string
	linked         string // a linked worktree of repo
	page           string // with which its first session is handed over
}

// patience is how long an agent may take for one prompt.
const patience = 2 * time.Minute

// TestAgents plays the scenes with the agents of AGENTS, or else all. They lie in AGENTS_NPM, a folder node_modules,
// beside which the file requests keeps what the model was sent; git-rekal lies in AGENTS_BIN.
func TestAgents(t *testing.T) {
	npm, bin, only := os.Getenv("AGENTS_NPM"), os.Getenv("AGENTS_BIN"), strings.Fields(os.Getenv("AGENTS"))
	if npm == "" {
		t.Skip("SKIPPED: no agent is run: make agents does that")
	}
	log, err := os.Create(filepath.Join(npm, "..", "requests"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	m := &model{log: log}
	server := httptest.NewServer(m)
	defer server.Close()
	root, err := os.MkdirTemp("", "rekal-agents")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(root) }() // in which an agent may still write
	var stages []*stage
	for _, p := range programs(t) {
		if len(only) > 0 && !slices.Contains(only, p.Name) {
			continue
		}
		path := strings.Join([]string{bin, filepath.Join(npm, ".bin"), os.Getenv("PATH")}, string(os.PathListSeparator))
		s := &stage{program: p, model: m, npm: npm, Place: &harness.Place{
			Root: filepath.Join(root, p.Name), Env: append([]string{"PATH=" + path, "LANG=C.UTF-8", "TERM=dumb"},
				fill(p.Env, "{url}", server.URL)...),
		}}
		s.repo, s.linked = s.At("project"), s.At("linked")
		stages = append(stages, s)
		t.Run(p.Name, func(t *testing.T) { s.play(t, server.URL) })
	}
	if len(stages) == 0 {
		t.Fatalf("no agent is called %q", only)
	}
	for _, to := range stages { // each agent's session goes on in each other one
		for _, from := range stages {
			if from != to && from.page != "" {
				to.scene(t, "from "+from.Name+" to "+to.Name, func() { to.takes(from.page) })
			}
		}
	}
}

// play plays the scenes. After one that failed the next ones are tried all the same.
func (s *stage) play(t *testing.T, url string) {
	s.T = t
	s.settle(url)
	s.setUp()
	t.Logf("version %s", s.agent(s.repo, "--version"))
	s.scene(t, "commit", s.commits)
	s.scene(t, "resumed", s.resumes)
	s.scene(t, "recall", s.finds)
	s.scene(t, "worktree", func() {
		s.asks(s.linked, s.Run, writes("Please add a shout in shout.py, and commit it.", s.linked, "shout.py", "shout"))
		s.tied("topic", "shout.py", s.linked)
	})
	s.scene(t, "subdirectory", func() {
		s.asks(filepath.Join(s.repo, "sub"), s.Run, writes("Please add a whisper in sub/whisper.py, and commit it.", s.repo,
			"sub/whisper.py", "whisper"))
		s.tied("HEAD", "sub/whisper.py", s.repo)
	})
	s.scene(t, "once", func() { // nothing is stored twice
		prompts := 5
		if s.Resume == nil {
			prompts--
		}
		s.counts(prompts, "turns WHERE role = 'human'")
	})
	s.scene(t, "brief", s.briefed)
	s.scene(t, "by id", s.byID)
	s.scene(t, "handed over", s.handsOver)
	s.scene(t, "notes", func() { s.noteFollows(url) })
	s.scene(t, "by hand", s.byHand)
	s.scene(t, "at once", s.atOnce)
}

func (s *stage) scene(t *testing.T, name string, play func()) {
	t.Run(name, func(t *testing.T) {
		s.T = t
		play()
	})
}

// settle writes the agent's settings into the home folder.
func (s *stage) settle(url string) {
	for path, raw := range s.Files {
		text := string(raw)
		if raw[0] == '"' {
			if err := json.Unmarshal(raw, &text); err != nil {
				s.T.Fatal(err)
			}
		}
		s.Write(filepath.Join("home", path), fill([]string{text}, "{url}", url, "{repo}", s.repo, "{linked}", s.linked)[0])
	}
}

// setUp makes a repository in which somebody uses the agent, and sets git-rekal up in it.
func (s *stage) setUp() {
	s.Write("project/sub/README", "sub\n")
	if err := errors.Join(os.MkdirAll(filepath.Join(s.repo, s.Folder), 0o777), os.MkdirAll(s.Home(), 0o777)); err != nil {
		s.T.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "Alice"},
		{"config", "user.email", "alice@example.com"}, // Gemini's git reads no other configuration
		{"rekal", "init", "--mcp"},
		{"add", "-A"},
		{"commit", "-q", "-m", "Start"},
		{"worktree", "add", "-q", "-b", "topic", s.linked},
	} {
		s.git(s.repo, args...)
	}
}

// commits: a session writes a file and commits it.
func (s *stage) commits() {
	before := s.count("checkpoints")
	s.asks(s.repo, s.Run, writes("Please add a greeting in hello.py, and commit it.", s.repo, "hello.py", "hello"))
	hooked := s.count("checkpoints") > before
	if hooked != s.Hooks {
		s.T.Fatalf("the hook of its commit ran: %v, want %v", hooked, s.Hooks)
	}
	if !hooked { // the next commit of a person finds it
		s.git(s.repo, "commit", "-q", "--allow-empty", "-m", "By hand")
	}
	s.tied("HEAD", "hello.py", s.repo)
}

// resumes: the same session goes on.
func (s *stage) resumes() {
	if s.Resume == nil {
		s.T.Skip("in a terminal alone")
	}
	s.asks(s.repo, s.Resume, writes("Now add a farewell in bye.py, and commit that, too.", s.repo, "bye.py", "bye"))
	s.counts(1, "(SELECT DISTINCT session_id FROM turns WHERE content LIKE '%Please add a greeting in%' OR content LIKE '%Now add a farewell in%')")
	s.tied("HEAD", "bye.py", s.repo)
}

// How many commits the scenes with many make.
const (
	handed   = 5  // sessions, behind each of which a person commits
	byPerson = 4  // times
	rounds   = 12 // in each of which two sessions commit at once
)

// byHand: behind a session's commit and its closing words a person commits, which is no session's.
func (s *stage) byHand() {
	s.git(s.repo, "add", "-A") // what sessions left
	s.git(s.repo, "commit", "-q", "--allow-empty", "-m", "The rest")
	own, hand := []string{}, []string{}
	for i := range handed {
		name := fmt.Sprintf("closing%d", i)
		s.asks(s.repo, s.Run, writes("Please add "+name+", and commit it.", s.repo, name+".py", name))
		own = append(own, s.git(s.repo, "log", "-1", "--format=%H", "--", name+".py"))
		for j := range byPerson {
			path := fmt.Sprintf("hand%d%d.txt", i, j)
			s.Write(filepath.Join("project", path), fmt.Sprintf("typed by hand, for the %d. time\n", i*byPerson+j))
			s.git(s.repo, "add", path)
			s.git(s.repo, "commit", "-q", "-m", "By hand "+path)
			hand = append(hand, s.git(s.repo, "rev-parse", "HEAD"))
		}
	}
	s.git(s.repo, "rekal", "checkpoint") // what no hook has captured
	for _, sha := range hand {
		if out := s.git(s.repo, "rekal", "--commit", sha); gjson.Get(out, "total").Int() != 0 {
			s.T.Errorf("behind a person's %s stand %s", s.git(s.repo, "log", "-1", "--format=%h %s", sha), out)
		}
	}
	for i, sha := range own {
		s.isOf(sha, fmt.Sprintf("closing%d", i))
	}
	s.T.Logf("%d commits by hand, %d of sessions", len(hand), len(own))
}

// atOnce: two sessions make a commit each in one worktree at the same time.
func (s *stage) atOnce() {
	for round := range rounds {
		var two []turn
		for _, who := range []string{"left", "right"} {
			name := fmt.Sprintf("%s%d", who, round)
			t := writes("Please add "+name+" at once, and commit it.", s.repo, name+".py", name)
			path := name + ".py" // whoever comes second waits for the index
			t.steps[1] = runs(fmt.Sprintf("cd %s && until git add %s && git commit -q -m 'Add %s' -- %s; do sleep 0.1; done",
				s.repo, path, path, path))
			two = append(two, t)
		}
		s.model.script(s.program, two...)
		var wait sync.WaitGroup
		said := make([]string, len(two))
		for i, t := range two {
			wait.Go(func() {
				said[i], _ = s.try(s.repo, filepath.Join(s.npm, ".bin", s.Bin), fill(s.Run, "{prompt}", t.prompt)...)
			})
		}
		wait.Wait()
		for i, t := range two {
			if !strings.Contains(said[i], t.word) {
				s.T.Fatalf("it said %q, want %q", said[i], t.word)
			}
		}
	}
	s.git(s.repo, "rekal", "checkpoint")
	for round := range rounds {
		for _, who := range []string{"left", "right"} {
			name := fmt.Sprintf("%s%d", who, round)
			s.isOf(s.git(s.repo, "log", "-1", "--format=%H", "--", name+".py"), name)
		}
	}
	s.T.Logf("%d commits, two at once", 2*rounds)
}

// isOf checks that behind a commit stands the session alone that was asked for something.
func (s *stage) isOf(sha, asked string) {
	s.T.Helper()
	if s.count("turns WHERE content LIKE '%Please add "+asked+"%'") == 0 {
		s.T.Logf("the agent kept no transcript of what was asked for as %q", asked)
		return
	}
	out := s.git(s.repo, "rekal", "--commit", sha)
	id := gjson.Get(out, "results.0.id").String()
	if gjson.Get(out, "total").Int() != 1 ||
		s.count("turns WHERE session_id = '"+id+"' AND content LIKE '%Please add "+asked+"%'") == 0 {
		s.T.Errorf("behind %s, which was asked for as %q, stand %s", s.git(s.repo, "log", "-1", "--format=%h %s", sha), asked,
			out)
	}
}

// finds: another session asks the MCP server.
func (s *stage) finds() {
	look := step{"recall", map[string]string{"recall": "greeting hello"}}
	if s.Shell { // which may be a login shell, with a PATH of its own
		look = runs(filepath.Join(os.Getenv("AGENTS_BIN"), "git-rekal") + " 'greeting hello' -n 3")
	}
	s.asks(s.repo, s.Run, turn{
		prompt: "What do we know about the greeting?", steps: []step{look},
		word: "It is in hello.py.",
	})
	if got := s.model.gave(); !strings.Contains(got, "Please add a greeting in hello.py") {
		s.T.Fatalf("the tool answered %q", got)
	}
}

// briefed: a session is told what it did not ask for, and nothing of that is kept.
func (s *stage) briefed() {
	s.git(s.repo, "rekal", "init", "--brief=prompts,edits")
	s.asks(s.repo, s.Run, turn{prompt: "Please say what is new here.", word: "Nothing is."})
	const last = "last on main: Please add a whisper"
	told := s.model.times(last) > 0
	if told != s.Told {
		s.T.Fatalf("it was told of the last session: %v, want %v", told, s.Told)
	}
	if !told {
		return
	}
	if s.Resume != nil {
		s.asks(s.repo, s.Resume, turn{prompt: "And what is not?", word: "All else."})
		if n := s.model.times(last); n != 1 {
			s.T.Fatalf("resumed, it has been told of the last session %d times, want 1", n)
		}
	}
	if !s.Starts {
		s.pointedOut()
	}
	s.counts(1, "turns WHERE content = 'Please say what is new here.'")
	s.counts(0, "turns WHERE content LIKE '%git-rekal%' OR content LIKE '%last on main%'")
	s.counts(0, "sessions WHERE title LIKE '%git-rekal%'")
}

// pointedOut: at a prompt it is told of what that names, and of the agent whose hooks say more, before an edit and
// after a compaction, too.
func (s *stage) pointedOut() {
	ask := func(how []string, t turn, want string) {
		s.asks(s.repo, how, t)
		if s.model.times(want) == 0 {
			s.T.Fatalf("at %q it was not told %q", t.prompt, want)
		}
	}
	ask(s.Run, turn{prompt: "Why does hello.py return a greeting, and who wants hello in hello.py?", word: "For fun."},
		"about what you ask: Please add a greeting")
	if s.Name != "claude-code" {
		return
	}
	hello := filepath.Join(s.repo, "hello.py")
	ask(s.Run, turn{prompt: "Please shorten it.", word: "Shorter.", steps: []step{
		{"read", map[string]string{"read": hello}},
		{"edit", map[string]string{"edit": hello, "old": "Say hello to somebody.", "text": "Hello."}},
	}}, "wrote hello.py:2,2")
	s.agent(s.repo, fill(s.Resume, "{prompt}", "/compact")...)
	ask(s.Resume, turn{prompt: "Go on.", word: "Gone on."}, "last on main: ")
}

// greeting is git-rekal's ID of the first session.
func (s *stage) greeting() string {
	return s.query("SELECT session_id AS n FROM turns WHERE content LIKE '%Please add a greeting in%' LIMIT 1")
}

// byID: `git rekal resume` goes on with the first session, from another folder, though others came behind it.
func (s *stage) byID() {
	id := s.greeting()
	line := s.git(s.linked, "rekal", "resume", "--no-hint", "--print", id)
	if want := "cd " + s.repo + " && " + s.Bin + " "; !strings.HasPrefix(line, want) {
		s.T.Fatalf("it prints %q, want %q", line, want)
	}
	t := turn{prompt: "Was the greeting good?", word: "It was."}
	switch {
	case s.More != nil:
		s.answers(t, func() string {
			return s.git(s.linked, append([]string{"rekal", "resume", "--no-hint", id, "--"},
				fill(s.More, "{prompt}", t.prompt)...)...)
		})
	case s.By != nil:
		name := s.query("SELECT native_id AS n FROM sessions WHERE id = '" + id + "'")
		if !strings.Contains(line, name) {
			s.T.Fatalf("it prints %q, without %q", line, name)
		}
		s.asks(s.repo, fill(s.By, "{id}", name), t)
	default:
		return
	}
	s.counts(1, "turns WHERE content LIKE '%"+t.prompt+"%' AND session_id = '"+id+"'")
}

// handsOver: another session of the agent begins with what the first one left, of which nothing is stored twice.
func (s *stage) handsOver() {
	id := s.greeting()
	s.page = s.git(s.linked, "rekal", "handoff", id)
	s.takes(s.page)
	s.counts(1, "turns WHERE content LIKE '%Going on with rekal:"+id+"%' AND content NOT LIKE '%Please add a farewell%'")
}

// takes begins a session with a page.
func (s *stage) takes(page string) {
	// OpenCode's command puts a prompt into quotes
	t := turn{prompt: "What follows was recorded by git-rekal", word: "I go on."}
	s.answers(t, func() string { return s.agent(s.repo, fill(s.Run, "{prompt}", page)...) })
	if s.model.times("## What was asked") == 0 {
		s.T.Fatal("the model did not get the page")
	}
}

// asks has the agent answer a prompt.
func (s *stage) asks(dir string, how []string, t turn) {
	s.T.Helper()
	s.answers(t, func() string { return s.agent(dir, fill(how, "{prompt}", t.prompt)...) })
}

// answers has what runs the agent get the answer of a turn.
func (s *stage) answers(t turn, run func() string) {
	s.T.Helper()
	s.model.script(s.program, t)
	began := time.Now()
	if out := run(); !strings.Contains(out, t.word) {
		s.T.Fatalf("it said %q, want %q", out, t.word)
	}
	s.T.Logf("%q: %.1f s", t.prompt, time.Since(began).Seconds())
}

// tied checks that the commit that added a file, in a worktree, has a checkpoint with the session, for certain, and
// that it wrote the file's lines.
func (s *stage) tied(rev, path, dir string) {
	s.T.Helper()
	s.git(s.repo, "rekal", "checkpoint") // what no hook has captured
	sha := s.git(s.repo, "log", "-1", "--format=%h", rev, "--", path)
	out := s.git(s.repo, "rekal", "--commit", sha)
	got := gjson.Get(out, "results.0")
	inferred := strings.Count(out, `"inferred":true`) // what was only said at the time
	if gjson.Get(out, "total").Int() != int64(1+inferred) || got.Get("source").String() != s.Name ||
		got.Get("inferred").Bool() {
		s.T.Fatalf("behind %s stand %s", sha, out)
	}
	want := "main"
	if dir == s.linked {
		want = "topic"
	}
	is := s.query("SELECT git_branch AS n FROM checkpoints WHERE git_sha LIKE '" + sha + "%'")
	if is != want && (!s.Late || is != "") {
		s.T.Fatalf("the checkpoint of %s is on %q, want %q", sha, is, want)
	}
	out = s.git(dir, "rekal", "why", path+":2")
	if !strings.Contains(gjson.Get(out, "results.0.explains").String(), `"exact":`) {
		s.T.Fatalf("why %s:2 says %s", path, out)
	}
}

// counts captures what no hook has, and counts rows.
func (s *stage) counts(want int, from string) {
	s.T.Helper()
	s.git(s.repo, "rekal", "checkpoint")
	if n := s.count(from); n != want {
		s.T.Fatalf("%d %s, want %d", n, from, want)
	}
}

func (s *stage) count(from string) (n int) {
	s.T.Helper()
	if _, err := fmt.Sscan(s.query("SELECT count(*) AS n FROM "+from), &n); err != nil {
		s.T.Fatal(err)
	}
	return n
}

// query is the column n of the first row.
func (s *stage) query(sql string) string {
	s.T.Helper()
	return gjson.Get(s.git(s.repo, "rekal", "query", sql), "n").String()
}

func (s *stage) git(dir string, args ...string) string {
	s.T.Helper()
	return s.exec(dir, "git", args...)
}

func (s *stage) agent(dir string, args ...string) string {
	s.T.Helper()
	return s.exec(dir, filepath.Join(s.npm, ".bin", s.Bin), args...)
}

// exec runs a program, and returns what it prints.
func (s *stage) exec(dir, name string, args ...string) string {
	s.T.Helper()
	out, err := s.try(dir, name, args...)
	if err != nil {
		s.T.Fatalf("%s %q: %v", filepath.Base(name), args, err)
	}
	return out
}

// try is exec whose error is an answer.
func (s *stage) try(dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, trouble bytes.Buffer
	cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.Stdout, cmd.Stderr = dir, s.Environ(), time.Second, &out, &trouble
	if err := cmd.Run(); err != nil {
		said := out.String() + trouble.String()
		return said, fmt.Errorf("%w: %s", err, said[max(0, len(said)-600):])
	}
	return strings.TrimSpace(out.String()), nil
}
