package mcp

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestTwice checks that a call with the ID of one that is not answered yet is refused, and that the end waits for the
// one alone: the SDK drops the other without an answer.
func TestTwice(t *testing.T) {
	in, client := io.Pipe()
	answers, out := io.Pipe()
	c, err := (&stream{in: in, out: out, deaf: func() {}}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(c.Close(), client.Close(), answers.Close()) })
	go func() {
		_, _ = io.WriteString(client, strings.Repeat(`{"jsonrpc":"2.0","id":"a","method":"ping"}`+"\n", 2))
	}()
	msg, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := c.Read(t.Context())
		ended <- err
	}()
	lines := bufio.NewReader(answers)
	if line, err := lines.ReadString('\n'); err != nil || line != inUse+"\n" {
		t.Fatalf("answered by %q, %v", line, err)
	}
	call, ok := msg.(*jsonrpc.Request)
	if !ok {
		t.Fatalf("read %T", msg)
	}
	wrote := make(chan error, 1)
	go func() {
		wrote <- errors.Join(c.Write(t.Context(), &jsonrpc.Response{ID: call.ID, Result: []byte("{}")}), client.Close())
	}()
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"id":"a"`) {
		t.Errorf("answered by %q, %v", line, err)
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("it ends by %v", err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}
