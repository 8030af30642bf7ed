package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// stage is an agent with a home and a repository of its own.
type stage struct {
	program
	model    *model
	url      string
	root     string
	dir      string // its home folder
	repo     string
	linked   string // a linked worktree of repo
	bin, npm string
	verbose  bool
	page     string // with which its first session is handed over
}

// patience is how long an agent may take for one prompt.
const patience = 2 * time.Minute

// play runs the scenes. After one that failed the next ones are tried all the same.
func (s *stage) play() row {
	s.dir, s.repo, s.linked = filepath.Join(s.root, "home"), filepath.Join(s.root, "project"), filepath.Join(s.root, "linked")
	r := row{agent: s.Name, faults: map[string]string{}}
	scenes := []struct {
		name string
		play func() (string, error)
	}{
		{"commit", s.commits},
		{"resumed", s.resumes},
		{"recall", s.finds},
		{"worktree", s.inWorktree},
		{"subdirectory", s.below},
		{"once", s.once},
		{"brief", s.briefed},
		{"by id", s.byID},
		{"handed over", s.handsOver},
	}
	for _, scene := range scenes {
		r.scenes = append(r.scenes, scene.name)
	}
	if err := s.setUp(); err != nil {
		for _, scene := range scenes {
			r.faults[scene.name] = err.Error()
		}
		fmt.Printf("%s: %v\n", s.Name, err)
		return r
	}
	version, _ := s.agent(s.repo, "--version")
	r.version = strings.TrimSpace(firstLine(version))
	for _, scene := range scenes {
		saw, err := scene.play()
		if err != nil {
			r.faults[scene.name] = err.Error()
			saw = "FAILED: " + err.Error()
		}
		fmt.Printf("%s: %s: %s\n", s.Name, scene.name, saw)
	}
	return r
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// setUp makes a repository in which somebody uses the agent, and sets git-rekal up in it.
func (s *stage) setUp() error {
	files, err := s.homeFiles(s.url, s.repo, s.linked)
	if err != nil {
		return err
	}
	for _, dir := range []string{s.dir, filepath.Join(s.repo, s.Folder), filepath.Join(s.repo, "sub")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	for path, text := range files {
		path = filepath.Join(s.dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(s.repo, "sub", "README"), []byte("sub\n"), 0o600); err != nil {
		return err
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
		if _, err := s.git(s.repo, args...); err != nil {
			return err
		}
	}
	return nil
}

// commits: a session writes a file and commits it.
func (s *stage) commits() (string, error) {
	before, err := s.checkpoints()
	if err != nil {
		return "", err
	}
	saw, err := s.asks(s.repo, s.Run, writes("Please add a greeting in hello.py, and commit it.", s.repo, "hello.py", "hello"))
	if err != nil {
		return "", err
	}
	after, err := s.checkpoints()
	if err != nil {
		return "", err
	}
	switch hooked := after > before; {
	case hooked != s.Hooks:
		return "", fmt.Errorf("the hook of its commit ran: %v, want %v", hooked, s.Hooks)
	case hooked:
		saw += ", by the hook of its commit"
	default: // the next commit of a person finds it
		if _, err := s.git(s.repo, "commit", "-q", "--allow-empty", "-m", "By hand"); err != nil {
			return "", err
		}
		saw += ", without a hook, by the next commit"
	}
	return s.tied(saw, "HEAD", "hello.py", s.repo)
}

// resumes: the same session goes on.
func (s *stage) resumes() (string, error) {
	if s.Resume == nil {
		return "in a terminal alone: not tried", nil
	}
	saw, err := s.asks(s.repo, s.Resume, writes("Now add a farewell in bye.py, and commit that, too.", s.repo, "bye.py", "bye"))
	if err != nil {
		return "", err
	}
	if err := s.caught(); err != nil {
		return "", err
	}
	n, err := s.number("SELECT count(DISTINCT session_id) AS n FROM turns WHERE content LIKE '%Please add a greeting in%' OR content LIKE '%Now add a farewell in%'")
	if err != nil || n != 1 {
		return "", errors.Join(err, fmt.Errorf("the prompts stand in %d sessions, want 1", n))
	}
	return s.tied(saw+", as one session", "HEAD", "bye.py", s.repo)
}

// finds: another session asks the MCP server.
func (s *stage) finds() (string, error) {
	look := step{recall: "greeting hello"}
	if s.Shell { // which may be a login shell, with a PATH of its own
		look = step{run: filepath.Join(s.bin, "git-rekal") + " 'greeting hello' -n 3"}
	}
	saw, err := s.asks(s.repo, s.Run, turn{prompt: "What do we know about the greeting?", steps: []step{look}, word: "It is in hello.py."})
	if err != nil {
		return "", err
	}
	if got := s.model.gave(); !strings.Contains(got, "Please add a greeting in hello.py") {
		return "", fmt.Errorf("the tool answered %q", got)
	}
	return saw + ", and the tool gave the session", nil
}

// inWorktree: a session works in the linked worktree.
func (s *stage) inWorktree() (string, error) {
	saw, err := s.asks(s.linked, s.Run, writes("Please add a shout in shout.py, and commit it.", s.linked, "shout.py", "shout"))
	if err != nil {
		return "", err
	}
	return s.tied(saw, "topic", "shout.py", s.linked)
}

// below: a session works in a subdirectory.
func (s *stage) below() (string, error) {
	saw, err := s.asks(filepath.Join(s.repo, "sub"), s.Run, writes("Please add a whisper in sub/whisper.py, and commit it.", s.repo, "sub/whisper.py", "whisper"))
	if err != nil {
		return "", err
	}
	return s.tied(saw, "HEAD", "sub/whisper.py", s.repo)
}

// once: nothing is stored twice.
func (s *stage) once() (string, error) {
	if err := s.caught(); err != nil {
		return "", err
	}
	want := int64(5)
	if s.Resume == nil {
		want--
	}
	n, err := s.number("SELECT count(*) AS n FROM turns WHERE role = 'human'")
	if err != nil || n != want {
		return "", errors.Join(err, fmt.Errorf("the ledger has %d prompts, want %d", n, want))
	}
	sessions, err := s.number("SELECT count(*) AS n FROM sessions")
	return fmt.Sprintf("%d prompts of %d sessions", n, sessions), err
}

// briefed: a session is told what it did not ask for, and nothing of that is kept.
func (s *stage) briefed() (string, error) {
	if _, err := s.git(s.repo, "rekal", "init", "--brief=prompts,edits"); err != nil {
		return "", err
	}
	saw, err := s.asks(s.repo, s.Run, turn{prompt: "Please say what is new here.", word: "Nothing is."})
	if err != nil {
		return "", err
	}
	const last = "last on main: Please add a whisper"
	told := s.model.heard(last)
	if told != s.Told {
		return "", fmt.Errorf("it was told of the last session: %v, want %v", told, s.Told)
	}
	if !told {
		return saw + ", takes none", nil
	}
	if s.Resume != nil {
		if _, err := s.asks(s.repo, s.Resume, turn{prompt: "And what is not?", word: "All else."}); err != nil {
			return "", err
		}
		if n := s.model.times(last); n != 1 {
			return "", fmt.Errorf("resumed, it has been told of the last session %d times, want 1", n)
		}
	}
	if !s.Starts {
		if err := s.pointedOut(); err != nil {
			return "", err
		}
	}
	if err := s.caught(); err != nil {
		return "", err
	}
	if n, err := s.number("SELECT count(*) AS n FROM turns WHERE content = 'Please say what is new here.'"); err != nil || n != 1 {
		return "", errors.Join(err, fmt.Errorf("the prompt stands in %d turns, want 1", n))
	}
	n, err := s.number("SELECT (SELECT count(*) FROM turns WHERE content LIKE '%git-rekal%' OR content LIKE '%last on main%') + (SELECT count(*) FROM sessions WHERE title LIKE '%git-rekal%') AS n")
	if err != nil || n != 0 {
		return "", errors.Join(err, fmt.Errorf("what it was told stands in %d turns or titles, want none", n))
	}
	return saw + ", told of the last session, and nothing of that is kept", nil
}

// pointedOut: at a prompt it is told of what that names, and of the agent whose hooks say more, before an edit and after a compaction, too.
func (s *stage) pointedOut() error {
	ask := func(how []string, t turn, want string) error {
		if _, err := s.asks(s.repo, how, t); err != nil {
			return err
		}
		if !s.model.heard(want) {
			return fmt.Errorf("at %q it was not told %q", t.prompt, want)
		}
		return nil
	}
	err := ask(s.Run, turn{prompt: "Why does hello.py return a greeting, and who wants hello in hello.py?", word: "For fun."}, "about what you ask: Please add a greeting")
	if err != nil || s.Name != "claude-code" {
		return err
	}
	edit := turn{prompt: "Please shorten it.", steps: []step{{read: filepath.Join(s.repo, "hello.py")}, {edit: filepath.Join(s.repo, "hello.py"), old: "Say hello to somebody.", text: "Hello."}}, word: "Shorter."}
	if err := ask(s.Run, edit, "wrote hello.py:2,2"); err != nil {
		return err
	}
	if out, err := s.agent(s.repo, fill(s.Resume, "{prompt}", "/compact")...); err != nil {
		return fmt.Errorf("/compact: %w: %s", err, out)
	}
	return ask(s.Resume, turn{prompt: "Go on.", word: "Gone on."}, "last on main: ")
}

// asks has the agent answer a prompt, and says how long that took.
func (s *stage) asks(dir string, how []string, t turn) (string, error) {
	return s.answers(t, func() (string, error) { return s.agent(dir, fill(how, "{prompt}", t.prompt)...) })
}

// answers has what runs the agent get the answer of a turn.
func (s *stage) answers(t turn, run func() (string, error)) (string, error) {
	s.model.script(s.program, []turn{t})
	began := time.Now()
	out, err := run()
	if err != nil {
		return "", err
	}
	if s.verbose {
		fmt.Fprintln(os.Stderr, out)
	}
	if !strings.Contains(out, t.word) {
		return "", fmt.Errorf("it said %q, want %q", out, t.word)
	}
	return fmt.Sprintf("%.1f s", time.Since(began).Seconds()), nil
}

// caught captures what no hook has.
func (s *stage) caught() error {
	_, err := s.git(s.repo, "rekal", "checkpoint")
	return err
}

// tied checks that the commit that added a file, in a worktree, has a checkpoint with the session, for certain, and that it wrote the
// file's lines.
func (s *stage) tied(saw, rev, path, dir string) (string, error) {
	if err := s.caught(); err != nil {
		return "", err
	}
	sha, err := s.git(s.repo, "log", "-1", "--format=%h", rev, "--", path)
	if err != nil {
		return "", err
	}
	sha = strings.TrimSpace(sha)
	out, err := s.git(s.repo, "rekal", "--commit", sha)
	if err != nil {
		return "", err
	}
	got := gjson.Get(out, "results.0")
	inferred := strings.Count(out, `"inferred":true`) // what was only said at the time
	if gjson.Get(out, "total").Int() != int64(1+inferred) || got.Get("source").String() != s.Name || got.Get("inferred").Bool() {
		return "", fmt.Errorf("behind %s stand %s", sha, out)
	}
	if out, err = s.git(s.repo, "rekal", "query", fmt.Sprintf("SELECT git_branch FROM checkpoints WHERE git_sha LIKE '%s%%'", sha)); err != nil {
		return "", err
	}
	want := "main"
	if dir == s.linked {
		want = "topic"
	}
	if is := gjson.Get(out, "git_branch").String(); is != want && (!s.Late || is != "") {
		return "", fmt.Errorf("the checkpoint of %s is on %q, want %q", sha, is, want)
	}
	if out, err = s.git(dir, "rekal", "why", path+":2"); err != nil {
		return "", err
	}
	if !strings.Contains(gjson.Get(out, "results.0.explains").String(), `"exact":`) {
		return "", fmt.Errorf("why %s:2 says %s", path, out)
	}
	return fmt.Sprintf("%s, tied to %s %q with its lines", saw, sha, got.Get("title").String()), nil
}

func (s *stage) checkpoints() (int64, error) {
	return s.number("SELECT count(*) AS n FROM checkpoints")
}

func (s *stage) number(query string) (int64, error) {
	out, err := s.git(s.repo, "rekal", "query", query)
	return gjson.Get(out, "n").Int(), err
}

func (s *stage) git(dir string, args ...string) (string, error) { return s.exec(dir, "git", args...) }

func (s *stage) agent(dir string, args ...string) (string, error) {
	return s.exec(dir, filepath.Join(s.npm, ".bin", s.Bin), args...)
}

// exec runs a program with nothing of the environment but what it needs, and returns what it prints.
func (s *stage) exec(dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append([]string{
		"PATH=" + strings.Join([]string{s.bin, filepath.Join(s.npm, ".bin"), os.Getenv("PATH")}, string(os.PathListSeparator)), "HOME=" + s.dir, "LANG=C.UTF-8", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "REKAL_EMBED=off",
	}, fill(s.Env, "{url}", s.url)...)
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %q: %w: %s", filepath.Base(name), args, err, tail(out.String()+trouble.String()))
	}
	return out.String(), nil
}

// tail is the end of a text.
func tail(text string) string {
	const most = 600
	return text[max(0, len(text)-most):]
}
