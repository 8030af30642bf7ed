package session

import (
	"strings"
	"unicode"
)

// The longest titles, in characters: one that was given, and one made of a prompt.
const (
	MaxTitle       = 200
	maxPromptTitle = 80
)

// PromptTitle is the first line of a prompt, shortened; a line that only announces another
// ("Implement the following plan:") is taken with the next one.
func PromptTitle(prompt string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(Plain(prompt)), "\n")
	if strings.HasSuffix(strings.TrimSpace(line), ":") {
		next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		line += " " + next
	}
	return Shorten(OneLine(line), maxPromptTitle)
}

// OneLine replaces runs of white space and control characters by one space.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// Shorten cuts a line that is longer than n characters, and ends it in an ellipsis. A bracket that is
// open there is left out: it may be half of what redaction put in a secret's place.
func Shorten(line string, n int) string {
	if len(line) <= n {
		return line
	}
	runes := []rune(line)
	if len(runes) <= n {
		return line
	}
	head := string(runes[:n-1])
	if i := strings.LastIndexByte(head, '['); i > 0 && strings.IndexByte(head[i:], ']') < 0 {
		head = head[:i]
	}
	return strings.TrimSpace(head) + "…"
}
