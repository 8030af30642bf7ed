package gate

import (
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Sizes of what one line of others takes in a page for an agent, in characters: those of docs/ledger-format.md.
const (
	MostTitle = session.MaxTitle
	MostName  = 256 // of a source, a model, a branch, an author
	MostPath  = 1024
)

// What agents expand in a prompt, and what it becomes. Claude Code, Gemini CLI, Qwen Code, OpenCode, Copilot CLI,
// Cursor and Kimi put the file behind "@" into their request; Copilot takes "#word" for a reference; "!`" runs a
// command in commands and skills; some fetch what a link names; at the beginning "/", "!" and "$" call a command, a
// shell or a skill. The signs stay readable as their wide forms, which no program takes for them.
var (
	expanded = strings.NewReplacer("@", "＠", "!`", "！`", "](", "] (", "://", ":／／") //nolint:gochecknoglobals // a table
	opening  = map[byte]string{'/': "／", '!': "！", '$': "＄", '#': "＃"}              //nolint:gochecknoglobals // a table
	hashWord = lazy.Expr(`(^|[\s([{"'` + "`" + `])#(\pL)`)
)

// Defuse is text of others' making in which an agent finds nothing to expand: no file, command or link.
func Defuse(text string) string {
	text = hashWord.ReplaceAllString(expanded.Replace(text), "$1＃$2")
	if text == "" || opening[text[0]] == "" {
		return text
	}
	return opening[text[0]] + text[1:]
}

// Line is text of others' making as one line for an agent, of at most so many characters.
func Line(text string, most int) string {
	return Defuse(session.Shorten(session.OneLine(result.Printable(text)), most))
}

// Code is Line between backticks.
func Code(text string, most int) string {
	return "`" + strings.ReplaceAll(Line(text, most), "`", "'") + "`"
}

// Quote is a text of others' making as a block quote for an agent, which it can't end; of a longer one than so many
// bytes the beginning and the end, where agents say what is open. It is cut at white space, which no mark of redaction
// holds.
func Quote(text string, most int) string {
	var lines []string
	for l := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.TrimRight(result.Printable(strings.TrimRight(l, "\r\n")), " "))
	}
	text = strings.Join(lines, "\n")
	if len(text) > most {
		text = headAndTail(text, most)
	}
	return "> " + strings.ReplaceAll(Defuse(text), "\n", "\n> ") + "\n"
}

func headAndTail(text string, most int) string {
	head := session.Shorten(text, most*2/3)
	from := len(text) - most/3
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	_, tail, _ := strings.Cut(strings.ReplaceAll(text[from:], "\n", " \n"), " ")
	return head + "\n[…]\n" + strings.TrimSpace(strings.ReplaceAll(tail, " \n", "\n"))
}
