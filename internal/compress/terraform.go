package compress

import "strings"

// terraform knows plan and apply.
type terraform struct{ open bool }

func (*terraform) looks() looks { return looks{first: "\xe2PADN", inner: "#", last: ".]"} }

func (t *terraform) waits() bool { return t.open }

func (t *terraform) line(text string, _ scanned, _ *keeper) (kind, bool) {
	if text == "" || !t.open && classes[text[0]] == isLetter && text[0] < 0x80 && text[len(text)-1] != '.' && text[len(text)-1] != ']' && !starts(text, "Plan: ", "Apply ", "Destroy ") {
		return plain, false
	}
	bare := strings.TrimPrefix(strings.TrimPrefix(text, "│"), " ")
	switch {
	case strings.HasPrefix(text, "╷"):
		t.open = true
		return noise, true
	case strings.HasPrefix(text, "╵"):
		t.open = false
		return noise, true
	case t.open && strings.HasPrefix(bare, "Error: "):
		return fault, true
	case t.open && strings.HasPrefix(bare, "Warning: "):
		return warning, true
	case t.open && strings.HasPrefix(strings.TrimSpace(bare), "on ") && strings.Contains(bare, " line "):
		return fault, true
	case t.open && strings.HasPrefix(text, "│"):
		return detail, true
	case starts(text, "Plan: ", "Apply complete!", "Destroy complete!", "No changes."):
		return total, true
	case strings.HasPrefix(text, "  # ") && (strings.Contains(text, " will be ") || strings.Contains(text, " must be ") || strings.Contains(text, " has been ")):
		return sign, true
	case strings.HasSuffix(text, "]") && (strings.Contains(text, ": Refreshing state...") || strings.Contains(text, ": Still ") || strings.Contains(text, ": Read complete after ")),
		strings.HasSuffix(text, ": Creating..."), strings.HasSuffix(text, ": Reading..."):
		return noise, true
	}
	return plain, false
}
