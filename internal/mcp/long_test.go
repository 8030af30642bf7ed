package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/mcp"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// TestPingWhileBusy: the protocol does not wait for a call that waits for the databases, and a call that
// the client gives up leaves its turn to the next.
func TestPingWhileBusy(t *testing.T) {
	w := told(t)
	c := w.client()
	w.say("late", "2026-03-06T09:00:00Z", "human why is the walrus blue?", "Edit README")
	w.write("repo/README", "hello again\n")
	w.commit("blue")
	w.run("hook", "post-commit")
	held, err := lock.Acquire(t.Context(), filepath.Join(w.dir, ".git/rekal", "lock"), lock.ToWrite, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan string)
	go func() {
		text, _ := c.call("recall", map[string]any{"query": "walrus"})
		answered <- text
	}()
	for range 3 {
		if err := c.Ping(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case text := <-answered:
		t.Errorf("answered without the databases: %s", text)
	default:
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	if text := <-answered; !strings.Contains(text, "walrus") {
		t.Errorf("after the wait: %s", text)
	}
}

// TestBatchOfLines: who writes all requests at once and closes gets all answers.
func TestBatchOfLines(t *testing.T) {
	w := told(t)
	const requests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"recall","arguments":null}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"recall","arguments":{"query":"leeway"}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nosuch"}}
{"jsonrpc":"2.0","id":5,"method":"nosuch"}
`
	out := serve(t, w.process(), requests)
	for _, want := range []string{
		`"id":1,"result"`, `"id":"two","result"`, "3 result(s)", `"id":3,"result"`,
		"30 s of leeway", `"id":4,"error"`, `"id":5,"error"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestLinesThatAreNoMessages: each is answered, and those around them are served.
func TestLinesThatAreNoMessages(t *testing.T) {
	w := told(t)
	const ping = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
	none := []string{
		`{"jsonrpc":"2.0","id":9,"method":`, "hello", "\xff\xfe", `null`, `[]`, `[1]`, `"text"`, `{}`,
		`{"jsonrpc":"1.0","id":9,"method":"ping"}`,
		fmt.Sprintf(ping+ping, 8, 9), strings.Repeat("[", 100_000), strings.Repeat(" ", 5) + "}",
		`{"x":"` + strings.Repeat("x", 17<<20) + `"}`,
	}
	requests := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", " \t\r",
	}
	for i, text := range none {
		requests = append(requests, text, fmt.Sprintf(ping, 100+i)+" \r")
	}
	out := strings.Split(strings.TrimSpace(serve(t, w.process(), strings.Join(requests, "\n"))), "\n")
	refused := 0
	for i, line := range out {
		var m struct{ Error *struct{ Code int } }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("line %d of the answer: %v: %.200s", i, err, line)
		}
		if m.Error != nil && (m.Error.Code == -32700 || m.Error.Code == -32600) {
			refused++
		}
	}
	if refused != len(none) || len(out) != 1+2*len(none) {
		t.Errorf("%d refused of %d, %d lines", refused, len(none), len(out))
	}
}

// TestGone: a server whose client does not read ends when it is told to.
func TestGone(t *testing.T) {
	w := told(t)
	requests, toServer := io.Pipe()
	_, answers := io.Pipe() // nobody reads
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server(w.process()).Serve(ctx, requests, answers) }()
	if _, err := io.WriteString(toServer, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := errors.Join(answers.Close(), <-ended); err != nil {
		t.Error(err)
	}
}

func server(p workspace.Process) *mcp.Server {
	p.Warn = func(error) {}
	return &mcp.Server{Process: p, Version: "v1.2.3", Explain: error.Error}
}

// serve gives a server its whole input and returns its whole output, which must be lines of JSON.
func serve(t *testing.T, p workspace.Process, input string) string {
	t.Helper()
	var out strings.Builder
	_ = server(p).Serve(t.Context(), strings.NewReader(input), &out) // an input that is no protocol is an error
	lines := bufio.NewScanner(strings.NewReader(out.String()))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !json.Valid(lines.Bytes()) {
			t.Fatalf("%q is answered by %q", input, lines.Text())
		}
	}
	return out.String()
}

// FuzzRequests: whatever a client writes, the server neither falls over nor hangs, and writes nothing but
// the protocol; and a call that can be read is answered.
func FuzzRequests(f *testing.F) {
	dir := f.TempDir()
	p := workspace.Process{
		Dir: dir, Env: []string{"HOME=" + dir, "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)},
		Home: dir, Now: time.Now, Rand: rand.NewChaCha8([32]byte{}),
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"
	f.Fuzz(func(t *testing.T, arguments, line string) {
		out := serve(t, p, hello+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n"+line+"\n")
		if !strings.Contains(out, `"id":1,"result"`) {
			t.Fatalf("%q: no answer to hello: %q", line, out)
		}
		if !json.Valid([]byte(arguments)) || strings.ContainsAny(arguments, "\r\n") {
			return
		}
		for _, tool := range []string{"recall", "save_memory"} {
			out := serve(t, p, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`+"\n")
			if strings.Count(out, "\n") != 2 {
				t.Fatalf("%q is answered by %q", arguments, out)
			}
		}
	})
}
