package compress

import "strings"

// gitTool knows what git prints.
type gitTool struct{ patch bool }

func (g *gitTool) line(text string, _ scanned, _ *keeper) (kind, bool) {
	switch {
	case text == "":
		return ordinary, false
	case strings.HasPrefix(text, "diff --git "):
		g.patch = true
		return landmark, true
	case g.patch && startsWithAny(text, "index ", "--- ", "+++ ", "similarity ", "old mode", "new mode"):
		return noise, true
	case g.patch && startsWithAny(text, "@@ ", "+", "-", " ", "\\ No newline"):
		return kindOfPatchLine(text), true
	case startsWithAny(text, "Automatic merge failed", "On branch ", "HEAD detached ", "Your branch ", "no changes added ",
		"nothing to commit", "Changes to be committed", "Changes not staged", "Untracked files", "Unmerged paths"):
		return total, true
	case countDigits(strings.TrimLeft(text, " ")) > 0 && strings.Contains(text, " changed, "):
		return total, true
	case startsWithAny(text, "\tmodified: ", "\tnew file: ", "\tdeleted: ", "\trenamed: ", "\tboth modified: "):
		return landmark, true
	}
	g.patch = false
	return ordinary, false
}

// kindOfPatchLine is the kind of a line of a patch. A changed line explains the header of its file.
func kindOfPatchLine(text string) kind {
	if text[0] == '+' || text[0] == '-' || text[0] == '@' {
		return detail
	}
	return noise
}
