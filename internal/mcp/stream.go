package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The server lives as long as its client. The SDK handles each call beside the protocol, so a catch-up that takes long
// holds up other calls and no ping. Two things differ from the SDK: the end of the input waits for the answers to what
// was read before it, and `null` for arguments means none.

// stream is the transport: a message a line. The SDK's own ends the server at the first line that is no message,
// and with it what other calls are waiting for, and drops at the end of the input what is not answered yet.
type stream struct {
	in   io.Reader
	out  io.Writer
	deaf func() // called when the end has come and nobody reads what is left to say
}

// patience is how long, at the end, a client may take to read an answer.
const patience = time.Second

// How long a line may be that is read, and one that is served. A question has 256 KB at most, a memory 64 KB, and each
// byte may be written as six. A longer call gets an error of its tool, which a model reads, and is copied no more.
const (
	maxLine   = 16 << 20
	maxServed = 2 << 20
)

// What is answered to a line that is no message, as JSON-RPC 2.0 has it. A batch is none: MCP knows them in one
// version only (2025-03-26).
const (
	notJSON    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: a message is one line of JSON"}}`
	notMessage = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: a line is one message of JSON-RPC 2.0, and no batch"}}`
	tooLong    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: longer than 16 MB"}}`
	tooMuch    = `{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[{"type":"text","text":"A call has at most 2 MB: a question 256 KB, a memory 64 KB."}]}}`
	inUse      = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: the id of a call that is not answered yet"}}`
)

// Connect begins to read.
func (s *stream) Connect(context.Context) (sdk.Connection, error) {
	c := &connection{stream: s, lines: make(chan []byte), ended: make(chan struct{}), closed: make(chan struct{})}
	go c.listen()
	return c, nil
}

// connection is the connection to the one client. Nothing that is written holds up what is read, or the end of the
// input would never be seen where nobody reads.
type connection struct {
	*stream
	lines  chan []byte
	ended  chan struct{} // closed when the input has ended
	end    sync.Once
	closed chan struct{}

	writing sync.Mutex
	open    sync.WaitGroup // what is not answered yet
	asked   sync.Map       // the IDs of its calls; the SDK answers no second one with such an ID
}

// listen reads lines until the input ends.
func (c *connection) listen() {
	defer close(c.lines)
	in := bufio.NewReader(c.in)
	for {
		line, err := readLine(in)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case c.lines <- line:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line, of one that is too long the beginning, and the error that ended it.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Read gives the next message. The end of the input waits for the answers to what came before it.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				close(c.ended)
				c.waitForAnswers(ctx)
				return nil, io.EOF
			}
			msg, refusal := parseMessage(line)
			if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
				c.open.Add(1)
				if _, twice := c.asked.LoadOrStore(req.ID, nil); twice {
					refusal = inUse
				}
			} else if refusal != "" {
				c.open.Add(1)
			}
			if refusal == "" {
				return msg, nil
			}
			go func() {
				defer c.open.Done()
				_ = c.writeLine([]byte(refusal))
			}()
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// parseMessage is what a line says, or the answer to one that is none.
func parseMessage(line []byte) (msg jsonrpc.Message, refusal string) {
	switch {
	case len(line) > maxLine:
		return nil, tooLong
	case !json.Valid(line):
		return nil, notJSON
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, notMessage
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == "tools/call" && len(line) > maxServed {
		id, err := json.Marshal(req.ID.Raw())
		if err != nil {
			return nil, notMessage
		}
		return nil, fmt.Sprintf(tooMuch, id)
	}
	return msg, ""
}

// Write sends a message. An error that the SDK gives no code is about a request that may not be made, or not now.
func (c *connection) Write(_ context.Context, msg jsonrpc.Message) error {
	if res, ok := msg.(*jsonrpc.Response); ok {
		defer c.open.Done()
		c.asked.Delete(res.ID)
		if res.Error != nil && !errors.As(res.Error, new(*jsonrpc.Error)) {
			msg = &jsonrpc.Response{ID: res.ID, Error: &jsonrpc.Error{
				Code:    jsonrpc.CodeInvalidRequest,
				Message: res.Error.Error(),
			}}
		}
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return c.writeLine(text)
}

// writeLine writes a line.
func (c *connection) writeLine(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	done := make(chan struct{})
	defer close(done)
	go c.watchUnreadWrites(done)
	_, err := c.out.Write(append(text, '\n'))
	return err
}

// watchUnreadWrites tells of a write that nobody reads, once the input has ended.
func (c *connection) watchUnreadWrites(done <-chan struct{}) {
	select {
	case <-c.ended:
	case <-done:
		return
	}
	select {
	case <-time.After(patience):
		c.deaf()
	case <-done:
	}
}

// waitForAnswers returns when everything is answered or nobody can answer any more.
func (c *connection) waitForAnswers(ctx context.Context) {
	none := make(chan struct{})
	go func() {
		c.open.Wait()
		close(none)
	}()
	select {
	case <-none:
	case <-c.closed:
	case <-ctx.Done():
	}
}

// Close ends reading and the wait. The streams are the caller's.
func (c *connection) Close() error {
	c.end.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: there is one client.
func (c *connection) SessionID() string { return "" }
