package session

import (
	"slices"
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

// titleTurns is how many turns are looked at for a title.
const titleTurns = 8

// TitleTurn is the turn that a title is made of, where nobody gave one: the first prompt, or, where that is a number or a
// command and says nothing, what follows it. It is -1 where there is no prompt.
func TitleTurn(turns []Turn) int {
	said := func(t Turn) bool { return t.Content != Elsewhere && t.Content != Scrubbed }
	first := slices.IndexFunc(turns, func(t Turn) bool { return t.Role == RoleHuman && t.Content != Elsewhere })
	if first < 0 {
		return -1
	}
	for i, t := range turns[first:min(len(turns), first+titleTurns)] {
		if said(t) && tells(PromptTitle(t.Content)) {
			return first + i
		}
	}
	return first
}

// tells reports whether a line says what a session is about: it is no command ("/review", "!git status") and has a word.
func tells(line string) bool {
	letters := 0
	for _, r := range line {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters > 1 && line[0] != '!' && (line[0] != '/' || strings.Contains(line, " "))
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
