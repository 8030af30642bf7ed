package cli

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type helpOptions struct {
	app    *App
	wanted *cobra.Command
}

// newHelpCmd explains a command or a topic: `git rekal help why`.
func newHelpCmd(app *App) *cobra.Command {
	return app.withOptions(&cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "explain a command",
		Long: `
Explains a command, as "git rekal COMMAND -h" does, or a topic: "recall" for searching and filters, "config" for settings, "words" for terms.
Without an argument it lists the commands. Packages and "make install" bring manual pages with the same text: "man git-rekal-COMMAND",
"git rekal --help".`,
		ValidArgsFunction: app.completionFor(takesPage),
	}, &helpOptions{app: app, wanted: app.root})
}

func (c *helpOptions) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, cmd := range c.app.root.Commands() {
		if cmd.Name() == args[0] {
			c.wanted = cmd
			return noArgs(args[1:])
		}
	}
	return fmt.Errorf("%q is no command and no topic", args[0])
}

func (c *helpOptions) run(_ context.Context, app *App) error { return app.help(c.wanted) }

// helpSubject is what a call with -h asks about: the name of a topic before it is no question. A search itself is
// explained by "help recall", and by -h the program.
func (app *App) helpSubject(cmd *cobra.Command, args []string) *cobra.Command {
	if cmd.Name() != recallName {
		return cmd
	}
	for _, topic := range app.root.Commands() {
		if topic.Name() == args[0] {
			return topic
		}
	}
	return app.root
}

// helpWidth is how many columns help has at most, samples aside: those of the narrowest common terminal.
const helpWidth = 80

// help prints the page of a command, or for the program an overview, through the pager on a terminal.
func (app *App) help(cmd *cobra.Command) error {
	given, width := app.terminalOutput(outputFlags{}), helpWidth
	screen := given.Screen()
	if given.SeenByPerson() {
		width = screen.Width
	}
	page := helpPage(cmd, min(width, helpWidth))
	if cmd == app.root {
		page = strings.Replace(page, "COMMANDS\n", app.commandList(width), 1)
	}
	return screen.Print(page, 0)
}

// commandList names the commands: first those that a person needs first, in two columns where there is room.
func (app *App) commandList(width int) string {
	first := strings.Fields("init why show web log save sync doctor")
	rows := (len(first) + 1) / 2
	if width < helpWidth {
		rows = len(first)
	}
	var b strings.Builder
	entry := func(name string) string { return fmt.Sprintf("  %-11s%s", name, app.findCommand(name).Short) }
	for i := range rows {
		line := entry(first[i])
		if j := i + rows; j < len(first) {
			line = fmt.Sprintf("%-39s%s", line, entry(first[j]))
		}
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
	for _, group := range commandGroups() {
		b.WriteString(wrapWords(width, strings.Join(strings.Fields(group[1]), ", "), fmt.Sprintf("  %-11s", group[0]),
			strings.Repeat(" ", 13)))
	}
	return b.String()
}

// commandGroups are all commands that people type, by what one wants.
func commandGroups() [][2]string {
	return [][2]string{
		{"ask", "why fix query stats brief"},
		{"look", "show log web link export memory"},
		{"share", "sync push sign mirror save"},
		{"disclose", "trailers check"},
		{"hide", "private pause purge restore forget scrub redact"},
		{"agents", "resume handoff run compress mcp lsp"},
		{"set up", "init checkpoint import doctor index clean completion help version"},
	}
}

// helpPage is the page that -h prints for a command.
func helpPage(cmd *cobra.Command, width int) string {
	var b strings.Builder
	for i, form := range usageForms(cmd) {
		lead := "usage: git rekal "
		if i > 0 {
			lead = "   or: git rekal "
		}
		b.WriteString(wrapWords(width, form, lead, strings.Repeat(" ", min(len(lead), width/5))))
	}
	for i, bl := range splitBlocks(cmd.Long) {
		if i > 0 || b.Len() > 0 {
			b.WriteByte('\n')
		}
		switch bl.kind {
		case paragraph:
			b.WriteString(wrapWords(width, bl.text, "", ""))
		case definition:
			b.WriteString(bl.term + "\n" + wrapWords(width, bl.text, "    ", "    "))
		default:
			b.WriteString(bl.text + "\n")
		}
	}
	if flags := cmd.Flags().FlagUsagesWrapped(width); flags != "" {
		b.WriteString("\n" + flags)
	}
	if exit := exitStatuses(cmd); exit != "" {
		b.WriteString("\n" + wrapWords(width, "Exit status: "+exit, "", ""))
	}
	return b.String()
}

// usageForms are the ways to call a command, each behind "git rekal ".
func usageForms(cmd *cobra.Command) []string {
	switch {
	case !cmd.HasParent():
		return []string{"[FILTER…] [QUESTION]", "COMMAND [ARGUMENT…]"}
	case !cmd.Runnable():
		return nil
	}
	return strings.Split(strings.TrimPrefix(cmd.Use, recallName+" "), "\n")
}

func exitStatuses(cmd *cobra.Command) string {
	switch said, ok := cmd.Annotations[exitStatus]; {
	case ok:
		return said
	case cmd.Runnable() || !cmd.HasParent():
		return usualExit
	}
	return ""
}

// block is a part of a long text, which has an empty line between them: a paragraph, which is filled; a sample, whose
// lines begin with two spaces and stay as they are; a definition, whose first line is a term and "::"; or a heading, a
// line in capitals.
type block struct {
	kind       blockKind
	term, text string
}

type blockKind int

const (
	paragraph blockKind = iota
	sample
	definition
	heading
)

func splitBlocks(long string) (out []block) {
	for raw := range strings.SplitSeq(strings.Trim(long, "\n"), "\n\n") {
		first, rest, _ := strings.Cut(raw, "\n")
		switch {
		case strings.HasPrefix(first, "  "):
			out = append(out, block{kind: sample, text: raw})
		case strings.HasSuffix(first, "::"):
			out = append(out, block{definition, strings.TrimSuffix(first, "::"), rest})
		case rest == "" && first == strings.ToUpper(first):
			out = append(out, block{kind: heading, text: first})
		default:
			out = append(out, block{text: raw})
		}
	}
	return out
}

// wrapWords writes words in lines of at most width columns; first begins the first line, rest each other one.
func wrapWords(width int, text, first, rest string) string {
	var b strings.Builder
	line, gap := first, ""
	for word := range strings.FieldsSeq(text) {
		if gap != "" && utf8.RuneCountInString(line+gap+word) > width {
			b.WriteString(line + "\n")
			line, gap = rest, ""
		}
		line += gap + word
		gap = " "
	}
	return b.String() + line + "\n"
}

//go:embed help/config.txt
var configHelp string

//go:embed help/words.txt
var wordsHelp string

// newConfigTopic explains the settings.
func newConfigTopic() *cobra.Command {
	return &cobra.Command{Use: "config", Short: "settings", Long: configHelp}
}

// newWordsTopic explains the words that the other pages use.
func newWordsTopic() *cobra.Command {
	return &cobra.Command{Use: "words", Short: "what the words mean", Long: wordsHelp}
}
