package transcript

import (
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Edit is what one call did to a file, once it is known that it was done.
type Edit struct {
	Path        string // git-root-relative; calls that edit what lies outside of the repository give none
	TS          time.Time
	FullContent bool // Hunks are one, all that the file holds now, and the agent does not say what stood there before
	Hunks       []Hunk
}

// Hunk is a place in a file that was changed. Lines that both sides have are context.
type Hunk struct{ Old, New []string }

// hunksOf reads lines as a unified diff has them, each hunk behind a line "@@". Others ("\ No newline at end of file")
// are left out.
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

// numberedHunks reads a diff whose lines have numbers: of each, an expression finds sign and text. Other lines part the
// hunks.
func numberedHunks(diff string, expr *lazy.Regexp) []Hunk {
	var lines []string
	for l := range strings.SplitSeq(validText(diff), "\n") {
		if m := expr.FindStringSubmatch(l); m != nil {
			lines = append(lines, m[1]+m[2])
		} else {
			lines = append(lines, "@@")
		}
	}
	return hunksOf(lines)
}

// linesOf takes a text apart; the end of its last line is no line.
func linesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.Clone(validText(s)), "\n"), "\n")
}

// setHunks gives a call that edits one file the hunks that its result shows, which has the context that the call may
// lack.
func (p *part) setHunks(id string, hunks []Hunk) {
	if edits := p.asked[id]; len(edits) == 1 && len(hunks) > 0 {
		edits[0].Hunks, edits[0].FullContent = hunks, false
	}
}
