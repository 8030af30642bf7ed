package records

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Kept is how much of an output's beginning and of its end is kept, in bytes each.
const Kept = 4 << 20

// Spool holds the beginning and the end of an output. The zero value holds nothing yet.
type Spool struct {
	head, tail []byte
	at         int   // where tail, when it is full, goes on
	lost       int64 // bytes between the two
}

// Write takes in a part. It never fails.
func (s *Spool) Write(p []byte) (int, error) {
	n := min(len(p), Kept-len(s.head))
	s.head = append(s.head, p[:n]...)
	for rest := p[n:]; len(rest) > 0; {
		if len(s.tail) < Kept {
			m := min(len(rest), Kept-len(s.tail))
			s.tail, rest = append(s.tail, rest[:m]...), rest[m:]
			continue
		}
		m := copy(s.tail[s.at:], rest)
		s.lost += int64(m)
		s.at, rest = (s.at+m)%Kept, rest[m:]
	}
	return len(p), nil
}

// Lost is how many bytes between beginning and end are not kept.
func (s *Spool) Lost() int64 { return s.lost }

// Parts are the beginning and the end, in order; each may be written as it is.
func (s *Spool) Parts() [][]byte { return [][]byte{s.head, s.tail[s.at:], s.tail[:s.at]} }

// Reader reads what is kept, with a line where something is missing.
func (s *Spool) Reader() io.Reader {
	gap := ""
	if s.lost > 0 {
		gap = fmt.Sprintf("\n… %d bytes are not kept …\n", s.lost)
	}
	return io.MultiReader(bytes.NewReader(s.head), strings.NewReader(gap), bytes.NewReader(s.tail[s.at:]),
		bytes.NewReader(s.tail[:s.at]))
}
