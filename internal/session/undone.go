package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Undone begins a turn that says that the person took back what stands before it: the last so many prompts that still
// held, with all behind them. The number stands behind a space.
const Undone = "[REDACTED:undone]"

// UndoneMark is the content of such a turn.
func UndoneMark(prompts int) string { return fmt.Sprintf("%s %d", Undone, prompts) }

// PromptsUndone is how many prompts a turn's content takes back; 0 where it is no such turn.
func PromptsUndone(content string) int {
	n, ok := strings.CutPrefix(content, Undone+" ")
	if !ok {
		return 0
	}
	prompts, err := strconv.Atoi(n)
	if err != nil || prompts < 0 {
		return 0
	}
	return prompts
}

// IsMark reports whether a turn's content is nobody's words, but says what became of a part of the session: Elsewhere
// or Undone.
func IsMark(content string) bool { return IsElsewhereMark(content) || PromptsUndone(content) > 0 }

// Span is turns of a session, from the index of the first to that of the last.
type Span struct{ First, Last int }

// UndoneSpans are the turns of a session that were taken back, the marks that say so among them, in order and apart.
func UndoneSpans(turns []Turn) []Span {
	var prompts []int // where those stand that still hold
	var spans []Span
	for i, t := range turns {
		n := PromptsUndone(t.Content)
		switch {
		case n > 0:
			first := i
			if keep := max(len(prompts)-n, 0); keep < len(prompts) {
				first, prompts = prompts[keep], prompts[:keep]
			}
			for len(spans) > 0 && spans[len(spans)-1].First >= turns[first].Index {
				spans = spans[:len(spans)-1]
			}
			spans = append(spans, Span{turns[first].Index, t.Index})
		case t.Role == RoleHuman && !IsElsewhereMark(t.Content):
			prompts = append(prompts, i)
		}
	}
	return spans
}

// InSpans reports whether a turn is in one of some spans.
func InSpans(spans []Span, turn int) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.First <= turn && turn <= s.Last })
}
