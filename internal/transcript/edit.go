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

// hunksOf reads lines as a unified diff has them, each hunk behind a line "@@". Others ("\ No newline at end of file") are left out.
func hunksOf(lines []string) (out []Hunk) {
	var h Hunk
	for _, l := range append(lines, "@@") {
		text := strings.Clone(l[min(1, len(l)):])
		switch {
		case strings.HasPrefix(l, " "):
			h.Old, h.New = append(h.Old, text), append(h.New, text)
		case strings.HasPrefix(l, "-"):
			h.Old = append(h.Old, text)
		case strings.HasPrefix(l, "+"):
			h.New = append(h.New, text)
		case strings.HasPrefix(l, "@@") && len(h.Old)+len(h.New) > 0:
			out, h = append(out, h), Hunk{}
		}
	}
	return out
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
