// Package command reads command lines of shells, as far as it takes to tell which programs they run.
//
// In: a line that an agent ran, perhaps cut. Out: Form, by which two lines are the same attempt, and Program, by which
// many lines are counted: both go by one rule of what belongs to a command. And LeadsTo, which would rather say yes.
// Nothing is run or looked up, and no line is an error: what can't be read has no form.
package command

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Form is the commands that a command line runs, without what changes nothing of what they do: folders, wrappers,
// redirections, flags, and programs that only read what another prints.
func Form(line string) []string {
	var all, attempts []string
	for _, words := range commandsOf(line, maxDepth) {
		if name(words) == "echo" {
			continue
		}
		key := keyOf(words)
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
		if _, quiet := quietPrograms[name(words)]; !quiet && !slices.Contains(attempts, key) {
			attempts = append(attempts, key)
		}
	}
	if len(attempts) == 0 {
		return all
	}
	return attempts
}

// Program is what a command line runs first, without folders, wrappers and arguments: a program, and its subcommand if
// it is one of those that have some. "go test" is that of "cd web && timeout 60 go test ./... | tail". It is "" for a
// line that runs no program.
func Program(line string) string {
	if utf8.RuneCountInString(line) >= session.CmdPrefix { // its last word may be cut
		line = line[:max(strings.LastIndexAny(line, " \n"), 0)]
	}
	best, rank := "", -1
	for _, words := range commandsOf(line, maxDepth) {
		program := name(words)
		r, quiet := quietPrograms[program]
		if !quiet {
			r = attempt
		}
		if r > rank && programName.MatchString(program) {
			best, rank = program+subcommand(program, words[1:]), r
		}
	}
	return best
}

var (
	programName = lazy.Expr(`^[\w$][\w.+-]*$`)
	plainWord   = lazy.Expr(`^[a-z][a-z0-9:_-]*$`)
)

// Hides reports whether the status of a command line is not that of what it runs: the last program of a pipe has it, or
// one that was called whatever came before.
func Hides(line string) bool {
	for i, c := range line {
		if c == '|' && !strings.HasPrefix(line[i:], "||") && (i == 0 || line[i-1] != '|') ||
			strings.HasPrefix(line[i:], "|| true") || strings.HasPrefix(line[i:], "; ") {
			return true
		}
	}
	return false
}

// Passes reports whether a command line that ended well shows that another one would end well: it runs all that the
// other one ran, or what that ran last.
func Passes(passed, failed []string) bool {
	if len(failed) == 0 || len(passed) == 0 {
		return false
	}
	all := !slices.ContainsFunc(failed, func(f string) bool { return !slices.Contains(passed, f) })
	return all || slices.Contains(passed, failed[len(failed)-1])
}

// maxDepth is how deep a command may stand in another one's argument.
const maxDepth = 3

// commandsOf are the words of each command of a line, also of those that a shell is given as an argument, or whose
// output a variable keeps.
func commandsOf(line string, depth int) (all [][]string) {
	for _, part := range splitCommands(line) {
		words := commandWords(part)
		inner := ""
		switch {
		case len(words) == 0:
			inner = assigned(part)
		case len(words) > 2 && shells[name(words)] && strings.HasSuffix(words[1], "c") && words[1][0] == '-':
			inner = unquote(words[2])
		}
		if inner != "" && depth > 0 {
			all = append(all, commandsOf(inner, depth-1)...)
		} else if len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

// name is the name of the program that a command runs.
func name(words []string) string { return path.Base(unquote(words[0])) }

func unquote(word string) string { return strings.Trim(word, `"'`) }

// assigned is the command whose output a variable keeps, if a command does nothing else: `out=$(go test)`.
func assigned(part string) string {
	_, value, _ := strings.Cut(part, "=")
	value, ok := strings.CutPrefix(strings.Trim(value, "\" \t"), "$(")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(value, ")")
}

// beforeCommand reports whether the first of some words is none of the command, but a variable, an option, a keyword or
// a wrapper, and how many words it takes with it.
func beforeCommand(words []string) (more int, ok bool) {
	word := unquote(words[0])
	for n := min(len(words), 3); n > 0; n-- {
		if w, wraps := wrappers()[strings.Join(words[:n], " ")]; wraps {
			return n - 1 + w.before(words[n:]), true
		}
	}
	before, _, assigns := strings.Cut(word, "=")
	return 0, word == "" || keywords[word] || word[0] == '-' ||
		assigns && before != "" && !strings.ContainsAny(before, `/."'`)
}

// keyOf is a command without its flags, and with names as from the same folder.
func keyOf(words []string) string {
	key := []string{name(words)}
	for i, w := range words[1:] {
		if w = unquote(w); w == "" || w[0] == '-' || words[i] == "-C" {
			continue
		}
		key = append(key, strings.TrimPrefix(w, "./"))
	}
	return strings.Join(key, " ")
}

// subcommand is what a program is told to do, with a space before it; "" where that is not its first argument.
func subcommand(program string, arguments []string) (text string) {
	for skip := false; len(arguments) > 0; arguments = arguments[1:] {
		word := unquote(arguments[0])
		switch {
		case skip:
			skip = false
		case strings.HasPrefix(word, "-"):
			skip = valued[word]
		case !plainWord.MatchString(word):
			return text
		case hasSubcommands()[program+text]:
			text += " " + word
		default:
			return text
		}
	}
	return text
}
