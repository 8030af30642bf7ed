package session

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest titles, in characters: one that was given, and one made of a prompt.
const (
	MaxTitle       = 200
	maxPromptTitle = 80
)

// PromptTitle is the first line of a prompt, shortened; a line that only announces another
// ("Implement the following plan:") is taken with the next one. Where that is a heading, it is shortened by itself.
func PromptTitle(prompt string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(PlainText(prompt)), "\n")
	line = OneLine(line)
	next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	if !strings.HasSuffix(line, ":") || next == "" {
		return Shorten(line, maxPromptTitle)
	}
	title, most := line+" "+OneLine(next), maxPromptTitle
	if told := InformativePart(title); told != title {
		most = min(utf8.RuneCountInString(title)-utf8.RuneCountInString(told)+maxPromptTitle, MaxTitle)
	}
	return Shorten(title, most)
}

// InformativePart is the part of a title that tells what a session is about: "Dark mode" of "Implement the following plan: # Dark mode".
// A ledger keeps the whole, which is how the prompt begins.
func InformativePart(title string) string {
	announced, line, ok := strings.Cut(title, "#")
	line = strings.TrimLeft(line, "#")
	announced = strings.TrimSpace(announced)
	if !ok || announced != "" && !strings.HasSuffix(announced, ":") || !strings.HasPrefix(line, " ") || !IsInformative(strings.TrimSpace(line)) {
		return title
	}
	return strings.TrimSpace(line)
}

// TextBeyondTitle is the text without its title, if it begins with the title or with a line that announces the title; else the whole text.
func TextBeyondTitle(title, text string) string {
	words := strings.Fields(title)
	if n := len(words); n > 0 && strings.HasSuffix(title, "…") {
		words = words[:n-1] // which may be half of one
	}
	if rest, ok := afterWords(words, text); ok {
		return rest
	}
	line, next, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest, ok := afterWords(words, next); ok && strings.HasSuffix(strings.TrimSpace(line), ":") {
		return rest
	}
	return text
}

// afterWords is what follows some words, with which a text or its heading begins.
func afterWords(words []string, text string) (rest string, ok bool) {
	rest = strings.TrimLeft(text, "# \n\r\t")
	for _, w := range words {
		if rest, ok = strings.CutPrefix(rest, w); !ok {
			return "", false
		}
		rest = strings.TrimSpace(rest)
	}
	return rest, ok
}

// titleTurns is how many turns are looked at for a title.
const titleTurns = 8

// TitleTurn is the turn that a title is made of, where nobody gave one: the first prompt, or, where that is a number or a
// command and says nothing, what follows it. It is -1 where there is no prompt.
func TitleTurn(turns []Turn) int {
	said := func(t Turn) bool { return !IsElsewhereMark(t.Content) && t.Content != Scrubbed }
	first := slices.IndexFunc(turns, func(t Turn) bool { return t.Role == RoleHuman && !IsElsewhereMark(t.Content) })
	if first < 0 {
		return -1
	}
	for i, t := range turns[first:min(len(turns), first+titleTurns)] {
		if said(t) && IsInformative(PromptTitle(t.Content)) {
			return first + i
		}
	}
	return first
}

// IsInformative reports whether a title says what a session is about: it is no command ("/review", "!git status") and has a word.
func IsInformative(line string) bool {
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
	if n <= 0 {
		return ""
	}
	head := string(runes[:n-1])
	if i := strings.LastIndexByte(head, '['); i > 0 && strings.IndexByte(head[i:], ']') < 0 {
		head = head[:i]
	}
	return strings.TrimSpace(head) + "…"
}
