package compress

import "strings"

// trace knows the stack traces of Go, Python, JavaScript, Java and Rust: the line that says what happened is an error
// with its place, frames explain it.
type trace struct {
	language   language
	goroutines int
	library    []entry // of Python: the frame before this line, if it is of a library
	frameAt    int     // how far that is indented
}

// pythonTrace begins a trace of Python.
const pythonTrace = "Traceback (most recent call last):"

type language uint8

const (
	nowhere language = iota
	python
	golang
	javascript // and Java: "at …" lines
	rust
)

func (t *trace) line(text string, s scanned, k *keeper) (kind, bool) {
	if t.language == python && t.isOfLibrary(text, k) {
		return noise, true
	}
	switch {
	case text == "" && t.language != nowhere:
		if t.language != golang && t.language != rust {
			t.language = nowhere
		}
		return detail, true
	case startsWithAny(text, pythonTrace, "  + Exception Group Traceback"):
		t.language = python
		return fault, true
	case startsWithAny(text, "The above exception was the direct cause", "During handling of the above exception"):
		return detail, true
	case startsWithAny(text, "panic: ", "fatal error: ", "runtime: goroutine stack exceeds", "SIGSEGV", "[signal SIG",
		"unexpected fault address"):
		t.language, t.goroutines = golang, 0
		return fault, true
	case strings.HasPrefix(text, "goroutine ") && strings.HasSuffix(text, ":"):
		t.language = golang
		if t.goroutines++; t.goroutines > 1 {
			return noise, true
		}
		return fault, true
	case strings.HasPrefix(text, "thread '") && strings.Contains(text, " panicked at"):
		t.language = rust
		return fault, true
	case s.signals&saysPlace != 0 && (startsWithAny(text, "File \"") || startsWithAny(strings.TrimLeft(text, " "), "#0 ")):
		return fault, true // of doctest; of gdb, PHP and sanitizers
	case startsWithAny(text, "SUMMARY: "):
		return total, true
	case t.language != nowhere:
		if lineKind, ok := t.frame(text); ok {
			return lineKind, true
		}
		t.language = nowhere
	}
	if isThrown(text) {
		t.language = javascript
		return fault, true
	}
	return ordinary, false
}

// frame is a line of a trace that began.
func (t *trace) frame(text string) (kind, bool) {
	bare := strings.TrimLeft(text, " \t")
	switch t.language {
	case python:
		if indented(text) {
			return detail, true
		}
		t.language = nowhere
		return fault, text != "" // the exception itself
	case golang:
		if t.goroutines > 1 {
			return noise, isFrame(text)
		}
		return detail, isFrame(text)
	case javascript:
		if startsWithAny(bare, "Caused by: ", "Suppressed: ") {
			return fault, true
		}
		return detail, startsWithAny(bare, "at ", "... ") || indented(text) && !strings.HasPrefix(bare, "❯ ") ||
			strings.HasPrefix(text, "}")
	case rust:
		if startsWithAny(text, "---- ", "failures:", "test ", "running ", "error", "warning") {
			return ordinary, false
		}
		return detail, true
	}
	return ordinary, false
}

// isOfLibrary reports whether a line is of a frame that is not the reader's own. The last frame of a trace says where
// it was thrown: that one is kept.
func (t *trace) isOfLibrary(text string, k *keeper) bool {
	bare := strings.TrimLeft(text, " |")
	at := len(text) - len(bare)
	isFrame := isPythonFrame(bare)
	switch {
	case isFrame && isLibrary(bare):
		t.library, t.frameAt = t.library[:0], at
	case len(t.library) == 0 || isFrame:
		t.library = t.library[:0]
		return false
	case at <= t.frameAt:
		for _, e := range t.library {
			k.addDetail(e)
		}
		t.library = t.library[:0]
		return false
	}
	if len(t.library) < 2 { // its place and its first line
		t.library = append(t.library, withOwnText(entry{seq: k.seq, text: text, mute: k.mute, hasText: true}))
	}
	return true
}

// isPythonFrame reports whether a line is the place of a frame.
func isPythonFrame(bare string) bool {
	return strings.HasPrefix(bare, `File "`) && strings.Contains(bare, `", line `)
}

// isLibrary reports whether a frame is of Python itself, or of a package that was installed.
func isLibrary(frame string) bool {
	file, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(frame, " |"), `File "`), `"`)
	file = strings.ReplaceAll(file, `\`, "/")
	_, behind, _ := strings.Cut(file, "/lib/python")
	return startsWithAny(file, "<frozen ", "/usr/lib/", "/usr/lib64/") || countDigits(behind) > 0 ||
		strings.Contains(file, "/site-packages/") || strings.Contains(file, "/dist-packages/")
}

// isFrame reports whether a line of a Go trace is a function, its place, or a note between goroutines.
func isFrame(text string) bool {
	return strings.HasPrefix(text, "\t") || strings.HasSuffix(text, ")") && strings.Contains(text, "(") ||
		startsWithAny(text, "created by ", "exit status ", "...", "[recovered]")
}

// isThrown reports whether a line names an exception at its beginning: "TypeError: x is not a function",
// "java.lang.IllegalStateException: closed", "Exception in thread "main" …", "Uncaught Error: …".
func isThrown(text string) bool {
	text = strings.TrimPrefix(strings.TrimLeft(text, " [!]"), "Uncaught ")
	if strings.HasPrefix(text, "Exception in thread ") {
		return true
	}
	i := 0
	for i < len(text) && (wordByte(text[i]) && text[i] < 0x80 || text[i] == '.' || text[i] == '$') {
		i++
	}
	if i < 5 || text[0] < 'A' || i < len(text) && text[i] != ':' && text[i] != ' ' {
		return false
	}
	name := text[:i]
	if !strings.HasSuffix(name, "Error") && !strings.HasSuffix(name, "Exception") {
		return false
	}
	return i == len(text) || text[i] == ':' || strings.HasPrefix(text[i:], " [")
}
