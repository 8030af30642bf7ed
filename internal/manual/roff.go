package manual

import "strings"

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
	if all := options(p.Flags); len(all) > 0 {
		b.WriteString(".SH OPTIONS\n")
		for _, o := range all {
			o.roff(b)
		}
	}
	if p.Exit != "" {
		b.WriteString(".SH EXIT STATUS\n" + escape(sentence(p.Exit)) + "\n")
	}
	b.WriteString(".SH SEE ALSO\n" + strings.Join(seeAlso(p), ",\n") + "\n")
	return b.String()
}

// sentence begins a text with a capital.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

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

func (o option) roff(b *strings.Builder) {
	b.WriteString(".TP\n")
	if o.short != "" {
		b.WriteString(`\fB\-` + o.short + `\fR, `)
	}
	b.WriteString(`\fB\-\-` + escape(o.name) + `\fR`)
	if o.value != "" {
		b.WriteString(`\fI` + escape(o.value) + `\fR`)
	}
	b.WriteString("\n" + escape(o.usage) + "\n")
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
