package transcript

import (
	"strings"
	"unicode"
)

// The longest titles, in runes: one that was given, and one made of a prompt.
const (
	maxTitle       = 200
	maxPromptTitle = 80
)

// title sets a title unless the part has one of a higher kind.
func (p *Part) title(kind TitleKind, s string) {
	if s = oneLine(s, maxTitle); s != "" && kind >= p.TitleKind {
		p.Title, p.TitleKind = s, kind
	}
}

// promptTitle is the first line of a prompt, shortened; a line that only announces
// another ("Implement the following plan:") is taken with the next one.
func promptTitle(prompt string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if strings.HasSuffix(strings.TrimSpace(line), ":") {
		next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		line += " " + next
	}
	return oneLine(line, maxPromptTitle)
}

// oneLine replaces runs of white space and control characters by one space, and cuts
// what is longer than n runes, ending it in an ellipsis.
func oneLine(s string, n int) string {
	words := strings.FieldsFunc(cut(s, 8*n), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
	runes := []rune(strings.Join(words, " "))
	if len(runes) <= n {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:n-1])) + "…"
}
