package tests

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// talk is a server as a process, whose streams a test holds.
type talk struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (o *office) talk() talk {
	o.T.Helper()
	cmd := o.serve()
	in, err := cmd.StdinPipe()
	if err != nil {
		o.T.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.T.Fatal(err)
	}
	o.T.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return talk{cmd, in, bufio.NewReader(out)}
}

// answer is what a client is told about one line.
type answer struct {
	ID     any
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (k talk) ask(t *testing.T, line string) answer {
	t.Helper()
	if _, err := io.WriteString(k.in, line+"\n"); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	text, err := k.out.ReadBytes('\n')
	var a answer
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Fatalf("%s is answered by %q, %v", line, text, err)
	}
	return a
}

const (
	greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	ping     = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
)

// TestMCPRefusals: what may not be asked, or not yet, is answered with a code, and the server goes on.
func TestLongMCPRefusals(t *testing.T) {
	o := newOffice(t, harness.Binary(t))
	batches := []string{
		"[" + fmt.Sprintf(ping, 7) + "]", "[" + fmt.Sprintf(ping, 7) + "," + fmt.Sprintf(ping, 8) + "]", "[ ]",
		`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, "[" + fmt.Sprintf(ping, 7) + `,"x"]`,
		`[{"jsonrpc":"2.0","id":7,"result":{}}]`,
	}
	for _, version := range []string{"", "2024-11-05", "2025-03-26", "2025-06-18"} {
		t.Run("version "+version, func(t *testing.T) {
			k := o.talk()
			if version == "" {
				for _, method := range []string{"tools/list", "tools/call", "prompts/list", "resources/list"} {
					a := k.ask(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":%q,"params":{"name":"recall"}}`, method))
					if a.Error == nil || a.Error.Code != -32600 || a.ID != 5.0 {
						t.Errorf("%s before initialize: %+v", method, a)
					}
				}
			} else if a := k.ask(t, fmt.Sprintf(greeting, version)); a.Error != nil {
				t.Fatalf("initialize: %+v", a.Error)
			}
			for i, batch := range batches {
				if a := k.ask(t, batch); a.Error == nil || a.Error.Code != -32600 || a.ID != nil {
					t.Errorf("%s: %+v", batch, a)
				}
				if a := k.ask(t, fmt.Sprintf(ping, 100+i)); a.Error != nil || a.ID != float64(100+i) {
					t.Errorf("ping behind %s: %+v", batch, a)
				}
			}
			if version == "" {
				return
			}
			for _, line := range []string{
				fmt.Sprintf(greeting, version),
				`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":7}`,
				`{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":"?"}}`,
			} {
				if a := k.ask(t, line); a.Error == nil || a.Error.Code > -32000 {
					t.Errorf("%s: %+v", line, a.Error)
				}
			}
			if a := k.ask(t, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`); a.Error != nil {
				t.Errorf("tools/list: %+v", a.Error)
			}
		})
	}
}

// TestMCPUnread: a client that does not read holds up no end of the process, whatever is to be told to it.
func TestLongMCPUnread(t *testing.T) {
	o := newOffice(t, harness.Binary(t))
	for name, line := range map[string]string{
		"calls":    `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`,
		"batches":  "[" + ping + "]",
		"no JSON":  "{ %d",
		"greeting": strings.ReplaceAll(fmt.Sprintf(greeting, "2025-06-18"), `"id":1`, `"id":%d`),
	} {
		for _, end := range []string{"TERM", "end of input"} {
			t.Run(name+", "+end, func(t *testing.T) {
				k := o.talk()
				if a := k.ask(t, fmt.Sprintf(greeting, "2025-06-18")); a.Error != nil {
					t.Fatalf("initialize: %+v", a.Error)
				}
				written := make(chan error, 1)
				go func() {
					var err error
					for i := 0; i < 4000 && err == nil; i++ { // many times what a pipe holds
						_, err = fmt.Fprintf(k.in, line+"\n", 10+i)
					}
					written <- err
				}()
				if err := <-written; err != nil {
					t.Fatal(err)
				}
				if end == "TERM" {
					if err := k.cmd.Process.Signal(syscall.SIGTERM); err != nil {
						t.Fatal(err)
					}
				} else if err := k.in.Close(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan struct{})
				go func() { _, _ = k.cmd.Process.Wait(); close(ended) }()
				select {
				case <-ended:
				case <-time.After(time.Minute): // it would never
					t.Error("the process goes on")
				}
			})
		}
	}
}
