package manual

import (
	"strings"

	"github.com/spf13/pflag"
)

// Roff is a page for man(7), section 1.
func Roff(p Page) string {
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
	for _, bl := range blocks(p.Body) {
		bl.roff(b)
	}
	if p.Flags != nil && p.Flags.HasFlags() {
		b.WriteString(".SH OPTIONS\n")
		p.Flags.VisitAll(func(f *pflag.Flag) { option(b, f) })
	}
	if p.Exit != "" {
		b.WriteString(".SH EXIT STATUS\n" + escape(p.Exit) + "\n")
	}
	b.WriteString(".SH SEE ALSO\n" + strings.Join(seeAlso(p), ",\n") + "\n")
	return b.String()
}

func (bl block) roff(b *strings.Builder) {
	switch bl.kind {
	case paragraph:
		b.WriteString(".PP\n" + escape(bl.text) + "\n")
	case definition:
		b.WriteString(".TP\n\\fB" + escape(bl.term) + "\\fR\n" + escape(bl.text) + "\n")
	case heading:
		b.WriteString(".SH " + escape(bl.text) + "\n")
	case sample:
		b.WriteString(".PP\n.RS 4\n.nf\n")
		for _, line := range strings.Split(bl.text, "\n") {
			b.WriteString(escape(strings.TrimPrefix(line, "  ")) + "\n")
		}
		b.WriteString(".fi\n.RE\n")
	}
}

func option(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		b.WriteString(`\fB\-` + f.Shorthand + `\fR, `)
	}
	b.WriteString(`\fB\-\-` + escape(f.Name) + `\fR`)
	if value != "" {
		b.WriteString(` \fI` + escape(value) + `\fR`)
	}
	b.WriteString("\n" + escape(usage) + "\n")
}

func seeAlso(p Page) (out []string) {
	if p.Name != "" {
		out = append(out, `\fBgit\-rekal\fR(1)`)
	}
	for _, name := range p.Others {
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
