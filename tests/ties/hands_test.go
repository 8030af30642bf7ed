package ties

import (
	"slices"
	"strings"
)

// types is a person's change of a file by hand.
func (a *author) types(number int, lines []string) {
	a.tick()
	f := a.work[number]
	a.puts(number, file{f.path, f.text.become(lines, func(s string) *line { return written(s, nil, "person") })})
	a.notes(number, "person in %s: %d lines", f.path, len(lines)-len(f.text))
}

func (a *author) person(*talk) {
	n, f := a.some()
	a.types(n, a.idea(f).of(f.text.lines()))
}

// spaces is a formatter that changes white space only; the agent may run it, or a person.
func (a *author) spaces(k *talk) {
	n, f := a.some()
	from := a.rng.IntN(len(f.text))
	to := min(len(f.text), from+1+a.rng.IntN(15))
	now := slices.Clone(f.text)
	for i := from; i < to; i++ {
		if s := respaced(now[i].text); s != now[i].text {
			now[i] = now[i].spaced(s)
		}
	}
	a.formats(k, n, now, "format")
}

// respaced is a line with other white space: tabs for spaces, spaces around what stood close, or none.
func respaced(s string) string {
	rest := strings.TrimLeft(s, " \t")
	indent := s[:len(s)-len(rest)]
	switch {
	case rest == "":
		return s
	case strings.Contains(indent, "\t"):
		indent = strings.ReplaceAll(indent, "\t", "    ")
	case strings.Contains(indent, "    "):
		indent = strings.ReplaceAll(indent, "    ", "\t")
	case strings.Contains(rest, " = "):
		rest = strings.Replace(rest, " = ", "  = ", 1)
	case strings.Contains(rest, ", "):
		rest = strings.ReplaceAll(rest, ", ", ",")
	default:
		indent += " "
	}
	return indent + rest
}

func (a *author) formats(k *talk, number int, now text, how string) {
	f := a.work[number]
	do := func() { a.puts(number, file{f.path, now}) }
	a.notes(number, "%s of %s", how, f.path)
	if a.rng.IntN(2) == 0 {
		a.tick()
		do()
		return
	}
	a.runs(k, "make fmt", do)
}

// rewraps is a formatter that breaks long lines: what stands there is no line that anybody wrote.
func (a *author) rewraps(k *talk) {
	n, f := a.some()
	var now text
	for _, l := range f.text {
		before, after, ok := strings.Cut(l.text, ", ")
		if !ok || len(l.text) < 30 || a.rng.IntN(2) == 0 {
			now = append(now, l)
			continue
		}
		now = append(now, written(before+",", nil, "rewrap"), written("\t\t\t"+after, nil, "rewrap"))
	}
	a.formats(k, n, now, "rewrap")
}

// sed is a command in the session's shell that changes words.
func (a *author) sed(k *talk) {
	n, f := a.some()
	from, to := a.words()
	now := slices.Clone(f.text)
	for i, l := range now {
		if s := strings.ReplaceAll(l.text, from, to); s != l.text {
			now[i] = written(s, nil, "sed of "+k.name)
		}
	}
	a.runs(k, "sed -i 's/"+from+"/"+to+"/g' "+f.path, func() { a.puts(n, file{f.path, now}) })
	a.notes(n, "sed of %s in %s", k.name, f.path)
}

// chats is a question without edits, to a session that goes on or to one of its own.
func (a *author) chats(k *talk) {
	if a.rng.IntN(2) == 0 {
		k = a.turns(a.open())
		a.all = append(a.all, k)
	}
	a.prompts(k, "what does the "+nouns[a.rng.IntN(len(nouns))]+" do?")
	a.says(k, "It holds the "+nouns[a.rng.IntN(len(nouns))]+" until somebody asks.")
	a.notes(0, "%s chats", k.name)
}

// advises is a talk about a change that a person then types: the session says the lines, and edits nothing.
func (a *author) advises(k *talk) {
	n, f := a.some()
	c := a.idea(f)
	a.prompts(k, "how do I "+verbs[a.rng.IntN(len(verbs))]+" "+f.path+"?")
	a.says(k, "Like so:\n\n```\n"+strings.Join(c.lines, "\n")+"\n```")
	a.notes(n, "%s advises on %s", k.name, f.path)
	a.types(n, c.of(f.text.lines()))
}

// one is a session to work with: one of three at most that go on, or a new one.
func (a *author) one() *talk {
	if i := a.rng.IntN(3); i < len(a.talks) {
		return a.talks[i]
	}
	k := a.turns(a.open())
	a.all = append(a.all, k)
	a.talks = append(a.talks, k)
	a.prompts(k, "please "+verbs[a.rng.IntN(len(verbs))]+" the "+nouns[a.rng.IntN(len(nouns))])
	return k
}

// acts does one thing to files, drawn by weight.
func (a *author) acts() {
	k := a.one()
	spaces, advice := 2, 0
	switch a.kind {
	case "formatter":
		spaces = 12
	case "talk":
		advice = 12
	case "all":
		advice = 1
	}
	type act struct {
		weight int
		do     func(*talk)
	}
	acts := []act{
		{12, a.edit},
		{3, a.multi},
		{2, a.fresh},
		{2, a.whole},
		{2, a.everywhere},
		{2, a.refused},
		{2, a.undone},
		{1, a.corrected},
		{4, a.person},
		{spaces, a.spaces},
		{1, a.rewraps},
		{1, a.sed},
		{2, a.chats},
		{advice, a.advises},
	}
	total := 0
	for _, x := range acts {
		total += x.weight
	}
	left := a.rng.IntN(total)
	for _, x := range acts {
		if left -= x.weight; left < 0 {
			x.do(k)
			return
		}
	}
}
