package failure

import (
	"path"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Form is the commands that a command line runs, without what changes nothing of what they do: folders, wrappers, redirections, flags, and programs that
// only read what another prints.
func Form(line string) []string {
	var all, attempts []string
	for _, part := range splitCommands(line) {
		words := commandWords(part)
		if len(words) == 0 || words[0] == "echo" {
			continue
		}
		key := keyOf(words)
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
		if !quiet[words[0]] && !slices.Contains(attempts, key) {
			attempts = append(attempts, key)
		}
	}
	if len(attempts) == 0 {
		return all
	}
	return attempts
}

// Hides reports whether the status of a command line is not that of what it runs: the last program of a pipe has it, or one that was called whatever came
// before.
func Hides(line string) bool {
	for i, c := range line {
		if c == '|' && !strings.HasPrefix(line[i:], "||") && (i == 0 || line[i-1] != '|') || strings.HasPrefix(line[i:], "|| true") || strings.HasPrefix(line[i:], "; ") {
			return true
		}
	}
	return false
}

// Passes reports whether a command line that ended well shows that another one would end well: it runs all that the other one ran, or what that ran last.
func Passes(passed, failed []string) bool {
	if len(failed) == 0 || len(passed) == 0 {
		return false
	}
	all := !slices.ContainsFunc(failed, func(f string) bool { return !slices.Contains(passed, f) })
	return all || slices.Contains(passed, failed[len(failed)-1])
}

// splitCommands cuts a command line where another command begins; what a pipe feeds is left out.
func splitCommands(line string) (parts []string) {
	var quoted rune
	start, piped := 0, false
	cut := func(end, next int) {
		if !piped {
			parts = append(parts, line[start:end])
		}
		start = next
	}
	if at := strings.Index(line, "<<"); at >= 0 { // what is read from here on is no command
		line = line[:at]
	}
	for i, c := range line {
		switch {
		case i < start:
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '\'' || c == '"':
			quoted = c
		case strings.HasPrefix(line[i:], "&&") || strings.HasPrefix(line[i:], "||"):
			cut(i, i+2)
			piped = false
		case c == ';' || c == '\n':
			cut(i, i+1)
			piped = false
		case c == '|':
			cut(i, i+1)
			piped = true
		}
	}
	if start <= len(line) {
		cut(len(line), len(line))
	}
	return parts
}

// quiet are commands that are no attempt at anything: whether they pass says nothing.
//
//nolint:gochecknoglobals // a table
var quiet = map[string]bool{
	"cd": true, "echo": true, "export": true, "set": true, "source": true, ".": true, "true": true, "sleep": true, "printf": true, "pwd": true, "mkdir": true, "unset": true,
	"ls": true, "cat": true, "grep": true, "rg": true, "find": true, "head": true, "tail": true, "wc": true, "which": true, "test": true, "[": true, "diff": true, "sed": true,
}

// wrappers are programs that run another one, with how many words of their own stand before it.
//
//nolint:gochecknoglobals // a table
var wrappers = map[string]int{"time": 0, "sudo": 0, "env": 0, "nice": 0, "nohup": 0, "timeout": 1, "command": 0, "exec": 0, "rtk": 0}

// commandWords are the words of one command, without variables, wrappers and redirections.
func commandWords(part string) (words []string) {
	all := strings.Fields(strings.TrimLeft(part, "({ "))
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

var redirection = lazy.Expr(`^(?:\d|&)?(?:>>?|<)`)

// beforeCommand reports whether the first of some words is none of the command, but a variable, an option or a wrapper, and how many words it takes with it.
func beforeCommand(words []string) (more int, ok bool) {
	word := words[0]
	name, _, assigns := strings.Cut(word, "=")
	own, wraps := wrappers[word]
	switch {
	case wraps:
		return own, true
	case word == "git" && len(words) > 2 && words[1] == "rekal" && words[2] == "run":
		return 2, true
	case word == "git-rekal" && len(words) > 1 && words[1] == "run":
		return 1, true
	}
	return 0, assigns && name != "" && !strings.ContainsAny(name, `/."'`) || word[0] == '-'
}

// keyOf is a command without its flags, and with names as from the same folder.
func keyOf(words []string) string {
	key := []string{path.Base(words[0])}
	for i, w := range words[1:] {
		if w = strings.Trim(w, `"'`); w == "" || w[0] == '-' || words[i] == "-C" {
			continue
		}
		key = append(key, strings.TrimPrefix(w, "./"))
	}
	return strings.Join(key, " ")
}
