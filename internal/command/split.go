package command

import (
	"iter"
	"strings"
	"unicode"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// outside are the places of a line that stand in no quotes, and in no command of another one's argument, with what
// stands there.
func outside(line string) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		var ends []rune // of what is open
		escaped := false
		for i, c := range line {
			within := rune(0)
			if len(ends) > 0 {
				within = ends[len(ends)-1]
			}
			switch {
			case escaped:
				escaped = false
			case c == '\\' && within != '\'':
				escaped = true
			case within != 0 && c == within:
				ends = ends[:len(ends)-1]
			case within == '\'':
			case c == '(' && (within == ')' || i > 0 && line[i-1] == '$'):
				ends = append(ends, ')')
			case c == '"' || c == '`' || c == '\'' && within != '"':
				ends = append(ends, c)
			case within == 0 && !yield(i, c):
				return
			}
		}
	}
}

var comment = lazy.Expr(`(?m)^\s*#.*$`)

var says = lazy.Expr(`^\s*(?:echo|printf)\s`)

// splitCommands cuts a command line where another command begins; what a pipe feeds is left out, unless it is fed with
// mere words.
func splitCommands(line string) (parts []string) {
	if at := strings.Index(line, "<<"); at >= 0 { // what is read from here on is no command
		line = line[:at]
	}
	line = strings.ReplaceAll(comment.ReplaceAllString(line, ""), "\\\n", " ")
	start, piped := 0, false
	cut := func(end, next int, pipe bool) {
		if !piped {
			parts = append(parts, line[start:end])
		}
		start, piped = next, pipe && !says.MatchString(line[start:end])
	}
	for i, c := range outside(line) {
		if i < start {
			continue
		}
		next := strings.TrimPrefix(line[i:], string(c))
		switch {
		case (c == '&' || c == '|') && strings.HasPrefix(next, string(c)):
			cut(i, i+2, false)
		case c == ';' || c == '\n' || c == '&' && !strings.HasPrefix(next, ">") &&
			(i == 0 || line[i-1] != '>' && line[i-1] != '|'):
			cut(i, i+1, false)
		case c == '|':
			cut(i, i+1, true)
		}
	}
	cut(len(line), len(line), false)
	return parts
}

var redirection = lazy.Expr(`^(?:\d|&)?(?:>>?|<)`)

// commandWords are the words of one command, without variables, keywords, wrappers and redirections.
func commandWords(part string) (words []string) {
	all := splitWords(part)
	if len(all) > 0 && withoutCommand[all[0]] {
		return nil
	}
	for i := 0; i < len(all); i++ {
		word := all[i]
		if len(words) == 0 {
			if own, ok := beforeCommand(all[i:]); ok {
				i += own
				continue
			}
		}
		if redirection.MatchString(word) {
			if strings.HasSuffix(word, ">") || strings.HasSuffix(word, "<") { // the file stands behind a space
				i++
			}
			continue
		}
		words = append(words, word)
	}
	return words
}

// splitWords cuts a command where its words end, which keep their quotes.
func splitWords(part string) (words []string) {
	part = strings.TrimSpace(strings.TrimLeft(part, "({ \t"))
	if strings.Count(part, ")") > strings.Count(part, "(") { // of commands in a subshell, the last one
		part = strings.TrimRight(part, ") ")
	}
	start := 0
	add := func(end int) {
		if end > start {
			words = append(words, part[start:end])
		}
	}
	for i, c := range outside(part) {
		if unicode.IsSpace(c) {
			add(i)
			start = i + 1
		}
	}
	add(len(part))
	return words
}
