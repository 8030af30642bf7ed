package transcript

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
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
		return claudeTyped(content.Str)
	}
	var kept []string
	if content.IsArray() {
		for _, block := range content.Array() {
			s := ""
			switch block.Get("type").Str {
			case "text":
				s = claudeTyped(block.Get("text").Str)
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

// claudeTyped is what a person typed of a text.
func claudeTyped(s string) string { return session.TypedByPerson(ClaudeCode{}.Name(), validText(s)) }

// startedCommand is the slash command of which a message tells, if it asks something of the agent.
func startedCommand(content gjson.Result) string {
	name := session.CommandName(ClaudeCode{}.Name(), joinTexts(content))
	if session.IsSetting(ClaudeCode{}.Name(), name) {
		return ""
	}
	return name
}

// claudeRefusal is a result that tells that a person refused a call, to the session or to a subagent, with what he
// said.
var claudeRefusal = lazy.Expr(`(?s)^(?:The user doesn't want to |Permission for this tool use was denied).*?[Tt]he user said:\s*(.*)$`)

// rejectionText is what the user wrote when refusing a tool call.
func rejectionText(block gjson.Result) string {
	if !block.Get("is_error").Bool() {
		return ""
	}
	m := claudeRefusal.FindStringSubmatch(joinTexts(block.Get("content")))
	if m == nil {
		return ""
	}
	said := claudeTyped(m[1])
	if strings.HasPrefix(said, "The user wants to clarify these questions.") { // who chose to chat about them
		return clarifiedAnswers(said)
	}
	return said
}

// clarifiedAnswers is what a person had answered of the agent's questions before he chose to chat about them.
func clarifiedAnswers(told string) string {
	_, list, _ := strings.Cut(told, "Questions asked:\n")
	var kept []string
	for _, one := range strings.Split("\n"+list, "\n- \"")[1:] {
		question, rest, _ := strings.Cut(one, "\"\n")
		answer, notes, _ := strings.Cut(rest, "User notes:")
		_, answer, _ = strings.Cut(answer, "Answer:")
		if s := strings.TrimSpace(strings.TrimSpace(answer) + "\n" + strings.TrimSpace(notes)); s != "" {
			kept = append(kept, formatAnswer(question, s))
		}
	}
	return strings.Join(kept, "\n\n")
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
