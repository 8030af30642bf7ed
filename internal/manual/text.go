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
	for i, bl := range blocks(p.Body) {
		if i > 0 || len(p.Usage) > 0 {
			b.WriteByte('\n')
		}
		switch bl.kind {
		case paragraph:
			b.WriteString(fill(width, strings.Fields(bl.text), "", ""))
		case definition:
			b.WriteString(bl.term + "\n" + fill(width, strings.Fields(bl.text), "    ", "    "))
		default:
			b.WriteString(bl.text + "\n")
		}
	}
	if p.Flags != nil && p.Flags.HasFlags() {
		b.WriteString("\n" + p.Flags.FlagUsagesWrapped(width))
	}
	if p.Exit != "" {
		b.WriteString("\n" + fill(width, strings.Fields("Exit status: "+p.Exit), "", ""))
	}
	return b.String()
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

// Overview is what "git rekal -h" prints: a page that lists others by name, in two columns where there are Width. A name has at most 10
// columns, what is said of it at most 26. Its body has a line "COMMANDS" where the list goes.
func Overview(p Page, others []Page, width int) string {
	rows, second := (len(others)+1)/2, (len(others)+1)/2
	if width < Width {
		rows, second = len(others), len(others)
	}
	var list strings.Builder
	for i := range rows {
		line := "  " + pad(others[i].Name, 11) + others[i].Short
		if j := i + second; j < len(others) {
			line = pad(line, 41) + pad(others[j].Name, 11) + others[j].Short
		}
		list.WriteString(line + "\n")
	}
	return strings.Replace(Text(p, width), "COMMANDS\n", list.String(), 1)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-utf8.RuneCountInString(s)))
}
