package cli

import (
	"context"
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

// helpSubject is what a call with -h asks about: the name of a topic before it is no question. A search itself is explained by "help recall",
// and by -h the program.
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
	return screen.Print(page)
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
	for _, group := range [][2]string{
		{"find", "query, brief"},
		{"keep", "run, compress, checkpoint, import, export"},
		{"hide", "purge, restore, private, scrub, forget, pause, resume"},
		{"share", "push"},
		{"set up", "clean, index, mcp, lsp, completion, help, version"},
	} {
		b.WriteString(wrapWords(width, group[1], fmt.Sprintf("  %-11s", group[0]), strings.Repeat(" ", 13)))
	}
	return b.String()
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

// block is a part of a long text, which has an empty line between them: a paragraph, which is filled; a sample, whose lines begin with two
// spaces and stay as they are; a definition, whose first line is a term and "::"; or a heading, a line in capitals.
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

// newConfigTopic explains the settings.
func newConfigTopic() *cobra.Command {
	return &cobra.Command{Use: "config", Short: "settings", Long: configHelp}
}

const configHelp = `
Settings are git's: "git config rekal.enabled false". Each is also an environment variable, which wins: REKAL_ENABLED. Settings marked
"repeatable" may be set several times with "git config --add"; their variables add one value.

rekal.enabled::
Whether the hooks do anything. Commands ignore it. Default true.

rekal.actor::
"human" or "agent" for every session. By default the transcript decides, and CI is an agent.

rekal.remote::
The remote that you agreed to share with. Default none. rekal.url notes its place. If the place changes, nothing is sent until you
agree again.

rekal.autopush::
Whether "git push", to any remote, also sends the ledger to rekal.remote. Default true.

rekal.redact.allow::
A regular expression. A finding of redaction that it matches is stored anyway. Repeatable.

rekal.exclude::
A glob of paths, as in .gitignore. Nothing about such a file is stored: no tool call, no file of a commit, no text that names it.
Repeatable.

rekal.ignore::
A glob of ledgers that are not read: an address, or a ref such as refs/rekal/origin/bob@example.com. Branches of this repository are your
own, and always read. Repeatable.

rekal.pause::
A time in which this clone captured nothing, as FROM/TO. "pause" and "resume" write it. Repeatable.

rekal.forgot::
A session that this clone does not capture again, as AGENT/ID. "forget" writes it. Repeatable.

rekal.private::
A session that is never sent, as AGENT/ID. "private" writes it. Repeatable.

rekal.records::
Whether records of what commands print are kept. Default true.

rekal.records.days, rekal.records.size::
How long records are kept (90 days), and how much of them (64m). Raw outputs are kept for 7 days.

rekal.records.transcripts::
Whether records are also made of what agents' shells printed. Default true.

rekal.group.NAME::
The paths of repositories that belong together, with the shell's globs, for --group: "git config --global --add rekal.group.shop
'~/src/shop-*'". Repeatable. It counts in your own configuration only (--global), and has no variable.

rekal.web.rights::
A command that "web" runs with a person, whom a proxy names in X-Forwarded-User, and a remote's address. Unless it ends with status 0, that
person is shown nothing of the repository. It counts in your own configuration only (--global), and has no variable.

rekal.mcp.write::
Whether agents may save memories, purge and restore through "git rekal mcp". Default true.

rekal.sign::
Whether commits of the ledger are signed. Default: commit.gpgSign.

rekal.require::
"verified": agents are told only what a key of its author signed; SQL reads all. Default: everything.

rekal.price.MODEL.input, and output, cacheRead, cacheWrite::
What a million such tokens of a model cost, for "stats". MODEL may be a glob.

rekal.stats.authors::
Whether "stats" may show all authors. Default false: yourself only.

rekal.embed::
What makes vectors of meaning: "builtin" (the default), "off", or the address of an embedding server with OpenAI's protocol (Ollama, llama.cpp).

rekal.embed.model::
The server's model. Default nomic-embed-text.

REKAL_SKIP=1::
Lets one git command pass without capture. A later capture takes what is in the transcripts by then.`

// newWordsTopic explains the words that the other pages use.
func newWordsTopic() *cobra.Command {
	return &cobra.Command{Use: "words", Short: "what the words mean", Long: `
The words of the help and of the answers:

ledger::
The branch rekal/<email>. It holds your sessions and memories. git-rekal adds entries, and rewrites it only to scrub or forget.

checkpoint::
A commit of the ledger: what was new at a commit of the code, and the sessions behind that commit.

session::
One conversation with a coding agent.

memory::
A note that somebody saved with "git rekal save".

record::
What one command printed, made small. It stays in this clone.

tie::
How a session stands behind a commit. It wrote lines of it, edited its files, talked between the commit before and this one, or that is
inferred from times, names or content alone.

freshness::
Whether the files of a session still are as its commits left them.

skill::
A file in the repository that tells coding agents when and how to ask git-rekal.`}
}
