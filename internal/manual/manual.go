// Package manual lays out a command's help from one text: for -h on a terminal, and as a manual page. So both say the same.
//
// In: a Page. Out: text of at most Width columns, or roff for man(7).
package manual

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Width is how many columns the text has at most, samples aside: those of the narrowest common terminal.
const Width = 80

// Page is what there is to say of one command or topic.
type Page struct {
	Name  string   // "why"; "" is git-rekal itself
	Usage []string // forms of a call, each behind "git rekal "; none for a topic
	Short string   // one line: what it is for
	// Body holds blocks with an empty line between them. A block is a paragraph, which is filled; a sample, whose lines begin with
	// two spaces and stay as they are; a definition, whose first line is a term and "::"; or a heading, a line in capitals.
	Body   string
	Flags  *pflag.FlagSet // nil: none
	Exit   string         // what the exit status says
	Others []string       // names of pages to see also
}

// option is a flag as both layouts show it.
type option struct {
	short string // "n", or ""
	name  string
	value string // " N", "[=WHEN]" where it may be left out, or ""
	usage string // with the default, where there is one
}

// options are the flags that are not hidden, by name.
func options(fs *pflag.FlagSet) (out []option) {
	if fs == nil {
		return nil
	}
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		switch {
		case value == "":
		case f.NoOptDefVal != "":
			value = "[=" + value + "]"
		default:
			value = " " + value
		}
		if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
			usage += " (default: " + f.DefValue + ")"
		}
		out = append(out, option{f.Shorthand, f.Name, value, usage})
	})
	return out
}

// kind is what a block is.
type kind int

const (
	paragraph kind = iota
	sample
	definition
	heading
)

// block is a part of a body.
type block struct {
	kind kind
	term string // of a definition
	text string // filled: one line; of a sample: its lines
}

// blocks reads a body.
func blocks(body string) (out []block) {
	for _, raw := range strings.Split(strings.Trim(body, "\n"), "\n\n") {
		lines := strings.Split(raw, "\n")
		switch first := lines[0]; {
		case strings.HasPrefix(first, "  "):
			out = append(out, block{kind: sample, text: raw})
		case strings.HasSuffix(first, "::"):
			out = append(out, block{definition, strings.TrimSuffix(first, "::"), strings.Join(lines[1:], " ")})
		case len(lines) == 1 && first == strings.ToUpper(first):
			out = append(out, block{kind: heading, text: first})
		default:
			out = append(out, block{text: strings.Join(lines, " ")})
		}
	}
	return out
}
