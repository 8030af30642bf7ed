package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what a client sends. A message holds at most one open file with each byte escaped; a header line is some
// dozen bytes.
const (
	maxMessage = 64 << 20
	maxHeader  = 4 << 10
)

// frames are the messages of the protocol: headers, an empty line, so many bytes of JSON. What is no frame is skipped
// up to the next line that begins one, so that a client's mistake costs it one message, and not its server.
//
// The end of the input is told when what was asked before it is answered: the library can't answer any more behind it.
type frames struct {
	in  *bufio.Reader
	out io.Writer

	mu   sync.Mutex
	open map[string]bool // IDs of calls that are not answered yet
}

func newFrames(in io.Reader, out io.Writer) *frames {
	return &frames{in: bufio.NewReaderSize(in, maxHeader), out: out, open: map[string]bool{}}
}

// lastAnswers is how long the end of the input waits for answers: longer than any question takes.
const lastAnswers = patience + time.Second

// waitForAnswers waits until all calls are answered.
func (f *frames) waitForAnswers() {
	for end := time.After(lastAnswers); ; {
		f.mu.Lock()
		left := len(f.open)
		f.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-end:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// note notes that a call was made, or answered.
func (f *frames) note(message []byte, isAnswer bool) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(message, &m) != nil || len(m.ID) == 0 || isAnswer != (m.Method == "") {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if isAnswer {
		delete(f.open, string(m.ID))
	} else {
		f.open[string(m.ID)] = true
	}
}

// Send implements channel.Channel.
func (f *frames) Send(message []byte) error {
	defer f.note(message, true)
	_, err := f.out.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(message)), message...))
	return err
}

// Recv implements channel.Channel. Its only error is the end of the input.
func (f *frames) Recv() ([]byte, error) {
	message, err := f.readFrame()
	if err != nil {
		f.waitForAnswers()
		return nil, err
	}
	f.note(message, false)
	return message, nil
}

func (f *frames) readFrame() ([]byte, error) {
	size, err := f.readHeaders()
	if err != nil {
		return nil, err
	}
	var message bytes.Buffer // it grows with what comes, not with what was announced
	if n, err := io.CopyN(&message, f.in, size); n < size {
		return nil, errors.Join(io.EOF, err)
	}
	return message.Bytes(), nil
}

// readHeaders reads up to the empty line behind a length that can be.
func (f *frames) readHeaders() (size int64, err error) {
	known := false
	for {
		line, err := f.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, io.EOF
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		switch {
		case strings.EqualFold(name, "Content-Length"):
			size, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			known = err == nil && size >= 0 && size <= maxMessage
		case name == "" && known:
			return size, nil
		case !strings.EqualFold(name, "Content-Type"):
			known = false
		}
	}
}

// Close implements channel.Channel. The process closes its streams.
func (f *frames) Close() error { return nil }
