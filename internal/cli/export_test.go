package cli

import (
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/manual"
)

// Manuals are the manual pages by file name: what -h prints, for man(7).
func Manuals() map[string]string {
	out := map[string]string{"git-rekal.1": roff(gitRekal())}
	for _, e := range explained() {
		out["git-rekal-"+e.name+".1"] = roff(e.page(), nil)
	}
	return out
}

// Shorts are what the overview says of each command.
func Shorts() (out []string) {
	for _, e := range listed() {
		out = append(out, e.short)
	}
	return out
}

// gitRekal is the page of the program itself.
func gitRekal() (page manual.Page, others []string) {
	body := `
Git keeps what changed; git-rekal keeps why. Hooks capture the AI coding sessions behind each commit, redacted, on the append-only
branch rekal/<email> beside the code. A search finds them again. Nothing is sent before you agree.

Without a command, git-rekal searches: see git-rekal-recall(1). A word that is also a command runs the command; "git rekal -- log"
searches for "log".

COMMANDS
`
	for _, e := range explained() {
		body += fmt.Sprintf("\n%s::\n%s\n", e.name, e.short)
		others = append(others, e.name)
	}
	page = manual.Page{Usage: forms(), Short: "find the AI coding sessions behind the code", Body: body + files, Exit: usualExit}
	return page, others
}

const files = `
FILES

refs/heads/rekal/<email>::
The ledger: everything captured. It is the only thing that cannot be rebuilt.

refs/rekal/<remote>/<email>::
Other people's ledgers. They keep what they have, whatever happens on the remote, except texts that their author scrubbed.

.rekal/::
Caches. Deleting them loses nothing.`

// roff is a page for man(7), section 1.
func roff(p manual.Page, others []string) string {
	title := "git-rekal"
	if p.Name != "" {
		title += "-" + p.Name
	}
	b := &strings.Builder{}
	b.WriteString(`.\" Made of what -h prints: go test ./internal/cli -run TestManuals -update` + "\n")
	b.WriteString(`.TH "` + escape(strings.ToUpper(title)) + `" 1 "" "git-rekal" "Git Manual"` + "\n")
	b.WriteString(".SH NAME\n" + escape(title) + ` \- ` + escape(p.Short) + "\n")
	if len(p.Usage) > 0 {
		b.WriteString(".SH SYNOPSIS\n.nf\n")
		for _, form := range p.Usage {
			b.WriteString(`\fBgit rekal\fR ` + escape(form) + "\n")
		}
		b.WriteString(".fi\n")
	}
	b.WriteString(".SH DESCRIPTION\n")
	for _, bl := range manual.Blocks(p.Body) {
		roffBlock(b, bl)
	}
	if all := manual.Options(p.Flags); len(all) > 0 {
		b.WriteString(".SH OPTIONS\n")
		for _, o := range all {
			roffOption(b, o)
		}
	}
	if p.Exit != "" {
		b.WriteString(".SH EXIT STATUS\n" + escape(sentence(p.Exit)) + "\n")
	}
	b.WriteString(".SH SEE ALSO\n" + strings.Join(seeAlso(p.Name, others), ",\n") + "\n")
	return b.String()
}

// sentence begins a text with a capital.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func roffBlock(b *strings.Builder, bl manual.Block) {
	switch bl.Kind {
	case manual.Paragraph:
		b.WriteString(".PP\n" + escape(bl.Text) + "\n")
	case manual.Definition:
		b.WriteString(".TP\n\\fB" + escape(bl.Term) + "\\fR\n" + escape(bl.Text) + "\n")
	case manual.Heading:
		b.WriteString(".SH " + escape(bl.Text) + "\n")
	case manual.Sample:
		b.WriteString(".PP\n.RS 4\n.nf\n")
		for _, line := range strings.Split(bl.Text, "\n") {
			b.WriteString(escape(strings.TrimPrefix(line, "  ")) + "\n")
		}
		b.WriteString(".fi\n.RE\n")
	}
}

func roffOption(b *strings.Builder, o manual.Option) {
	b.WriteString(".TP\n")
	if o.Short != "" {
		b.WriteString(`\fB\-` + o.Short + `\fR, `)
	}
	b.WriteString(`\fB\-\-` + escape(o.Name) + `\fR`)
	if o.Value != "" {
		b.WriteString(`\fI` + escape(o.Value) + `\fR`)
	}
	b.WriteString("\n" + escape(o.Usage) + "\n")
}

func seeAlso(name string, others []string) (out []string) {
	if name != "" {
		out = append(out, `\fBgit\-rekal\fR(1)`)
	}
	for _, name := range others {
		out = append(out, `\fBgit\-rekal\-`+escape(name)+`\fR(1)`)
	}
	return append(out, `\fBgit\fR(1)`)
}

// escape keeps troff from reading a text: its escapes, requests at the beginning of a line, and the characters that it would
// print as typographic ones.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`, `…`, `...`).Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
