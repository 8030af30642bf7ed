package compress

import "strings"

// terraform knows plan and apply.
type terraform struct{}

func (terraform) line(text string, s scanned, k *keeper) (kind, bool) {
	switch {
	case strings.HasPrefix(text, "│ ") && k.inDetails && s.signals&saysError == 0:
		if strings.HasPrefix(text, "│   on ") {
			return landmark, true
		}
		return detail, true
	case startsWithAny(text, "Plan: ", "Apply complete!", "Destroy complete!", "No changes."):
		return total, true
	case strings.HasPrefix(text, "  # ") && (strings.Contains(text, " will be ") || strings.Contains(text, " must be ") ||
		strings.Contains(text, " has been ")):
		return landmark, true
	}
	return ordinary, false
}
