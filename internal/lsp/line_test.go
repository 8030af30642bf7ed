package lsp

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestHints: only where a session is known to have written a line is there a hint, once for a run of its lines.
func TestHints(t *testing.T) {
	var lines []numbered
	for i, of := range strings.Fields("A A a A B b . B a b A") { // a small letter is a guess, a point nobody
		l := numbered{Line: Line{State: stateSession, Session: strings.ToUpper(of)}, number: i}
		if l.Exact = of >= "A" && of <= "Z"; of == "." {
			l.Line = Line{State: stateUnknown}
		}
		lines = append(lines, l)
	}
	var at []int
	for _, h := range hintsOf(lines) {
		at = append(at, h.Position.Line)
	}
	harness.Equal(t, "lines with a hint", []int{0, 4, 7, 10}, at)
}

// TestCommitLinks: only an address in which Markdown finds nothing to do becomes a link.
func TestCommitLinks(t *testing.T) {
	for page, want := range map[string]string{
		"https://example.com/a/commit/1234567": "commit [1234567](https://example.com/a/commit/1234567)",
		"":                                     "commit 1234567",
		"javascript:mark()":                    "commit 1234567",
		"https://example.com/a)[x](http://e.example": "commit 1234567",
		"https://example.com/a b":                    "commit 1234567",
		"file:///etc/passwd":                         "commit 1234567",
	} {
		harness.Equal(t, page, want, Line{Commit: "1234567", Page: page}.linkCommit("commit 1234567"))
	}
}
