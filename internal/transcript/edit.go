package transcript

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Edit is what one call did to a file, once it is known that it was done.
type Edit struct {
	Path  string // git-root-relative; calls that edit what lies outside of the repository give none
	TS    time.Time
	Whole bool // Hunks are one, all that the file holds now, and the agent does not say what stood there before
	Hunks []Hunk
}

// Hunk is a place in a file that was changed. Lines that both sides have are context.
type Hunk struct{ Old, New []string }

// hunkOf reads a hunk's lines as a unified diff has them. Others ("\ No newline at end of file") are left out.
func hunkOf(lines []string) Hunk {
	var h Hunk
	for _, l := range lines {
		if l == "" {
			continue
		}
		switch text := strings.Clone(l[1:]); l[0] {
		case ' ':
			h.Old, h.New = append(h.Old, text), append(h.New, text)
		case '-':
			h.Old = append(h.Old, text)
		case '+':
			h.New = append(h.New, text)
		}
	}
	return h
}

// linesOf takes a text apart; the end of its last line is no line.
func linesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.Clone(clean(s)), "\n"), "\n")
}

// asksFor is what the arguments of a call ask to be done to the file that it names: to hold a text, or a text in the place of another. They may
// ask for several of these.
func asksFor(paths []string, args gjson.Result, whole, old, now string) []Edit {
	if len(paths) == 0 {
		return nil
	}
	e := Edit{Path: paths[0]}
	if all := args.Get(whole); all.Type == gjson.String {
		e.Hunks, e.Whole = []Hunk{{New: linesOf(all.Str)}}, true
		return []Edit{e}
	}
	for _, one := range append(args.Get("edits").Array(), args) {
		if h := (Hunk{linesOf(one.Get(old).Str), linesOf(one.Get(now).Str)}); len(h.Old)+len(h.New) > 0 {
			e.Hunks = append(e.Hunks, h)
		}
	}
	return []Edit{e}
}
