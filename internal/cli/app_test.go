package cli_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// desk is a home, a repository in it, and what the program printed last.
type desk struct {
	t      *testing.T
	home   string
	dir    string // the working directory
	env    []string
	stdin  string
	stdout string
	stderr string
}

// newDesk has a repository with one commit, and nothing of git-rekal.
func newDesk(t *testing.T) *desk {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, home: home, dir: filepath.Join(home, "repo")}
	d.write(".gitconfig", "[user]\n\tname = Alice\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n")
	d.git(home, "init", "-q", "repo")
	d.write("repo/README", "hello\n")
	d.commit("first")
	return d
}

// ready is a desk on which init has run and a session was captured.
func ready(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	d.must("init")
	d.say("one", "human why does the token expire early?", "assistant The clock is local.", "Edit README")
	d.write("repo/README", "hello again\n")
	d.commit("fix the clock")
	d.must("hook", "post-commit")
	return d
}

func (d *desk) environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "REKAL_EMBED_URL=off",
	}, d.env...)
}

func (d *desk) write(path, text string) {
	d.t.Helper()
	full := filepath.Join(d.home, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) git(dir string, args ...string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, d.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits everything; the hooks that init installed find no binary and are silent.
func (d *desk) commit(subject string) {
	d.t.Helper()
	d.git(d.dir, "add", "-A")
	d.git(d.dir, "commit", "-q", "--allow-empty", "-m", subject)
}

// say adds records to a transcript of the repository; each line begins with human,
// assistant, title or Edit.
func (d *desk) say(id string, lines ...string) {
	d.t.Helper()
	folder := regexp.MustCompile(`[^0-9A-Za-z]`).ReplaceAllString(d.dir, "-")
	path := filepath.Join(d.home, ".claude", "projects", folder, id+".jsonl")
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		d.t.Fatal(err)
	}
	b := bytes.NewBuffer(old)
	start := time.Date(2026, 3, 4, 10, bytes.Count(old, []byte("\n")), 0, 0, time.UTC)
	for i, line := range lines {
		who, text, _ := strings.Cut(line, " ")
		rec := map[string]any{
			"sessionId": id, "cwd": d.dir, "gitBranch": "main", "version": "2.1.37", "isSidechain": false,
			"uuid": id + line, "timestamp": start.Add(time.Duration(i) * time.Minute).Format("2006-01-02T15:04:05.000Z"),
		}
		switch who {
		case "human":
			rec["type"], rec["message"] = "user", map[string]any{"role": "user", "content": text}
		case "title":
			rec["type"], rec["customTitle"] = "custom-title", text
		default:
			block := map[string]any{"type": "text", "text": text}
			if who != "assistant" {
				block = map[string]any{"type": "tool_use", "id": "t" + line, "name": who, "input": map[string]any{"file_path": filepath.Join(d.dir, text)}}
			}
			rec["type"], rec["message"] = "assistant", map[string]any{"role": "assistant", "content": []any{block}}
		}
		if err := json.NewEncoder(b).Encode(rec); err != nil {
			d.t.Fatal(err)
		}
	}
	d.write(".claude/projects/"+folder+"/"+id+".jsonl", b.String())
}

// run runs the program and returns its exit status.
func (d *desk) run(args ...string) int {
	d.t.Helper()
	var out, err bytes.Buffer
	app := &cli.App{
		Process: workspace.Process{
			Dir: d.dir, Env: d.environ(), Home: d.home, Exe: filepath.Join(d.home, "bin", "git-rekal"),
			Now: time.Now, Rand: rand.NewChaCha8([32]byte{7}),
		},
		Version: "v1.2.3", Stdin: strings.NewReader(d.stdin), Stdout: &out, Stderr: &err,
	}
	status := cli.Main(d.t.Context(), app, args)
	d.stdout, d.stderr = out.String(), err.String()
	for line := range strings.Lines(d.stderr) {
		if !strings.HasPrefix(line, "git-rekal: ") || !strings.HasSuffix(line, "\n") {
			d.t.Errorf("%q: stderr has the line %q", args, line)
		}
	}
	return status
}

// must runs the program, which must succeed, and returns what it printed.
func (d *desk) must(args ...string) string {
	d.t.Helper()
	if status := d.run(args...); status != 0 || d.stderr != "" {
		d.t.Fatalf("%q: exit status %d\n%s", args, status, d.stderr)
	}
	return d.stdout
}

// fails runs the program, which must end with a status and say one line that holds words.
func (d *desk) fails(status int, words string, args ...string) {
	d.t.Helper()
	if got := d.run(args...); got != status {
		d.t.Errorf("%q: exit status %d, want %d", args, got, status)
	}
	if strings.Count(d.stderr, "\n") != 1 || !strings.Contains(d.stderr, words) {
		d.t.Errorf("%q says %q, want one line that holds %q", args, d.stderr, words)
	}
	if d.stdout != "" {
		d.t.Errorf("%q failed and printed %q", args, d.stdout)
	}
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
