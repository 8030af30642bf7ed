package ties

import (
	"slices"
	"strings"
)

// line is one line of a file, followed from the moment at which it was written. Two lines that read the same
// are two lines.
type line struct {
	text string
	by   *talk  // the session that wrote this very text, white space aside; nil: a person, or nobody
	how  string // for whom reads a report
	root *line  // the line before only its white space changed; itself where it never did
}

type text []*line

// written is a new line.
func written(s string, by *talk, how string) *line {
	l := &line{text: s, by: by, how: how}
	l.root = l
	return l
}

// spaced is a line whose white space somebody changed: it stays whose it was.
func (l *line) spaced(s string) *line {
	return &line{text: s, by: l.by, how: l.how, root: l.root}
}

func (t text) lines() []string {
	out := make([]string, len(t))
	for i, l := range t {
		out[i] = l.text
	}
	return out
}

func (t text) String() string { return joined(t.lines()) }

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// become is the text after somebody changed it to new lines: what the shortest difference keeps stays who
// wrote it, and the rest is made.
func (t text) become(lines []string, made func(string) *line) text {
	head := 0
	for head < len(t) && head < len(lines) && t[head].text == lines[head] {
		head++
	}
	tail := 0
	for tail < len(t)-head && tail < len(lines)-head && t[len(t)-1-tail].text == lines[len(lines)-1-tail] {
		tail++
	}
	out := slices.Clone(t[:head])
	out = append(out, middle(t[head:len(t)-tail], lines[head:len(lines)-tail], made)...)
	return append(out, t[len(t)-tail:]...)
}

// middle is become for what has no common beginning and end.
func middle(old text, lines []string, made func(string) *line) text {
	common := make([][]int, len(old)+1) // lengths of the longest common subsequences of what follows
	for i := range common {
		common[i] = make([]int, len(lines)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(lines) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if old[i].text == lines[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out text
	for i, j := 0, 0; j < len(lines); {
		switch {
		case i < len(old) && old[i].text == lines[j]:
			out = append(out, old[i])
			i, j = i+1, j+1
		case i < len(old) && common[i+1][j] >= common[i][j+1]:
			i++
		default:
			out = append(out, made(lines[j]))
			j++
		}
	}
	return out
}

// hunk is a piece of a patch as Claude Code tells it.
type hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
	raw      []string // Lines as they stand in the file
}

// step is one line of a whole patch.
type step struct {
	sign     string
	line     *line
	old, now int // how many lines stand before it, in both files
}

// patch is what leads from one text to another, with three lines of context.
func patch(old, now text) []hunk {
	const context = 3
	steps := walk(old, now)
	out, last := []hunk{}, -1
	for i, s := range steps {
		near := slices.ContainsFunc(steps[max(0, i-context):min(len(steps), i+context+1)],
			func(s step) bool { return s.sign != " " })
		if !near {
			continue
		}
		if last != i-1 || len(out) == 0 {
			out = append(out, hunk{OldStart: s.old + 1, NewStart: s.now + 1})
		}
		out[len(out)-1].take(s)
		last = i
	}
	return out
}

func (h *hunk) take(s step) {
	h.Lines, h.raw = append(h.Lines, s.sign+shown(s.line.text)), append(h.raw, s.sign+s.line.text)
	if s.sign != "+" {
		h.OldLines++
	}
	if s.sign != "-" {
		h.NewLines++
	}
}

// shown is a line as patches have it: each tab at its beginning is two spaces there.
func shown(s string) string {
	rest := strings.TrimLeft(s, "\t")
	return strings.Repeat("  ", len(s)-len(rest)) + rest
}

// walk goes through two texts side by side; where they differ, what goes stands before what comes.
func walk(old, now text) (out []step) {
	i := 0
	add := func(sign string, l *line, j int) { out = append(out, step{sign, l, i, j}) }
	for j, l := range now {
		for ; i < len(old) && !slices.Contains(now[j:], old[i]); i++ {
			add("-", old[i], j)
		}
		if i < len(old) && old[i] == l {
			add(" ", l, j)
			i++
		} else {
			add("+", l, j)
		}
	}
	for ; i < len(old); i++ {
		add("-", old[i], len(now))
	}
	return out
}

// merged is what a merge makes of two texts that were one; ok is false where both changed the same place.
func merged(base, ours, theirs text) (out text, ok bool) {
	b, o, t := 0, 0, 0
	for {
		next := slices.IndexFunc(base[b:], func(l *line) bool {
			return slices.Contains(ours[o:], l) &&
				slices.Contains(theirs[t:], l)
		})
		nb, no, nt := len(base), len(ours), len(theirs)
		if next >= 0 {
			nb = b + next
			no, nt = slices.Index(ours, base[nb]), slices.Index(theirs, base[nb])
		}
		piece, ok := chosen(base[b:nb], ours[o:no], theirs[t:nt])
		if !ok {
			return nil, false
		}
		out = append(out, piece...)
		if next < 0 {
			return out, true
		}
		out = append(out, base[nb])
		b, o, t = nb+1, no+1, nt+1
	}
}

func chosen(base, ours, theirs text) (text, bool) {
	switch {
	case slices.Equal(base, ours), slices.Equal(ours, theirs):
		return theirs, true
	case slices.Equal(base, theirs):
		return ours, true
	}
	return nil, false
}
