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

// PromptTitle is the first line of a prompt that asks something, without marks of images before it, shortened; a line
// that only announces another ("Implement the following plan:") is taken with the next one. Where that is a heading, it
// is shortened by itself.
func PromptTitle(prompt string) string {
	line, rest := askingLine(strings.TrimSpace(PlainText(prompt)))
	line = OneLine(line)
	next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	if !strings.HasSuffix(line, ":") || next == "" {
		return Truncate(line, maxPromptTitle)
	}
	title, most := line+" "+OneLine(next), maxPromptTitle
	if told := withoutAnnouncement(title); told != title {
		most = min(utf8.RuneCountInString(title)-utf8.RuneCountInString(told)+maxPromptTitle, MaxTitle)
	}
	return Truncate(title, most)
}

// askingLines is how many lines of a prompt are looked at for one that asks something.
const askingLines = 6

// askingLine is the first line of a prompt that asks something, and what follows it; the first line where none does.
func askingLine(prompt string) (line, rest string) {
	first, behind, _ := strings.Cut(prompt, "\n")
	for n, more := 0, prompt; n < askingLines && more != ""; n++ {
		line, more, _ = strings.Cut(more, "\n")
		if line = withoutMarks(line); IsInformative(OneLine(line)) {
			return line, more
		}
	}
	return first, behind
}

// pasted begin the marks that stand in a prompt for what was pasted into it: "[Image #1]".
//
//nolint:gochecknoglobals // a table
var pasted = []string{"[Image", "[Pasted text", "[Audio", "[File"}

// withoutMarks is a line without the marks that begin it.
func withoutMarks(line string) string {
	line = strings.TrimSpace(line)
	for slices.ContainsFunc(pasted, func(mark string) bool { return strings.HasPrefix(line, mark) }) {
		_, rest, ok := strings.Cut(line, "]")
		if !ok {
			break
		}
		line = strings.TrimSpace(rest)
	}
	return line
}

// InformativePart is the part of a title that tells what a session is about: "Dark mode" of "Implement the following
// plan: # Dark mode", and none of a word of which the ledger keeps half. A ledger keeps the whole, which is how the
// prompt begins.
func InformativePart(title string) string {
	if head, ok := strings.CutSuffix(title, "…"); ok && len(head) >= maxPromptTitle-len("…") {
		title = withEllipsis(WithoutHalfWord(head))
	}
	return withoutAnnouncement(title)
}

// withoutAnnouncement is a title without what only announces the rest.
func withoutAnnouncement(title string) string {
	announced, line, ok := strings.Cut(title, "#")
	line = strings.TrimLeft(line, "#")
	announced = strings.TrimSpace(announced)
	if !ok || announced != "" && !strings.HasSuffix(announced, ":") || !strings.HasPrefix(line, " ") ||
		!IsInformative(strings.TrimSpace(line)) {
		return title
	}
	return strings.TrimSpace(line)
}

// TextBeyondTitle is the text without its title, if it begins with the title or with a line that announces the title;
// else the whole text.
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

