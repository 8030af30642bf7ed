package story

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
)

// zeroWidth is a space without width. It parts characters that a host would make a link of, as Renovate and Dependabot
// do it.
const zeroWidth = "&#8203;"

// What a host makes links of in plain text: mentions, issues, addresses, commits.
var (
	linkStarts    = lazy.Expr(`(?i)@|#|://|www\.|\bGH-|(?:mailto|xmpp|javascript|data|tel):|\b[0-9a-f]{7,64}`)
	markupEscapes = strings.NewReplacer( //nolint:gochecknoglobals // a table
		`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
		"$", "&#36;", "`", "\\`", "^", `\^`, "!", `\!`)
)

// inlineText is a text of somebody else's as one line of Markdown that shows it, and in which nothing of it comes
// alive: no markup, HTML, mention, link, image or formula. Code between backticks stays code.
func inlineText(text string) string {
	text = result.Printable(strings.Join(strings.Fields(text), " "))
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 || strings.Contains(text, "``") {
		return escapeStart(escapeMarkup(text))
	}
	var b strings.Builder
	for i, p := range parts {
		switch {
		case i%2 == 0:
			b.WriteString(escapeMarkup(p))
		case strings.TrimSpace(p) == "":
			b.WriteString("\\`" + escapeMarkup(p) + "\\`")
		default:
			b.WriteString("`" + p + "`")
		}
	}
	return escapeStart(b.String())
}

// escapeMarkup escapes markup, and parts with signs of no width what hosts take for a link.
func escapeMarkup(text string) string {
	var b strings.Builder
	done := 0
	for _, m := range linkStarts.FindAllStringIndex(text, -1) {
		for at := m[0] + 1; at < max(m[1], m[0]+2); at += shortSHA {
			b.WriteString(markupEscapes.Replace(text[done:at]) + zeroWidth)
			done = at
		}
	}
	b.WriteString(markupEscapes.Replace(text[done:]))
	return b.String()
}

// shortSHA is how many digits of a commit a host makes no link of.
const shortSHA = 6

// blockStarts begin a block where they begin a line.
var blockStarts = lazy.Expr(`^(?:[#+=:-]|\d{1,9}[.)])`)

// escapeStart escapes what would make of a line a heading, a list or a rule.
func escapeStart(text string) string {
	at := blockStarts.FindStringIndex(text)
	if at == nil {
		return text
	}
	return text[:at[1]-1] + `\` + text[at[1]-1:]
}

// fence is a text of several lines as a block of code that it can't end.
func fence(text string) string {
	text = printableLines(text)
	longest := 2
	for _, run := range backticks.FindAllString(text, -1) {
		longest = max(longest, len(run))
	}
	bar := strings.Repeat("`", longest+1)
	return bar + "text\n" + strings.TrimRight(text, "\n") + "\n" + bar + "\n"
}

var backticks = lazy.Expr("`+")

// printableLines is a text of several lines in which each character is shown.
func printableLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i, l := range lines {
		lines[i] = result.Printable(l)
	}
	return strings.Join(lines, "\n")
}
