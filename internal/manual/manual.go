// Package manual lays out a command's help for -h on a terminal. Manual pages are made of the same parts (Blocks, Options) by the tests of
// package cli, so both say the same.
//
// In: a Page. Out: text of at most Width columns.
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
	Body  string
	Flags *pflag.FlagSet // nil: none
	Exit  string         // what the exit status says
}

// Option is a flag as both layouts show it.
type Option struct {
	Short string // "n", or ""
	Name  string
	Value string // " N", "[=WHEN]" where it may be left out, or ""
	Usage string // with the default, where there is one
}

// Options are the flags that are not hidden, by name.
func Options(fs *pflag.FlagSet) (out []Option) {
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
		out = append(out, Option{f.Shorthand, f.Name, value, usage})
	})
	return out
}

// Kind is what a block is.
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Sample
	Definition
	Heading
)

// Block is a part of a body.
type Block struct {
	Kind Kind
	Term string // of a definition
	Text string // filled: one line; of a sample: its lines
}

// Blocks reads a body.
func Blocks(body string) (out []Block) {
	for _, raw := range strings.Split(strings.Trim(body, "\n"), "\n\n") {
		lines := strings.Split(raw, "\n")
		switch first := lines[0]; {
		case strings.HasPrefix(first, "  "):
			out = append(out, Block{Kind: Sample, Text: raw})
		case strings.HasSuffix(first, "::"):
			out = append(out, Block{Definition, strings.TrimSuffix(first, "::"), strings.Join(lines[1:], " ")})
		case len(lines) == 1 && first == strings.ToUpper(first):
			out = append(out, Block{Kind: Heading, Text: first})
		default:
			out = append(out, Block{Text: strings.Join(lines, " ")})
		}
	}
	return out
}
