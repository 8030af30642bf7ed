package manual

import (
	"strings"
	"unicode/utf8"
)

// Text is a page as -h prints it.
func Text(p Page) string {
	var b strings.Builder
	for i, form := range p.Usage {
		lead := "usage: git rekal "
		if i > 0 {
			lead = "   or: git rekal "
		}
		b.WriteString(fill(parts(form), lead, strings.Repeat(" ", len(lead))))
	}
	for i, bl := range blocks(p.Body) {
		if i > 0 || len(p.Usage) > 0 {
			b.WriteByte('\n')
		}
		switch bl.kind {
		case paragraph:
			b.WriteString(fill(strings.Fields(bl.text), "", ""))
		case definition:
			b.WriteString(bl.term + "\n" + fill(strings.Fields(bl.text), "    ", "    "))
		default:
			b.WriteString(bl.text + "\n")
		}
	}
	if p.Flags != nil && p.Flags.HasFlags() {
		b.WriteString("\n" + p.Flags.FlagUsagesWrapped(Width))
	}
	if p.Exit != "" {
		b.WriteString("\n" + fill(strings.Fields("Exit status: "+p.Exit), "", ""))
	}
	return b.String()
}

// fill writes words in lines of at most Width columns; first begins the first line, rest each other one.
func fill(words []string, first, rest string) string {
	var b strings.Builder
	line, gap := first, ""
	for _, word := range words {
		if gap != "" && utf8.RuneCountInString(line+gap+word) > Width {
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

// Overview is what "git rekal -h" prints: a head, the pages by name in two columns, and a foot. A name has at most 10 columns, what
// is said of it at most 26.
func Overview(head string, pages []Page, foot string) string {
	var b strings.Builder
	b.WriteString(strings.Trim(head, "\n") + "\n\n")
	rows := (len(pages) + 1) / 2
	for i := range rows {
		line := "  " + pad(pages[i].Name, 11) + pages[i].Short
		if j := i + rows; j < len(pages) {
			line = pad(line, 41) + pad(pages[j].Name, 11) + pages[j].Short
		}
		b.WriteString(line + "\n")
	}
	return b.String() + "\n" + strings.Trim(foot, "\n") + "\n"
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-utf8.RuneCountInString(s)))
}
