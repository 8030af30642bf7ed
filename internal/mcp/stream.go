package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// patient is a transport whose end of input waits for the answers to what came before it: the SDK would
// drop them, and with them all that a client asks that writes its requests and closes.
type patient struct{ sdk.Transport }

// Connect wraps the connection.
func (p patient) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	return &counted{Connection: c, open: map[jsonrpc.ID]bool{}, closed: make(chan struct{})}, err
}

// counted knows which calls are not yet answered.
type counted struct {
	sdk.Connection
	mu     sync.Mutex
	open   map[jsonrpc.ID]bool
	none   chan struct{} // closed when the last call is answered; nil: nobody waits
	end    sync.Once
	closed chan struct{}
}

// Read notes each call.
func (c *counted) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		c.wait(ctx)
		return msg, err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		c.mu.Lock()
		c.open[req.ID] = true
		c.mu.Unlock()
	}
	return msg, nil
}

// Write notes that a call is answered.
func (c *counted) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, res.ID)
		if len(c.open) == 0 && c.none != nil {
			close(c.none)
			c.none = nil
		}
		c.mu.Unlock()
	}
	return err
}

// Close ends the wait, too.
func (c *counted) Close() error {
	c.end.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// wait returns when all calls are answered or nobody can answer any more.
func (c *counted) wait(ctx context.Context) {
	c.mu.Lock()
	if len(c.open) == 0 {
		c.mu.Unlock()
		return
	}
	none := make(chan struct{})
	c.none = none
	c.mu.Unlock()
	select {
	case <-none:
	case <-c.closed:
	case <-ctx.Done():
	}
}
