package manual

import (
	"strings"
	"unicode/utf8"
)

// Text is a page as -h prints it, in lines of at most width columns, and of Width; samples stay as they are.
func Text(p Page, width int) string {
	width = min(width, Width)
	var b strings.Builder
	for i, form := range p.Usage {
		lead := "usage: git rekal "
		if i > 0 {
			lead = "   or: git rekal "
		}
		b.WriteString(fill(width, parts(form), lead, strings.Repeat(" ", min(len(lead), width/5))))
	}
	for i, bl := range Blocks(p.Body) {
		if i > 0 || len(p.Usage) > 0 {
			b.WriteByte('\n')
		}
		switch bl.Kind {
		case Paragraph:
			b.WriteString(fill(width, strings.Fields(bl.Text), "", ""))
		case Definition:
			b.WriteString(bl.Term + "\n" + fill(width, strings.Fields(bl.Text), "    ", "    "))
		default:
			b.WriteString(bl.Text + "\n")
		}
	}
	b.WriteString(flags(Options(p.Flags), width))
	if p.Exit != "" {
		b.WriteString("\n" + fill(width, strings.Fields("Exit status: "+p.Exit), "", ""))
	}
	return b.String()
}

// flags lists options, what each does in a second column; in lines too short for two, below it.
func flags(all []Option, width int) string {
	if len(all) == 0 {
		return ""
	}
	column := 0
	names := make([]string, len(all))
	for i, o := range all {
		if names[i] = "      --"; o.Short != "" {
			names[i] = "  -" + o.Short + ", --"
		}
		names[i] += o.Name + o.Value
		column = max(column, utf8.RuneCountInString(names[i])+3)
	}
	out := "\n"
	for i, o := range all {
		first := pad(names[i], column)
		if column > width/2 {
			column, first = 8, names[i]+"\n"+strings.Repeat(" ", 8)
		}
		out += fill(width, strings.Fields(o.Usage), first, strings.Repeat(" ", column))
	}
	return out
}

// fill writes words in lines of at most width columns; first begins the first line, rest each other one.
func fill(width int, words []string, first, rest string) string {
	var b strings.Builder
	line, gap := first, ""
	for _, word := range words {
		if gap != "" && utf8.RuneCountInString(line+gap+word) > width {
			b.WriteString(line + "\n")
			line, gap = rest, ""
		}
		line += gap + word
		gap = " "
	}
	return b.String() + line + "\n"
}

// parts are the words of a form; what stands in brackets, as "[-n N]", is one.
func parts(form string) []string {
	depth := 0
	return strings.FieldsFunc(form, func(r rune) bool {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		}
		return r == ' ' && depth == 0
	})
}

// Overview is what "git rekal -h" prints: a page that lists some others, in two columns where there are Width, and
// below them groups of names, each with a heading. A name has at most 10 columns, what is said of it at most 26. Its body has a line "COMMANDS" where the list goes.
func Overview(p Page, first []Page, groups [][2]string, width int) string {
	rows := (len(first) + 1) / 2
	if width < Width {
		rows = len(first)
	}
	var list strings.Builder
	for i := range rows {
		line := "  " + pad(first[i].Name, 11) + first[i].Short
		if j := i + rows; j < len(first) {
			line = pad(line, 41) + pad(first[j].Name, 11) + first[j].Short
		}
		list.WriteString(line + "\n")
	}
	list.WriteByte('\n')
	for _, g := range groups {
		list.WriteString(fill(width, strings.Fields(g[1]), "  "+pad(g[0], 11), strings.Repeat(" ", 13)))
	}
	return strings.Replace(Text(p, width), "COMMANDS\n", list.String(), 1)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-utf8.RuneCountInString(s)))
}
