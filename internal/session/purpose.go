package session

import (
	"slices"
	"strings"
)

// reasons are the first words of headings under which a plan says what it is for, rather than how it is done.
//
//nolint:gochecknoglobals // a table
var reasons = []string{
	"context", "why", "background", "motivation", "problem", "goal", "goals", "purpose", "objective", "rationale", "issue",
	"overview", "summary",
}

// announced is how many words a line before a plan has at most that only announces it: "Implement the following plan:".
const announced = 6

// PurposeOfPrompt is what a prompt is for, in its own words. If the prompt is a plan, it is the section "Context",
// "Why" or the like before the steps, or else the first section with a text. Any other prompt is returned whole.
func PurposeOfPrompt(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	parts := splitAtHeadings(prompt)
	above := parts[0].text
	if above != "" && (!strings.HasSuffix(above, ":") || len(strings.Fields(above)) > announced) {
		return prompt
	}
	at := slices.IndexFunc(parts, func(p section) bool { return p.reason && p.text != "" })
	if at < 0 {
		at = slices.IndexFunc(parts, func(p section) bool { return p.text != "" && p.text != above })
	}
	if at < 0 {
		return prompt
	}
	return parts[at].text
}

// FirstPurpose is what the first prompt of some turns is for that says something, and its index; -1 for none.
func FirstPurpose(turns []Turn) (string, int) {
	asked := slices.DeleteFunc(slices.Clone(turns), func(t Turn) bool {
		return t.Role != RoleHuman || t.Content == Scrubbed || IsMark(t.Content)
	})
	i := TitleTurn(asked)
	if i < 0 {
		return "", -1
	}
	return PurposeOfPrompt(asked[i].Content), asked[i].Index
}

// section is what stands under a heading.
type section struct {
	text   string
	reason bool
}

// splitAtHeadings parts a text at its headings; the first part has none. What stands under a reason's lesser headings
// is the reason's.
func splitAtHeadings(text string) []section {
	out, code, level := []section{{}}, false, 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			code = !code
		}
		last := &out[len(out)-1]
		title := strings.TrimLeft(trimmed, "#")
		depth := len(trimmed) - len(title)
		if code || depth == 0 || depth > 6 || !strings.HasPrefix(title, " ") || last.reason && depth > level {
			last.text += line
			continue
		}
		words := strings.Fields(strings.ToLower(strings.TrimLeft(title, " 0123456789.)*")))
		level, out = depth, append(out, section{reason: len(words) > 0 &&
			slices.Contains(reasons, strings.Trim(words[0], "*:—-?"))})
	}
	for i := range out {
		out[i].text = strings.TrimSpace(out[i].text)
	}
	return out
}
