package mcp_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/full"
	"github.com/git-rekal/git-rekal/internal/workspace"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// world is a home with a repository in it.
type world struct {
	*harness.Place
	dir string // the working directory
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Place: harness.New(t)}
	w.dir = w.At("home/repo")
	w.Env = []string{"GIT_AUTHOR_DATE=2026-03-06T10:00:00Z", "GIT_COMMITTER_DATE=2026-03-06T10:00:00Z"}
	w.Write("home/.gitconfig", "[user]\n\tname = Alice\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n")
	w.Init(w.dir)
	w.write("repo/README", "hello\n")
	w.commit("first")
	return w
}

// told is a world with two sessions and a memory, in which everything has its time.
func told(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.run("init")
	w.say("one", "2026-03-04T10:00:00Z", "title Fix JWT expiry", "human why does the token expire early?",
		"assistant The exp claim was compared in local time: the clock of src/auth/jwt.go is not in UTC.",
		"Edit src/auth/jwt.go", "human then fix it")
	w.write("repo/src/auth/jwt.go", "package auth\n")
	w.commit("fix the clock")
	w.run("hook", "post-commit")
	w.say("two", "2026-03-05T11:00:00Z", "human the build is slow",
		"assistant It compiles 100% of the assets twice, because of snake_case names.", "Edit Makefile")
	w.write("repo/Makefile", "all:\n")
	w.commit("build once")
	w.run("hook", "post-commit")
	w.run("save", "--title", "Leeway of tokens", "Tokens have 30 s of leeway, because clocks differ.")
	return w
}

// write makes a file below the home.
func (w *world) write(path, text string) {
	w.T.Helper()
	w.Write("home/"+path, text)
}

func (w *world) commit(subject string) {
	w.T.Helper()
	w.Git(w.dir, "add", "-A")
	w.Git(w.dir, "commit", "-q", "--allow-empty", "-m", subject)
}

// say writes a transcript of the repository; each line begins with human, assistant, title or Edit.
func (w *world) say(id, start string, lines ...string) {
	w.T.Helper()
	at, err := time.Parse(time.RFC3339, start)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Talk(w.dir, id, "main", at, harness.Lines(lines...)...)
}

// process is what a process of this world is given. Its clock stands.
func (w *world) process() workspace.Process {
	return workspace.Process{
		Dir: w.dir, Env: w.Environ(), Home: w.Home(), Exe: filepath.Join(w.Home(), "bin", "git-rekal"),
		Rand: rand.NewChaCha8([32]byte{7}),
		Now:  func() time.Time { return time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC) },
	}
}

// run runs a command, which must succeed, and returns what it printed.
func (w *world) run(args ...string) string {
	w.T.Helper()
	var out, err bytes.Buffer
	app := &cli.App{
		Process: w.process(), Version: "v1.2.3", Full: full.Parts(), Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &err,
	}
	if status := cli.Main(w.T.Context(), app, args); status != 0 {
		w.T.Fatalf("%q: exit status %d\n%s", args, status, err.String())
	}
	return out.String()
}

// client speaks to a server of its own, `git rekal mcp` in this process.
type client struct {
	t testing.TB
	*sdk.ClientSession
	ended chan int // its exit status
}

func (w *world) client() *client {
	w.T.Helper()
	requests, toServer := io.Pipe()
	fromServer, answers := io.Pipe()
	c := &client{t: w.T, ended: make(chan int, 1)}
	go func() {
		app := &cli.App{
			Process: w.process(), Version: "v1.2.3", Full: full.Parts(), Stdin: requests, Stdout: answers,
			Stderr: io.Discard,
		}
		c.ended <- cli.Main(context.Background(), app, []string{"mcp"})
		_ = answers.Close()
	}()
	var err error
	c.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).
		Connect(w.T.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = c.Close() })
	return c
}

// call calls a tool and returns its text, and whether that is an error.
func (c *client) call(tool string, args map[string]any) (string, bool) {
	c.t.Helper()
	res, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, args, err)
	}
	var texts []string
	for _, content := range res.Content {
		text, ok := content.(*sdk.TextContent)
		if !ok {
			c.t.Fatalf("%s %v: %T", tool, args, content)
		}
		texts = append(texts, text.Text)
	}
	return strings.Join(texts, "\n"), res.IsError
}

// says calls a tool, which must succeed and say what holds all words.
func (c *client) says(tool string, args map[string]any, words ...string) string {
	c.t.Helper()
	text, failed := c.call(tool, args)
	if failed {
		c.t.Errorf("%s %v fails: %s", tool, args, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			c.t.Errorf("%s %v: no %q in\n%s", tool, args, w, text)
		}
	}
	return text
}
