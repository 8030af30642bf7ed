package story

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// What stands around the words of a line of Markdown.
var (
	bullet  = lazy.Expr(`^\s*[-*+•]\s+`)
	ordinal = lazy.Expr(`^\s*\d{1,3}[.)]\s`)
	heading = lazy.Expr(`^\s{0,3}#{1,6}\s+`)
	rule    = lazy.Expr(`^\s*([-*_=]\s*){3,}$`)
)

// blockQuote is the beginning of a text as a block quote of about so many words. "…" stands for code, tables and the rest, which are left out.
func blockQuote(text string, words int) string {
	var out []string
	add := func(line string) {
		if n := len(out); n == 0 && line != "" || n > 0 && (out[n-1] != line || line != "" && line != "…") {
			out = append(out, line)
		}
	}
	code := false
	for l := range strings.Lines(text) {
		trimmed, head := strings.TrimSpace(l), heading.MatchString(l)
		if words <= 0 {
			add("…")
			break
		}
		fenced := strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")
		code = code != fenced
		switch {
		case code || fenced || strings.HasPrefix(trimmed, "|"):
			add("…")
			continue
		case trimmed == "" || rule.MatchString(l):
			add("")
			continue
		case head:
			add("")
		}
		mark := ""
		if bullet.MatchString(l) || ordinal.MatchString(l) {
			mark = "- "
		}
		l = heading.ReplaceAllString(bullet.ReplaceAllString(l, ""), "")
		add(mark + inlineText(firstWords(unmarked(l), words)))
		if words -= countWords(l); head {
			add("")
		}
	}
	return "> " + strings.TrimRight(strings.Join(out, "\n> "), " >\n") + "\n"
}

// asCode is a text of somebody else's between backticks, in one line.
func asCode(text string) string {
	return "`" + strings.ReplaceAll(session.OneLine(result.Printable(text)), "`", "'") + "`"
}

// writeList lists the first lines below a heading, and says how many there are more; without lines it is nothing.
func writeList(b *strings.Builder, head string, lines []string, most int) {
	if len(lines) > 0 {
		b.WriteString(head)
	}
	for i, l := range lines {
		if i == most {
			fmt.Fprintf(b, "- and %d more\n", len(lines)-i)
			return
		}
		fmt.Fprintf(b, "- %s\n", l)
	}
}

// unmarked is a line without what makes words of it bold; in code it stays.
func unmarked(l string) string {
	parts := strings.Split(l, "`")
	for i := 0; i < len(parts) && len(parts)%2 == 1; i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "**", "")
	}
	return strings.Join(parts, "`")
}

// firstWords shortens a text to so many words.
func firstWords(text string, most int) string {
	words := strings.Fields(text)
	if len(words) <= most {
		return session.Shorten(strings.Join(words, " "), 12*most)
	}
	return session.Shorten(strings.Join(words[:most], " ")+" …", 12*most)
}

func countWords(text string) int { return len(strings.Fields(text)) }

// distinctPrompts are the prompts of a session, each text once.
func distinctPrompts(said []result.Turn) (out []result.Turn) {
	had := map[string]bool{session.Scrubbed: true, session.Elsewhere: true}
	for _, t := range said {
		if t.Role == session.RoleHuman && !had[t.Content] {
			had[t.Content], out = true, append(out, t)
		}
	}
	return out
}

// lastWords are what an agent said last.
func lastWords(said []result.Turn) string {
	last := ""
	for _, t := range said {
		if t.Role != session.RoleHuman && t.Content != session.Scrubbed && t.Content != session.Elsewhere && session.Typed(t.Content) != "" {
			last = t.Content
		}
	}
	return last
}

// What a command line holds besides one program and its arguments.
var (
	commandJoints  = lazy.Expr("[&|;\n(){}`]|<<")
	redirections   = lazy.Expr(`\d?>&\d|&>\S*|\d?>{1,2}\s*\S+`)
	commandWrapper = lazy.Expr(`^(?:(?:[A-Za-z_]\w*=\S*|git rekal run(?: --)?|timeout(?: -\S+)* \S+|env|time|nice(?: -n \d+)?|nohup|sudo|command|exec|(?:ba|z)?sh -l?c)\s+)+`)
)

// exitIsAnswer matches programs whose status answers a question, or that talk to others: that it is not 0 says nothing of the work.
var exitIsAnswer = lazy.Expr(`^(?:cat|cmp|curl|diff|find|gh|git|grep|head|jq|kill|ls|pgrep|pkill|ps|rg|rm|sed|sleep|stat|tail|test|wc|which|\[)\b`)

// failures are the commands whose last run ended with a status other than 0. A run counts for a command wherever its line holds it, behind "cd …", a
// wrapper or a pipe; but what such a line ended with says nothing certain of it. Commands are the same that begin with the same program and what
// it is to do ("go test", "npm run lint").
func failures(calls []result.Tool) (out []result.Tool) {
	last := map[string]int{} // -1 where nobody knows how the last run ended
	var order []string
	for i, c := range calls {
		if c.Cmd == "" {
			continue
		}
		all, cut := programs(c.Cmd), utf8.RuneCountInString(c.Cmd) >= session.CmdPrefix
		for n, name := range all {
			if _, known := last[name]; !known {
				order = append(order, name)
			}
			if last[name] = -1; c.Exit != 0 && len(all) == 1 && !cut && !exitIsAnswer.MatchString(name) {
				last[name] = i
			}
			for _, other := range order { // the end of a line that is not whole may be any that begins so
				if cut && n == len(all)-1 && strings.HasPrefix(other, name) {
					last[other] = -1
				}
			}
		}
	}
	for _, name := range order {
		if i := last[name]; i >= 0 {
			out = append(out, calls[i])
		}
	}
	return out
}

// programs are what a command line runs, each by its first words.
func programs(cmd string) (out []string) {
	for _, part := range commandJoints.Split(redirections.ReplaceAllString(cmd, ""), -1) {
		words := strings.Fields(strings.Trim(commandWrapper.ReplaceAllString(strings.TrimSpace(part), ""), `"'`))
		if len(words) == 0 || words[0] == "cd" {
			continue
		}
		most := 2
		if len(words) > 1 && words[1] == "run" {
			most = 3
		}
		out = append(out, strings.Join(words[:min(len(words), most)], " "))
	}
	return out
}
