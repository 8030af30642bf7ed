package transcript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// line is one line of a transcript. Its text is valid until the next one is read.
type line struct {
	text  []byte // without its end, and without the NULs that a crash can leave around it
	start int64  // offset of its first byte in the reader
	ended bool   // by a newline
	over  bool   // longer than MaxLine; text is empty
}

// lineReader splits a reader into lines without a limit on their length: what is above
// MaxLine is read past, never held.
type lineReader struct {
	r      *bufio.Reader
	long   []byte // a line that outgrew the reader's buffer
	offset int64  // end of the line that next returned last
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next returns io.EOF when there is no further line.
func (l *lineReader) next() (line, error) {
	ln := line{start: l.offset}
	l.long = l.long[:0]
	for {
		chunk, err := l.r.ReadSlice('\n')
		l.offset += int64(len(chunk))
		switch {
		case err == nil && len(l.long) == 0 && !ln.over:
			ln.ended, ln.text = true, trim(chunk)
			return ln, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF):
			return line{}, err
		}
		if len(l.long)+len(chunk) > MaxLine {
			ln.over, l.long = true, l.long[:0]
		}
		if !ln.over {
			l.long = append(l.long, chunk...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		ln.ended, ln.text = err == nil, trim(l.long)
		if errors.Is(err, io.EOF) && l.offset == ln.start {
			return line{}, io.EOF
		}
		return ln, nil
	}
}

func trim(b []byte) []byte {
	return bytes.Trim(b, " \t\r\n\x00")
}

// eachRecord calls visit with every line that is not blank, and returns how many bytes
// it is done with. visit says whether the line is a whole record; a last line that has
// no newline and is none is torn: it is left for the next read.
func eachRecord(ctx context.Context, r io.Reader, counts *Counts, visit func(line) bool) (int64, error) {
	in := newLineReader(r)
	done := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		ln, err := in.next()
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read at byte %d: %w", in.offset, err)
		}
		whole := !ln.over && (len(ln.text) == 0 || visit(ln))
		switch {
		case !whole && !ln.ended:
			return done, nil
		case ln.over:
			counts.Oversized++
		case !whole:
			counts.Malformed++
		}
		done = in.offset
	}
}
