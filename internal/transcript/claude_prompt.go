package transcript

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// isBareCommand reports whether a queued prompt is a slash command without arguments.
func isBareCommand(s string) bool {
	return strings.HasPrefix(s, "/") && !strings.ContainsAny(s[1:], "/ \t\n")
}

// mayBeByPerson reports whether a record's marks allow that a person wrote it. promptSource
// "sdk" alone says nothing: the desktop application and the editors use the SDK too.
func mayBeByPerson(origin []byte, source string) bool {
	kind := stringOf([]byte(gjson.GetBytes(origin, "kind").Raw))
	if kind != "" {
		return kind == "human"
	}
	return source != "system"
}

// typedPrompts joins what was typed in a message's content: a string, or the text blocks of
// an array. A block that repeats an earlier one is taken once.
func typedPrompts(content gjson.Result) string {
	if content.Type == gjson.String {
		return session.TypedByPerson(validText(content.Str))
	}
	var kept []string
	if content.IsArray() {
		for _, block := range content.Array() {
			s := ""
			switch block.Get("type").Str {
			case "text":
				s = session.TypedByPerson(validText(block.Get("text").Str))
			case "tool_result":
				s = rejectionText(block)
			}
			if s != "" && !slices.Contains(kept, s) {
				kept = append(kept, s)
			}
		}
	}
	return strings.Join(kept, "\n\n")
}

// rejectionText is what the user wrote when refusing a tool call.
func rejectionText(block gjson.Result) string {
	if !block.Get("is_error").Bool() {
		return ""
	}
	s := joinTexts(block.Get("content"))
	if !strings.HasPrefix(s, "The user doesn't want to proceed") {
		return ""
	}
	_, said, _ := strings.Cut(s, "the user said:")
	return session.TypedByPerson(validText(said))
}

// chosenAnswers is what the user chose or wrote when the agent asked: each question with its
// answer, since neither means much alone. raw is the record's toolUseResult.
func chosenAnswers(raw []byte) string {
	said := gjson.ParseBytes(raw)
	if !said.Get("questions").IsArray() || !said.Get("answers").IsObject() {
		return ""
	}
	notes := said.Get("annotations").Map() // beside the answers, by their questions
	var kept []string
	said.Get("answers").ForEach(func(q, a gjson.Result) bool {
		if answer := strings.TrimSpace(validText(a.String())); answer != "" {
			s := formatAnswer(validText(q.Str), answer)
			if note := strings.TrimSpace(validText(notes[q.Str].Get("notes").Str)); note != "" {
				s += "\n" + note
			}
			kept = append(kept, s)
		}
		return true
	})
	return strings.Join(kept, "\n\n")
}
