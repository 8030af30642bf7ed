package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
)

// mask stands before an argument of a search that begins like a flag and can't be one: "--- FAIL: TestX (0.0s)". No
// argument of a process holds it.
const mask = "\x00"

// maskQuestion is the command line of a search as flags are read from it.
func maskQuestion(fs *pflag.FlagSet, args []string) []string {
	out := eachFile(fs, translateGitFlags(fs, args))
	for i, arg := range out {
		if arg == "--" {
			break
		}
		if cannotBeFlag(arg) && (i == 0 || !takesValue(fs, out[i-1])) {
			out[i] = mask + arg
		}
	}
	return out
}

// unmaskWords undoes maskQuestion: the words of a search as they were given.
func unmaskWords(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		out[i] = strings.TrimPrefix(arg, mask)
	}
	return out
}

// translateGitFlags writes flags that git has as they are called here: "-3" is "-n 3", "--before" is "--until". In a
// question "-1" is a word.
func translateGitFlags(fs *pflag.FlagSet, args []string) []string {
	out := slices.Clone(args)
	for i, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		here := map[string]string{"--before": "until", "--after": "since", "--max-count": "limit"}[name]
		switch {
		case arg == "--":
			return out
		case i > 0 && takesValue(fs, args[i-1]):
		case count.MatchString(arg) && fs.ShorthandLookup("n") != nil && (fs.Name() != recallName || i == 0):
			out[i] = "-n" + arg[1:]
		case here != "" && fs.Lookup(here) != nil:
			out[i] = "--" + here + arg[len(name):]
		}
	}
	return out
}

// count is a number of results as "git log -3" has it.
var count = lazy.Expr(`^-[0-9]+$`)

// eachFile gives each path behind --files a flag of its own. Behind the question these are all up to the next flag,
// before it there is one.
func eachFile(fs *pflag.FlagSet, args []string) (out []string) {
	asked := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return append(out, args[i:]...)
		case arg == "--files" && asked:
			if i+1 == len(args) || strings.HasPrefix(args[i+1], "-") && !cannotBeFlag(args[i+1]) {
				out = append(out, "--files=") // is refused
			}
			for i+1 < len(args) && (!strings.HasPrefix(args[i+1], "-") || cannotBeFlag(args[i+1])) {
				i++
				out = append(out, "--files="+args[i])
			}
		case takesValue(fs, arg) && i+1 < len(args):
			out = append(out, arg, args[i+1])
			i++
		default:
			asked = asked || !strings.HasPrefix(arg, "-") || cannotBeFlag(arg)
			out = append(out, arg)
		}
	}
	return out
}

// cannotBeFlag reports whether an argument begins with "-" but can't be the name of a flag.
func cannotBeFlag(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' || arg == "--" {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	return name == "" || name[0] == '-' || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// takesValue reports whether an argument is a flag whose value is the next one.
func takesValue(fs *pflag.FlagSet, arg string) bool {
	var f *pflag.Flag
	switch name := strings.TrimPrefix(arg, "--"); {
	case name != arg:
		f = fs.Lookup(name)
	case len(arg) == 2 && arg[0] == '-':
		f = fs.ShorthandLookup(arg[1:])
	}
	return f != nil && f.NoOptDefVal == ""
}

// guessIntent is what the arguments of a search may have been meant as: a command that was misspelt, or that another
// tool has by this name, alone or before what only commands take. "" for words to search for, and for a slip of a
// command's name that is the very word that somebody said.
func (app *App) guessIntent(args []string, found result.Recall) string {
	if len(args) == 0 || len(args) > 1 && slices.ContainsFunc(args[1:],
		func(arg string) bool { return !operand.MatchString(arg) }) {
		return ""
	}
	name := app.commandFor(args[0])
	said := slices.ContainsFunc(found.Results, func(h result.Hit) bool { return hasWord(h.Title+" "+h.Snippet, args[0]) })
	if name == "" || said && isOneTypoFrom(args[0], name) {
		return ""
	}
	return fmt.Sprintf(`searched for %q; to run a command: "git rekal %s"`, strings.Join(args, " "), name)
}

// hasWord reports whether a text has a word, in any case.
func hasWord(text, word string) bool {
	words := strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.Contains(words, strings.ToLower(word))
}

// operand is what looks like an ID, a revision, a range, a path, or lines of one.
var operand = lazy.Expr(`^(?:0[0-9A-Za-z]{3,25}|[0-9a-f]{7,64}|HEAD\S*|\S+\.\.\S*|\S*/\S*|\S+\.[0-9A-Za-z]{1,8}(?::[0-9,+]+)?)$`)

// commandFor is the command that a word was meant as; "" for none.
func (app *App) commandFor(word string) (name string) {
	for _, cmd := range app.root.Commands() {
		if cmd.IsAvailableCommand() && isOneTypoFrom(word, cmd.Name()) {
			name = cmd.Name()
		}
	}
	for others, here := range foreignCommands() {
		for other := range strings.FieldsSeq(others) {
			// A longer or a short word is rather one to search for: "deleted", "null" beside "pull".
			if word == other || len(other) > 5 && len(word) <= len(other) && isOneTypoFrom(word, other) {
				name = here
			}
		}
	}
	return name
}

// foreignCommands maps commands of git and of other tools to our commands that do the same.
func foreignCommands() map[string]string {
	return map[string]string{
		"status": "doctor", "config settings": "help config", "pull fetch": "sync", "blame annotate": "why",
		"remember":         "save",
		"delete remove rm": "purge", "install setup": "init", "uninstall": "clean", "ls list history": "log",
		"stop disable": "pause", "enable continue": "resume", "serve": "web", "diff view cat": "show",
	}
}

// isOneTypoFrom reports whether a word is a name but for one slip of the fingers: a letter more, less, another one, or
// two that changed places.
func isOneTypoFrom(word, name string) bool {
	if word == name || len(name) < 3 || len(word) < 3 {
		return false
	}
	i := 0
	for i < len(word) && i < len(name) && word[i] == name[i] {
		i++
	}
	a, b := word[i:], name[i:]
	switch {
	case len(a) == len(b)+1:
		return a[1:] == b
	case len(a)+1 == len(b):
		return a == b[1:]
	case len(a) != len(b):
		return false
	}
	return a[1:] == b[1:] || len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
}
