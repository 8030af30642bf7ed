package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines lets through what is a message, a line each, and answers the rest with an error: at the first line
// that is none the SDK would end the server, and with it what other calls are waiting for.
type lines struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of a line that was let through
}

// maxLine is how long a line may be: a memory has 64 KB at most, and may say more of itself than it is let to.
const maxLine = 16 << 20

// What is answered, as JSON-RPC 2.0 has it.
const (
	notJSON    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: a message is one line of JSON"}}` + "\n"
	notMessage = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: not a message of JSON-RPC 2.0"}}` + "\n"
	tooLong    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: longer than 16 MB"}}` + "\n"
)

// Read gives messages out, with their line ends.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		text := bytes.TrimSpace(line)
		refusal := refused(text)
		switch {
		case refusal != "":
			if _, err := io.WriteString(l.out, refusal); err != nil {
				return 0, err
			}
		case len(text) > 0:
			text = append(text, '\n') // the SDK takes nothing else behind a message
			l.rest = text
		}
		if err != nil && len(l.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next reads a line, of one that is too long the beginning, and the error that ended it.
func (l *lines) next() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// refused is the answer to a line that is no message; "" for one, and for an empty line.
func refused(text []byte) string {
	switch {
	case len(text) > maxLine:
		return tooLong
	case len(text) == 0:
		return ""
	case !json.Valid(text):
		return notJSON
	}
	messages := []json.RawMessage{text}
	if text[0] == '[' {
		if err := json.Unmarshal(text, &messages); err != nil || len(messages) == 0 {
			return notMessage
		}
	}
	for _, m := range messages {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return notMessage
		}
	}
	return ""
}

// shared is an output to which several write, each a line at a time. It stays open.
type shared struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

// Close leaves it open: it is the caller's.
func (s *shared) Close() error { return nil }
