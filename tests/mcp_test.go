package tests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// office is a repository in a home of its own, for processes of the real binary.
type office struct {
	*harness.Place
	bin string
}

func newOffice(t *testing.T, bin string) *office {
	t.Helper()
	o := &office{harness.New(t), bin}
	o.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	o.Init("repo")
	o.Commit("repo", "first", "deep/down/file", "")
	o.Git("repo", "rekal", "init", "--mcp")
	return o
}

func (o *office) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(o.T.Context(), name, args...)
	cmd.Dir, cmd.Env = o.At(dir), o.Environ()
	return cmd
}

// serve is a server without git before it.
func (o *office) serve() *exec.Cmd {
	return o.command("repo", filepath.Join(o.bin, "git-rekal"), "mcp")
}

// connect starts a server in a folder and speaks to it with the official client.
func (o *office) connect(dir string) *mcp.ClientSession {
	o.T.Helper()
	transport := &mcp.CommandTransport{Command: o.command(dir, "git", "rekal", "mcp")}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(o.T.Context(), transport,
		nil)
	if err != nil {
		o.T.Fatal(err)
	}
	o.T.Cleanup(func() { _ = session.Close() })
	return session
}

func tell(session *mcp.ClientSession, t *testing.T, tool string, args map[string]any) (string, error) {
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok || res.IsError {
		return "", fmt.Errorf("%s %v: %v", tool, args, res.Content[0])
	}
	return text.Text, nil
}

func TestLongMCP(t *testing.T) {
	bin := harness.Binary(t)
	t.Run("two clients", func(t *testing.T) { twoClients(t, bin) })
	t.Run("process", func(t *testing.T) { oneProcess(t, bin) })
}

// twoClients: two clients, each with a server of its own as a process, save and recall at once, while
// commands run; each finds what the other saved.
func twoClients(t *testing.T, bin string) {
	o := newOffice(t, bin)
	clients := []*mcp.ClientSession{o.connect("repo"), o.connect("repo/deep/down")}
	const each = 4
	var wg sync.WaitGroup
	failed := make([]error, len(clients))
	for i, c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range each {
				_, err := tell(c, t, "save_memory", map[string]any{
					"title":   fmt.Sprintf("Fact %d of client %d", n, i),
					"content": fmt.Sprintf("walrus%d%d is blue", i, n),
				})
				if err == nil {
					_, err = tell(c, t, "recall", map[string]any{"query": fmt.Sprintf("walrus%d%d", i, n)})
				}
				failed[i] = errors.Join(failed[i], err)
			}
		}()
	}
	for range 3 {
		o.Git("repo", "rekal", "checkpoint")
		o.Git("repo", "rekal", "--author", "a@example.com")
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	for i, c := range clients {
		text, err := tell(c, t, "recall", map[string]any{"title": "fact", "limit": 50})
		if err != nil || !strings.Contains(text, fmt.Sprintf("%d result(s)", each*len(clients))) {
			t.Errorf("client %d: %v\n%s", i, err, text)
		}
	}
}

// oneProcess: stdout is the protocol and nothing else, and the process ends with its input, by a
// signal, and when nobody reads.
func oneProcess(t *testing.T, bin string) {
	o := newOffice(t, bin)
	const ask = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"
	start := func() (*exec.Cmd, io.WriteCloser, io.ReadCloser) {
		cmd := o.serve()
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, ask); err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		if _, err := out.Read(first); err != nil || first[0] != '{' {
			t.Fatalf("%q, %v", first, err)
		}
		return cmd, in, out
	}
	t.Run("end of input", func(t *testing.T) {
		cmd := o.serve()
		var stderr bytes.Buffer
		cmd.Stdin, cmd.Stderr = strings.NewReader(ask), &stderr
		out, err := cmd.Output()
		if err != nil || bytes.Count(out, []byte("\n")) != 1 || stderr.Len() > 0 {
			t.Errorf("%v: %s%s", err, out, stderr.String())
		}
	})
	t.Run("a signal", func(t *testing.T) {
		cmd, _, _ := start()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a client that is gone", func(t *testing.T) {
		cmd, in, out := start()
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
		_ = cmd.Wait() // it ends, in whichever way
	})
}
