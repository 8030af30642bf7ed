package cli_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/full"
	"github.com/git-rekal/git-rekal/internal/workspace"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// desk is a home, a repository in it, and what the program printed last.
type desk struct {
	*harness.Place
	dir    string // the working directory
	stdin  string
	stdout string
	stderr string
	person bool // whether stderr is a terminal
}

// newDesk has a repository with one commit, and nothing of git-rekal.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{Place: harness.New(t)}
	d.dir = d.At("home/repo")
	d.Write("home/.gitconfig", "[user]\n\tname = Alice\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n")
	d.Init(d.dir)
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

// write makes a file below the home.
func (d *desk) write(path, text string) {
	d.T.Helper()
	d.Write("home/"+path, text)
}

// commit commits everything; the hooks that init installed find no binary and are silent.
func (d *desk) commit(subject string) {
	d.T.Helper()
	d.Git(d.dir, "add", "-A")
	d.Git(d.dir, "commit", "-q", "--allow-empty", "-m", subject)
}

// say adds to a transcript of the repository; each line begins with human, assistant, title or Edit.
func (d *desk) say(id string, lines ...string) {
	d.T.Helper()
	d.Talk(d.dir, id, "main", time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC), harness.Lines(lines...)...)
}

// run runs the program and returns its exit status.
func (d *desk) run(args ...string) int {
	d.T.Helper()
	var out, err bytes.Buffer
	app := &cli.App{
		Process: workspace.Process{
			Dir: d.dir, Env: d.Environ(), Home: d.Home(), Exe: filepath.Join(d.Home(), "bin", "git-rekal"),
			Now: time.Now, Rand: rand.NewChaCha8([32]byte{7}),
		},
		Version: "v1.2.3", Full: full.Parts(), Stdin: strings.NewReader(d.stdin), Stdout: &out, Stderr: &err,
		Terminal: d.person,
	}
	status := cli.Main(d.T.Context(), app, args)
	d.stdout, d.stderr = out.String(), err.String()
	for line := range strings.Lines(d.stderr) {
		if !strings.HasPrefix(line, "git-rekal: ") || !strings.HasSuffix(line, "\n") {
			d.T.Errorf("%q: stderr has the line %q", args, line)
		}
	}
	return status
}

// must runs the program, which must succeed, and returns what it printed.
func (d *desk) must(args ...string) string {
	d.T.Helper()
	if status := d.run(args...); status != 0 || d.stderr != "" {
		d.T.Fatalf("%q: exit status %d\n%s", args, status, d.stderr)
	}
	return d.stdout
}

// fails runs the program, which must end with a status and say one line that holds words.
func (d *desk) fails(status int, words string, args ...string) {
	d.T.Helper()
	if got := d.run(args...); got != status {
		d.T.Errorf("%q: exit status %d, want %d", args, got, status)
	}
	if strings.Count(d.stderr, "\n") != 1 || !strings.Contains(d.stderr, words) {
		d.T.Errorf("%q says %q, want one line that holds %q", args, d.stderr, words)
	}
	if d.stdout != "" {
		d.T.Errorf("%q failed and printed %q", args, d.stdout)
	}
}
