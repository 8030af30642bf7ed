package story

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Signs of Markdown around the words of a line.
var (
	bullet  = lazy.Expr(`^\s*[-*+•]\s+`)
	ordinal = lazy.Expr(`^\s*\d{1,3}[.)]\s`)
	heading = lazy.Expr(`^\s{0,3}#{1,6}\s+`)
	rule    = lazy.Expr(`^\s*([-*_=]\s*){3,}$`)
)

// blockQuote quotes about the first so many words of a text as a Markdown block quote. "…" stands for code and tables,
// which are left out, and for the rest.
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
		add(mark + inlineText(firstWords(withoutBold(l), words)))
		if words -= countWords(l); head {
			add("")
		}
	}
	return "> " + strings.TrimRight(strings.Join(out, "\n> "), " >\n") + "\n"
}

// asCode puts a text that others wrote between backticks, in one line.
func asCode(text string) string {
	return "`" + strings.ReplaceAll(session.OneLine(result.Printable(text)), "`", "'") + "`"
}

// writeList writes a heading, at most so many lines below it, and how many more there are. Without lines it writes
// nothing.
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

// withoutBold removes "**" from a line of Markdown, but not inside backticks.
func withoutBold(l string) string {
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
func distinctPrompts(turns []result.Turn) (out []result.Turn) {
	seen := map[string]bool{session.Scrubbed: true}
	for _, t := range turns {
		if t.Role == session.RoleHuman && !seen[t.Content] && !session.IsMark(t.Content) {
			seen[t.Content], out = true, append(out, t)
		}
	}
	return out
}

// lastWords is the agent's last text.
func lastWords(source string, turns []result.Turn) string {
	last := ""
	for _, t := range turns {
		if t.Role != session.RoleHuman && t.Content != session.Scrubbed && !session.IsMark(t.Content) &&
			session.TypedByPerson(source, t.Content) != "" {
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

// exitMeansLittle matches programs whose exit status answers a question (grep, diff, test), or depends on others (curl,
// gh): if it is not 0, the work need not have failed.
var exitMeansLittle = lazy.Expr(`^(?:cat|cmp|curl|diff|find|gh|git|grep|head|jq|kill|ls|pgrep|pkill|ps|rg|rm|sed|sleep|stat|tail|test|wc|which|\[)\b`)

// failures are the calls whose command failed when it was last run. A command is a program with its subcommand ("go
// test", "npm run lint"). It counts as run wherever a line holds it: behind "cd …", a wrapper or a pipe. But the exit
// status of a line with several commands says nothing certain of each.
func failures(calls []result.Tool) (out []result.Tool) {
	// by command: the index in calls of its last run if that failed; -1 if it did not, or nobody knows
	last := map[string]int{}
	var order []string
	for i, c := range calls {
		if c.Cmd == "" {
			continue
		}
		names, truncated := programsRun(c.Cmd), utf8.RuneCountInString(c.Cmd) >= session.CmdPrefix
		for n, name := range names {
			if _, known := last[name]; !known {
				order = append(order, name)
			}
			if last[name] = -1; c.Exit != 0 && len(names) == 1 && !truncated && !exitMeansLittle.MatchString(name) {
				last[name] = i
			}
			for _, known := range order { // the last command of a truncated line may be any known one that begins so
				if truncated && n == len(names)-1 && strings.HasPrefix(known, name) {
					last[known] = -1
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

// programsRun are the programs that a command line runs, each with its subcommand: "go test".
func programsRun(cmd string) (out []string) {
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
