package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Manuals are the manual pages by file name: what -h prints, for man(7).
func Manuals() map[string]string {
	app := &App{}
	app.addCommands(nil)
	out := map[string]string{}
	for _, cmd := range append(app.root.Commands(), app.root) {
		out[title(cmd)+".1"] = roff(cmd)
	}
	return out
}

func title(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return "git-rekal"
	}
	return "git-rekal-" + cmd.Name()
}

// Groups are the names of the commands that the overview groups.
func Groups() (out []string) {
	for _, group := range commandGroups() {
		out = append(out, strings.Fields(group[1])...)
	}
	return out
}

// Typed are the names of the commands that people type.
func Typed() (out []string) {
	app := &App{}
	app.addCommands(nil)
	for _, cmd := range app.root.Commands() {
		if name := cmd.Name(); cmd.Runnable() && name != recallName && name != hookName {
			out = append(out, name)
		}
	}
	return out
}

// Shorts are what the overview says of each command.
func Shorts() (out []string) {
	app := &App{}
	app.addCommands(nil)
	for _, cmd := range app.root.Commands() {
		if cmd.IsAvailableCommand() {
			out = append(out, cmd.Short)
		}
	}
	return out
}

// gitRekal is what the page of the program itself says.
func gitRekal(root *cobra.Command) string {
	body := `
Git keeps what changed; git-rekal keeps why. Hooks capture the AI coding sessions behind each commit, redacted, on the append-only
branch rekal/<email> beside the code. A search finds them again. Nothing is sent before you agree.

Without a command, git-rekal searches: see git-rekal-recall(1). A word that is also a command runs the command; "git rekal -- log"
searches for "log".

`
	for _, group := range commandGroups() {
		body += "\n" + strings.ToUpper(group[0]) + "\n"
		for _, name := range strings.Fields(group[1]) {
			cmd, _, _ := root.Find([]string{name})
			body += fmt.Sprintf("\n%s::\n%s\n", name, cmd.Short)
		}
	}
	return body + files
}

const files = `
FILES

refs/heads/rekal/<email>::
The ledger: everything captured. It is the only thing that cannot be rebuilt.

refs/rekal/<remote>/<email>::
Other people's ledgers. They keep what they have, whatever happens on the remote, except texts that their author scrubbed.

.git/rekal/::
Caches, which are made again where they are missing; and what stays on this machine: private sessions, records, fingerprints of secrets.`

// roff is a page for man(7), section 1.
func roff(cmd *cobra.Command) string {
	b := &strings.Builder{}
	b.WriteString(`.\" Made of what -h prints: go test ./internal/cli -run TestManuals -update` + "\n")
	b.WriteString(`.TH "` + escape(strings.ToUpper(title(cmd))) + `" 1 "" "git-rekal" "Git Manual"` + "\n")
	b.WriteString(".SH NAME\n" + escape(title(cmd)) + ` \- ` + escape(cmd.Short) + "\n")
	if forms := usageForms(cmd); len(forms) > 0 {
		b.WriteString(".SH SYNOPSIS\n.nf\n")
		for _, form := range forms {
			b.WriteString(`\fBgit rekal\fR ` + escape(form) + "\n")
		}
		b.WriteString(".fi\n")
	}
	b.WriteString(".SH DESCRIPTION\n")
	long := cmd.Long
	if !cmd.HasParent() {
		long = gitRekal(cmd)
	}
	for _, bl := range splitBlocks(long) {
		roffBlock(b, bl)
	}
	if cmd.Flags().HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		cmd.Flags().VisitAll(func(f *pflag.Flag) { roffFlag(b, f) })
	}
	if exit := exitStatuses(cmd); exit != "" {
		b.WriteString(".SH EXIT STATUS\n" + escape(sentence(exit)) + "\n")
	}
	b.WriteString(".SH SEE ALSO\n" + strings.Join(seeAlso(cmd), ",\n") + "\n")
	return b.String()
}

// sentence begins a text with a capital.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func roffBlock(b *strings.Builder, bl block) {
	oneLine := escape(strings.Join(strings.Fields(bl.text), " "))
	switch bl.kind {
	case paragraph:
		b.WriteString(".PP\n" + oneLine + "\n")
	case definition:
		b.WriteString(".TP\n\\fB" + escape(bl.term) + "\\fR\n" + oneLine + "\n")
	case heading:
		b.WriteString(".SH " + oneLine + "\n")
	case sample:
		b.WriteString(".PP\n.RS 4\n.nf\n")
		for line := range strings.SplitSeq(bl.text, "\n") {
			b.WriteString(escape(strings.TrimPrefix(line, "  ")) + "\n")
		}
		b.WriteString(".fi\n.RE\n")
	}
}

func roffFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		b.WriteString(`\fB\-` + f.Shorthand + `\fR, `)
	}
	b.WriteString(`\fB\-\-` + escape(f.Name) + `\fR`)
	value, usage := pflag.UnquoteUsage(f)
	if value != "" {
		b.WriteString(` \fI` + escape(value) + `\fR`)
	}
	if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
		b.WriteString("[=" + escape(f.NoOptDefVal) + "]")
	}
	if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
		usage += " (default " + f.DefValue + ")"
	}
	b.WriteString("\n" + escape(usage) + "\n")
}

func seeAlso(cmd *cobra.Command) (out []string) {
	if cmd.HasParent() {
		return []string{`\fBgit\-rekal\fR(1)`, `\fBgit\fR(1)`}
	}
	for _, other := range cmd.Commands() {
		out = append(out, `\fBgit\-rekal\-`+escape(other.Name())+`\fR(1)`)
	}
	return append(out, `\fBgit\fR(1)`)
}

// escape keeps troff from reading a text: its escapes, requests at the beginning of a line, and the characters that it
// would print as typographic ones.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`, `…`,
		`...`).Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
