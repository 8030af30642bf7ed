// Package lsp answers "why is this line so" in any editor: a server of the Language Server Protocol 3.17 over a pair of
// streams.
//
// In: requests, and the text of open files as somebody types it. Out: only the protocol. A hover, an inlay hint or the
// request "git-rekal/line" asks package ask for the session behind a line, as `git rekal why` does; unsaved text is
// compared with the commit, so each line keeps its origin while others change. "Show the session" and "Show the commit"
// write what `git rekal show` prints into a file of this process's own folder, which goes away with it, and ask the
// editor to open it.
//
// Between requests no repository and no database is open. Questions take turns, because an engine's memory is bounded
// for one, and each ends after a while, or when it is cancelled. What has no answer (a file outside of a repository, a
// binary file, a repository without git-rekal) is an empty result and a line in the editor's log, never an error that
// opens a dialog. It writes to no repository.
package lsp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Server is what the server needs to know.
type Server struct {
	Process workspace.Process
	Version string
	Explain func(error) string // an error in one line, with what to do about it
	// what makes the address of a commit's page at its host; nil where there is none
	CommitPage func(*workspace.Workspace) func(sha string) string
}

// ErrNoShutdown is a client that ended without "shutdown": for that, the protocol wants the exit status 1.
var ErrNoShutdown = errors.New(`lsp: the editor ended without "shutdown"`)

// patience is how long a question may take before it gets an empty answer. parallel is how many messages are handled at
// once. Only one question is asked at a time; the others wait, but a message that cancels one must be handled
// meanwhile.
const (
	patience = 5 * time.Second
	parallel = 256
)

// Serve answers until the client says "exit", its input ends, or the context does.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "git-rekal-lsp-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	input, inputWriter := io.Pipe() // endInput closes it while the server still waits for input
	go func() {
		_, err := io.Copy(inputWriter, in)
		_ = inputWriter.CloseWithError(err)
	}()
	c := &connection{Server: s, dir: dir, asking: make(chan struct{}, 1), endInput: func() { _ = inputWriter.Close() }}
	c.rpc = jrpc2.NewServer(c.methods(), &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: parallel,
		NewContext: func() context.Context { return ctx },
	})
	defer context.AfterFunc(ctx, c.endInput)()
	err = c.rpc.Start(cancelCodes{newFrames(input, out)}).WaitStatus().Err
	switch {
	case ctx.Err() != nil || c.shutDown.Load():
		return nil
	case err != nil:
		return fmt.Errorf("lsp: %w", err)
	}
	return ErrNoShutdown
}

// connection is the state of one client.
type connection struct {
	*Server
	rpc      *jrpc2.Server
	dir      string        // for files that are shown
	endInput func()        // closes the input
	asking   chan struct{} // a lock: the question that is being asked holds it
	open     documents
	blames   ask.Blames                            // used by the holder of asking
	client   struct{ markdown, shows, hints bool } // what the editor supports or wants
	shutDown atomic.Bool                           // the editor said "shutdown"
}

// methods are the methods that the server knows. Any other gets the protocol's own error.
func (c *connection) methods() handler.Map {
	//nolint:nilnil // nothing to do, whatever is sent along
	ignore := func(context.Context, *jrpc2.Request) (any, error) { return nil, nil }
	return withoutPanics(handler.Map{
		"initialize":                       handler.New(c.initialize),
		"initialized":                      ignore,
		"shutdown":                         c.shutdown,
		"exit":                             c.exit,
		"$/cancelRequest":                  handler.New(c.cancel),
		"$/setTrace":                       ignore,
		"textDocument/didOpen":             handler.New(c.didOpen),
		"textDocument/didChange":           handler.New(c.didChange),
		"textDocument/didSave":             ignore,
		"textDocument/didClose":            handler.New(c.didClose),
		"textDocument/hover":               cancellable(c.hover),
		"textDocument/codeAction":          cancellable(c.codeActions),
		"textDocument/inlayHint":           cancellable(c.inlayHints),
		"workspace/executeCommand":         cancellable(c.execute),
		"workspace/didChangeConfiguration": ignore,
		"git-rekal/line":                   cancellable(c.line),
	})
}

// withoutPanics answers an error where a method panics, and goes on.
func withoutPanics(methods handler.Map) handler.Map {
	for name, method := range methods {
		methods[name] = func(ctx context.Context, r *jrpc2.Request) (out any, err error) {
			defer func() {
				if broken := recover(); broken != nil {
					err = jrpc2.Errorf(jrpc2.InternalError, "%s: internal error: %v", name, broken)
				}
			}()
			return method(ctx, r)
		}
	}
	return methods
}

// cancellable is a method that may take a while.
func cancellable[In, Out any](answer func(context.Context, In) (Out, error)) jrpc2.Handler {
	return handler.New(func(ctx context.Context, p In) (Out, error) {
		out, err := answer(ctx, p)
		return out, cmp.Or(ctx.Err(), err)
	})
}

// cancelCodes replaces the library's error code of a cancelled request by the protocol's. In texts the replaced bytes
// can't occur, because their quotes are escaped.
type cancelCodes struct{ channel.Channel }

func (a cancelCodes) Send(text []byte) error {
	number := fmt.Appendf(nil, `"error":{"code":%d,`, jrpc2.Cancelled)
	return a.Channel.Send(bytes.Replace(text, number, []byte(`"error":{"code":-32800,`), 1))
}

func (c *connection) initialize(_ context.Context, p initializeParams) (initializeResult, error) {
	for _, kind := range p.Capabilities.TextDocument.Hover.ContentFormat {
		c.client.markdown = c.client.markdown || kind == "markdown"
	}
	c.client.shows = p.Capabilities.Window.ShowDocument.Support
	c.client.hints = p.InitializationOptions.InlayHints
	var out initializeResult
	out.ServerInfo.Name, out.ServerInfo.Version = "git-rekal", c.Version
	out.Capabilities = serverCapabilities{
		PositionEncoding: "utf-16", TextDocumentSync: syncOptions{OpenClose: true, Change: syncIncremental},
		HoverProvider:      true,
		CodeActionProvider: actionOptions{CodeActionKinds: []string{kindShow, kindAsk}}, InlayHintProvider: c.client.hints,
		ExecuteCommandProvider: commandOptions{Commands: []string{showSession, showCommit, askSelected, askWhy}},
	}
	return out, nil
}

func (c *connection) shutdown(context.Context, *jrpc2.Request) (any, error) {
	c.shutDown.Store(true)
	return nil, nil //nolint:nilnil // the protocol wants null
}

func (c *connection) exit(context.Context, *jrpc2.Request) (any, error) {
	c.endInput()
	return nil, nil //nolint:nilnil // a notification has no answer
}

// cancel ends a request that the client does not want any more.
func (c *connection) cancel(_ context.Context, p cancelParams) error {
	c.rpc.CancelRequest(string(p.ID))
	return nil
}

// log writes a line into the editor's log.
func (c *connection) log(ctx context.Context, text string) {
	// a client that is gone reads no log
	_ = c.rpc.Notify(ctx, "window/logMessage", message{Type: messageInfo, Message: "git-rekal: " + text})
}
