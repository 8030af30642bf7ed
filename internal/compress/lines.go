package compress

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// longestLine is how much of a line is looked at, in bytes; the rest of it only counts.
const longestLine = 16 << 10

// lineReader cuts bytes into lines as a terminal would show them.
type lineReader struct {
	buf   []byte // of a line that has no end yet
	bytes int64
	owner string // of the line that is handed over: the test that an event of "go test -json" names
}

// add takes in bytes and hands over the lines that they end.
func (r *lineReader) add(p []byte, line func(string)) {
	r.bytes += int64(len(p))
	for len(p) > 0 {
		part := p[:min(len(p), blockSize)]
		r.addBlock(string(part), line)
		p = p[len(part):]
	}
}

// blockSize is how many bytes become one string, of which lines are parts. A line that is kept for long is cloned, or
// it would keep the block.
const blockSize = 64 << 10

func (r *lineReader) addBlock(text string, line func(string)) {
	for len(text) > 0 {
		n := strings.IndexByte(text, '\n')
		if n < 0 {
			r.holdLineStart(text)
			return
		}
		if len(r.buf) == 0 && n <= longestLine {
			r.emit(text[:n], line)
		} else {
			r.holdLineStart(text[:n])
			r.end(line)
		}
		text = text[n+1:]
	}
}

// holdLineStart keeps the beginning of a line. A progress bar draws itself anew after "\r"; of it, hold keeps the
// beginning of the last state.
func (r *lineReader) holdLineStart(p string) {
	r.buf = append(r.buf, p...)
	if len(r.buf) <= longestLine {
		return
	}
	last := len(r.buf) - 1
	if i := bytes.LastIndexByte(r.buf[:last], '\r'); i >= 0 {
		r.buf = append(r.buf[:0], r.buf[i+1:]...)
		last = len(r.buf) - 1
	}
	if last >= longestLine {
		end := r.buf[last]
		if r.buf = r.buf[:longestLine]; end == '\r' { // the next bytes draw the line anew
			r.buf = append(r.buf, end)
		}
	}
}

// end hands over a last line without "\n".
func (r *lineReader) end(line func(string)) {
	if len(r.buf) > 0 {
		text := string(r.buf)
		r.buf = r.buf[:0]
		r.emit(text, line)
	}
}

// emit hands over a line: as it came but for white space at its end, unless it is an event.
func (r *lineReader) emit(text string, line func(string)) {
	r.owner = ""
	if endsWithByteOf(text, "\r \t") {
		text = strings.TrimRight(strings.TrimSuffix(text, "\r"), " \t")
	}
	if !strings.HasPrefix(text, `{"`) || !strings.Contains(text, `"Action":"`) {
		line(text)
		return
	}
	if out, owner, ok := textOfEvent(asOnTerminal(text)); ok {
		r.owner = owner
		line(out)
	}
}

// textOfEvent is the text that an event of "go test -json" carries. Events without one (start, run, pass) say what the
// others say in their text.
func textOfEvent(text string) (out, owner string, ok bool) {
	var action, output, pack, test string
	gjson.Parse(text).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "Action":
			action = value.Str
		case "Output":
			output = value.Str
		case "Package":
			pack = value.Str
		case "Test":
			test = value.Str
		}
		return true
	})
	switch action {
	case "output", "build-output":
		return strings.TrimRight(asOnTerminal(output), "\n"), pack + "/" + test, true
	case "start", "run", "pass", "fail", "skip", "pause", "cont", "bench", "build-fail":
		return "", "", false
	}
	return text, "", true
}

// asOnTerminal is a line as a terminal shows it.
func asOnTerminal(text string) string {
	text = strings.TrimSuffix(text, "\r")
	if strings.IndexByte(text, '\r') >= 0 {
		text = lastRedraw(text)
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.TrimRight(session.PlainText(text), " \t")
}

// lastRedraw is the last state of a line that returns to its beginning which has anything to see.
func lastRedraw(raw string) string {
	for {
		i := strings.LastIndexByte(raw, '\r')
		if i < 0 || strings.TrimSpace(session.PlainText(raw[i+1:])) != "" {
			return raw[i+1:]
		}
		raw = raw[:i]
	}
}
