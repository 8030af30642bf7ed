package lsp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of what a client sends. A message holds at most one open file with each byte escaped; a header line is some dozen bytes.
const (
	maxMessage = 64 << 20
	maxHeader  = 4 << 10
)

// frames are the messages of the protocol: headers, an empty line, so many bytes of JSON. What is no frame is skipped up to the next line that
// begins one, so that a client's mistake costs it one message, and not its server.
type frames struct {
	in  *bufio.Reader
	out io.Writer
}

func newFrames(in io.Reader, out io.Writer) *frames {
	return &frames{bufio.NewReaderSize(in, maxHeader), out}
}

// Send implements channel.Channel.
func (f *frames) Send(message []byte) error {
	_, err := f.out.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(message)), message...))
	return err
}

// Recv implements channel.Channel. Its only error is the end of the input.
func (f *frames) Recv() ([]byte, error) {
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
