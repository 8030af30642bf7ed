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
		n := bytes.IndexByte(p, '\n')
		if n < 0 {
			r.hold(p)
			return
		}
		if len(r.buf) == 0 && n <= longestLine {
			r.emit(p[:n], line)
		} else {
			r.hold(p[:n])
			r.emit(r.buf, line)
			r.buf = r.buf[:0]
		}
		p = p[n+1:]
	}
}

// hold keeps a line's beginning. Of a progress bar that is drawn anew it is the beginning of what is drawn last.
func (r *lineReader) hold(p []byte) {
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
		if r.buf = r.buf[:longestLine]; end == '\r' { // what follows begins anew
			r.buf = append(r.buf, end)
		}
	}
}

// end hands over what has no line end.
func (r *lineReader) end(line func(string)) {
	if len(r.buf) > 0 {
		r.emit(r.buf, line)
		r.buf = r.buf[:0]
	}
}

// emit hands over a line.
func (r *lineReader) emit(raw []byte, line func(string)) {
	text := clean(raw)
	r.owner = ""
	if !strings.HasPrefix(text, `{"`) || !strings.Contains(text, `"Action":"`) {
		line(text)
		return
	}
	if out, owner, ok := event(text); ok {
		r.owner = owner
		line(out)
	}
}

// event is the text that an event of "go test -json" carries. Events without one (start, run, pass) say what the
// others say in their text.
func event(text string) (out, owner string, ok bool) {
	e := gjson.GetMany(text, "Action", "Output", "Package", "Test")
	switch e[0].Str {
	case "output", "build-output":
		return strings.TrimRight(clean([]byte(e[1].Str)), "\n"), e[2].Str + "/" + e[3].Str, true
	case "start", "run", "pass", "fail", "skip", "pause", "cont", "bench", "build-fail":
		return "", "", false
	}
	return text, "", true
}

// clean is a line as a terminal shows it.
func clean(raw []byte) string {
	raw = bytes.TrimSuffix(raw, []byte("\r"))
	if bytes.IndexByte(raw, '\r') >= 0 {
		raw = redrawn(raw)
	}
	text := string(raw)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.TrimRight(session.Plain(text), " \t")
}

// redrawn is the last state of a line that returns to its beginning which has anything to see.
func redrawn(raw []byte) []byte {
	for {
		i := bytes.LastIndexByte(raw, '\r')
		if i < 0 || len(bytes.TrimSpace([]byte(session.Plain(string(raw[i+1:]))))) > 0 {
			return raw[i+1:]
		}
		raw = raw[:i]
	}
}