// TitleTurn is the turn that a title is made of, where nobody gave one: the first prompt that asks something. Where
// none does, it is what follows the first one. It is -1 where there is no prompt.
func TitleTurn(turns []Turn) int {
	if i := slices.IndexFunc(turns, Turn.asks); i >= 0 {
		return i
	}
	said := func(t Turn) bool { return !IsMark(t.Content) && t.Content != Scrubbed }
	first := slices.IndexFunc(turns, func(t Turn) bool { return t.Role == RoleHuman && !IsMark(t.Content) })
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

// asks reports whether a turn is a prompt that asks something.
func (t Turn) asks() bool {
	return t.Role == RoleHuman && !IsMark(t.Content) && t.Content != Scrubbed && IsInformative(PromptTitle(t.Content))
}

// ByCommit is a Session.TitleBy: the title is a commit's subject, until somebody asks something.
const ByCommit = "commit"

// TakeTitleOfCommit gives a session the subject of a commit behind which it stands as its title, where no prompt asked
// anything and nobody gave it a title.
func (s *Session) TakeTitleOfCommit(subject string) {
	made := s.Title == ""
	if i := TitleTurn(s.Turns); i >= 0 {
		made = made || s.Title == PromptTitle(s.Turns[i].Content)
	}
	if subject = OneLine(subject); made && !slices.ContainsFunc(s.Turns, Turn.asks) && IsInformative(subject) {
		s.Title, s.TitleBy = subject, ByCommit
	}
}

// IsInformative reports whether a title says what a session is about: it has a word, and is no command ("/review",
// "!git status"), no greeting or word that lets an agent go on, and no path alone.
func IsInformative(line string) bool {
	line = withoutMarks(line)
	letters := 0
	for _, r := range line {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters > 1 && line[0] != '!' && (line[0] != '/' || strings.Contains(line, " ")) && !isGreeting(line) &&
		!isPath(line)
}

// greetings are the words of which lines that ask nothing are made.
const greetings = " hi hello hey hiya yo howdy good morning afternoon evening day there again all everyone team thanks thank you thx ok okay " +
	"yes yep yeah no nope sure please continue proceed go on ahead next test testing ping great nice cool done " +
	"hallo moin servus guten tag morgen abend danke ja nein weiter bitte bonjour salut bonsoir merci oui non " +
	"hola buenos buenas dias días tardes gracias si sí ciao grazie olá ola oi obrigado привет спасибо да " +
	"你好 您好 谢谢 继续 好 こんにちは ありがとう 안녕하세요 " +
	"claude codex gemini copilot cursor opencode qwen kimi grok antigravity pi droid cline agent assistant "

// isGreeting reports whether a line only greets, thanks, agrees, or lets an agent go on.
func isGreeting(line string) bool {
	words := strings.FieldsFunc(strings.ToLower(line),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	return len(words) > 0 && len(words) < 8 && !slices.ContainsFunc(words,
		func(w string) bool { return !strings.Contains(greetings, " "+w+" ") })
}

// isPath reports whether a line is nothing but a path or an address.
func isPath(line string) bool {
	line = strings.Trim(line, " '\"`@")
	return strings.ContainsAny(line, `/\`) && !strings.ContainsFunc(strings.ReplaceAll(line, `\ `, ""), unicode.IsSpace)
}

// OneLine replaces runs of white space and control characters by one space.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }),
		" ")
}

// Truncate cuts a line that is longer than n characters, and ends it in an ellipsis. A bracket that is open there is
// left out: it may be half of what redaction put in a secret's place. Ledgers hold titles that are cut so.
func Truncate(line string, n int) string {
	head, cut := truncated(line, n)
	if !cut || n <= 0 {
		return head
	}
	return strings.TrimSpace(head) + "…"
}

// Shorten is Truncate for who reads the line: it ends behind a word, where one ends in the last third of it.
func Shorten(line string, n int) string {
	head, cut := truncated(line, n)
	if !cut || n <= 0 {
		return head
	}
	if next, _ := utf8.DecodeRuneInString(line[len(head):]); !unicode.IsSpace(next) {
		head = WithoutHalfWord(head)
	}
	return withEllipsis(head)
}

// WithoutHalfWord is the beginning of a line without its last word, which may be half of one, if that leaves two
// thirds.
func WithoutHalfWord(head string) string {
	if i := strings.LastIndexFunc(head, unicode.IsSpace); i > len(head)*2/3 {
		return head[:i]
	}
	return head
}

// truncated is the beginning of a line that leaves room for an ellipsis in n characters, where it is longer.
func truncated(line string, n int) (head string, cut bool) {
	if len(line) <= n || utf8.RuneCountInString(line) <= n {
		return line, false
	}
	if n <= 0 {
		return "", true
	}
	head = string([]rune(line)[:n-1])
	if i := strings.LastIndexByte(head, '['); i > 0 && strings.IndexByte(head[i:], ']') < 0 {
		head = head[:i]
	}
	return head, true
}

func withEllipsis(head string) string {
	return strings.TrimRight(head, " ,;:") + "…"
}
