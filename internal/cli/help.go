package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/manual"
)

// helpCommand explains a command or a topic: `git rekal help why`.
type helpCommand struct{ wanted entry }

func (*helpCommand) about() entry {
	return entry{
		name: "help", usage: "help [COMMAND|TOPIC]", short: "explain a command",
		long: `
Explains a command, as "git rekal COMMAND -h" does, or a topic: "recall" for searching and filters, "config" for settings, "words" for terms.
Without an argument it lists the commands. Packages and "make install" bring manual pages with the same text: "man git-rekal-COMMAND",
"git rekal --help".`,
		takes: takesPage,
	}
}

func (c *helpCommand) addFlags(*pflag.FlagSet) {}

func (c *helpCommand) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, e := range explained() {
		if e.name == args[0] {
			c.wanted = e
			return noArgs(args[1:])
		}
	}
	return fmt.Errorf("%q is no command and no topic", args[0])
}

func (c *helpCommand) run(_ context.Context, app *App) error { return app.help(c.wanted) }

// help prints the page of a command, or the overview, through the pager on a terminal.
func (app *App) help(about entry) error {
	given, width := app.given(shape{}), manual.Width
	screen := given.Screen()
	if given.Shown() {
		width = screen.Width
	}
	page := overview(width)
	if about.name != "" {
		page = manual.Text(about.page(), width)
	}
	return screen.Print(page)
}

// recallTopic is the name under which a search is explained: as a command it has none.
const recallTopic = "recall"

// explained are the commands and topics that have a page of their own, in the order of the help.
func explained() []entry {
	out := table()
	out[0].name = recallTopic
	return append(out, configTopic(), wordsTopic())
}

// topic is what a call with -h asks about: a search that begins with the name of a topic asks about that.
func topic(e entry, args []string) entry {
	for _, t := range explained() {
		if e.name == "" && args[0] == t.name {
			return t
		}
	}
	return e
}

// listed are the commands that the overview and a shell's completion show.
func listed() []entry {
	return slices.DeleteFunc(table(), func(e entry) bool { return e.name == "" || e.name == hookName })
}

func overview(width int) string {
	var pages []manual.Page
	all := listed()
	for name := range strings.FieldsSeq("init why show web log save sync doctor") { // what a person needs first; the groups name the others
		i := slices.IndexFunc(all, func(e entry) bool { return e.name == name })
		pages = append(pages, all[i].page())
	}
	return manual.Overview(manual.Page{Usage: forms(), Exit: usualExit, Body: `
Finds the AI coding sessions behind the code: git rekal "JWT expiry"

COMMANDS

"git rekal help COMMAND" explains a command, "help recall" searching, "help config" settings, "help words" terms. "git rekal
--help" needs the manual pages installed.`}, pages, [][2]string{
		{"find", "query, brief"},
		{"keep", "run, compress, checkpoint, import, export"},
		{"hide", "purge, restore, scrub, forget, pause, resume"},
		{"share", "push"},
		{"set up", "clean, index, mcp, completion, help, version"},
	}, width)
}

// forms are the two ways to call the program.
func forms() []string { return []string{"[FILTER…] [QUESTION]", "COMMAND [ARGUMENT…]"} }

// page is what there is to say of a command.
func (e entry) page() manual.Page {
	p := manual.Page{Name: e.name, Short: e.short, Body: e.long}
	if e.command == nil {
		return p
	}
	p.Usage = strings.Split(e.usage, "\n")
	p.Flags = pflag.NewFlagSet(e.name, pflag.ContinueOnError)
	e.addFlags(p.Flags)
	if p.Exit = e.exit; p.Exit == "" {
		p.Exit = usualExit
	}
	return p
}

// configTopic explains the settings.
func configTopic() entry {
	return entry{name: "config", short: "settings", long: `
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

rekal.records::
Whether records of what commands print are kept. Default true.

rekal.records.days, rekal.records.size::
How long records are kept (90 days), and how much of them (64m). Raw outputs are kept for 7 days.

rekal.records.transcripts::
Whether records are also made of what agents' shells printed. Default true.

rekal.mcp.write::
Whether agents may save memories, purge and restore through "git rekal mcp". Default true.

rekal.embed::
What makes vectors of meaning: "builtin" (the default), "off", or the address of an embedding server with OpenAI's protocol (Ollama, llama.cpp).

rekal.embed.model::
The server's model. Default nomic-embed-text.

REKAL_SKIP=1::
Lets one git command pass without capture. A later capture takes what is in the transcripts by then.`}
}

// wordsTopic explains the words that the other pages use.
func wordsTopic() entry {
	return entry{name: "words", short: "what the words mean", long: `
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
