package brief

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Event is one call of an agent's hook.
type Event struct {
	Name        string // as the agent calls it, which its answer repeats
	Moment      Moment
	Session     string // the agent's ID of the running session
	Transcript  string // its file; "" where the agent names none
	Dir         string // working folder
	Compacted   bool   // what the session was told before is gone from its context
	Resumed     bool   // it goes on in a new process
	Prompt      string // as the person typed it
	HookContext string // what hooks have added to it already
	File, Old   string // before an edit: the file, and what it replaces there
	Command     string // that failed
	Error       string // what it printed
}

// Moment is when an agent asks.
type Moment int

// The moments of a session at which an agent takes context.
const (
	Never Moment = iota
	AtStart
	AtPrompt
	BeforeEdit
	AfterFailure
)

// Agents are the agents whose hooks are answered, by their names as a source.
func Agents() []string {
	return []string{"claude-code", "codex", "gemini-cli", copilot, "qwen-code", "droid"}
}

// copilot is the one whose hooks answer in another form.
const copilot = "copilot-cli"

// Read reads what a hook was given on stdin; ok is whether that is an event that is answered. All agents give the same
// fields, and call some moments otherwise.
func Read(raw []byte) (e Event, ok bool) {
	if !gjson.ValidBytes(raw) {
		return e, false
	}
	in := gjson.ParseBytes(raw)
	e = Event{
		Name: in.Get("hook_event_name").Str, Session: in.Get("session_id").Str, Transcript: in.Get("transcript_path").Str,
		Dir: in.Get("cwd").Str,
	}
	e.Prompt, e.HookContext = splitHookContext(in.Get("prompt").Str)
	switch e.Name {
	case "SessionStart":
		e.Resumed = in.Get("source").Str == "resume"
		e.Moment, e.Compacted = AtStart, slices.Contains([]string{"compact", "clear"}, in.Get("source").Str)
	case "UserPromptSubmit", "BeforeAgent":
		e.Moment = AtPrompt
	case "PreToolUse":
		e.Moment = BeforeEdit
		e.File, e.Old = in.Get("tool_input.file_path").Str, in.Get("tool_input.old_string").Str
		if e.Old == "" {
			e.Old = in.Get("tool_input.edits.0.old_string").Str
		}
		return e, e.File != "" && e.Old != ""
	case "PostToolUseFailure":
		e.Moment, e.Command, e.Error = AfterFailure, in.Get("tool_input.command").Str, in.Get("error").Str
		return e, e.Command != "" && e.Error != "" && !in.Get("is_interrupt").Bool()
	}
	return e, e.Moment != Never
}

// splitHookContext parts a prompt into what a person typed and what hooks added: Gemini CLI passes on both.
func splitHookContext(prompt string) (typed, added string) {
	const begin, end = "<hook_context>", "</hook_context>"
	for {
		before, rest, ok := strings.Cut(prompt, begin)
		inside, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return strings.TrimSpace(prompt), added
		}
		prompt, added = before+after, added+inside
	}
}

// Answer is a text as the answer of an agent's hook: context for it, and no decision about anything.
func (e Event) Answer(agent, text string) ([]byte, error) {
	type specific struct {
		Name    string `json:"hookEventName,omitempty"`
		Context string `json:"additionalContext"`
	}
	if agent == copilot {
		return json.Marshal(specific{Context: text})
	}
	return json.Marshal(map[string]specific{"hookSpecificOutput": {e.Name, text}})
}

// compactions are in transcripts of Claude Code and Copilot CLI behind what a compaction took out of the context.
func compactions() []string {
	return []string{`"compact_boundary"`, `"session.compaction_complete"`}
}

// hasForgotten reports whether a session was compacted, and was not told since what it did before.
func (e Event) hasForgotten(transcript []byte) bool {
	if !e.Resumed {
		return e.Compacted
	}
	return slices.ContainsFunc(compactions(), func(mark string) bool {
		return bytes.Contains(transcript,
			[]byte(mark))
	}) && !e.SeenIn(transcript)(ownHead[len("<git-rekal> "):])
}

// SeenIn returns Source.Seen, given the end of the session's transcript. A name was seen if it stands in the transcript
// since the last compaction (an answer of recall, an earlier brief), or in what hooks added to the prompt.
func (e Event) SeenIn(transcript []byte) func(name string) bool {
	if e.Compacted {
		transcript = nil
	}
	if e.Resumed {
		transcript = withoutDropped(transcript)
	}
	for _, mark := range compactions() {
		transcript = transcript[max(0, bytes.LastIndex(transcript, []byte(mark))):]
	}
	return func(name string) bool {
		return bytes.Contains(transcript, []byte(name)) || strings.Contains(e.HookContext, name)
	}
}

// withoutDropped is a transcript without the lines that an agent drops from the context when it resumes a session:
// Copilot CLI drops answers of its hooks that no prompt holds, Gemini CLI all that hooks added.
func withoutDropped(transcript []byte) (out []byte) {
	for line := range bytes.Lines(transcript) {
		if !bytes.HasPrefix(line, []byte(`{"type":"hook.end"`)) && !bytes.Contains(line, []byte("<hook_context>")) {
			out = append(out, line...)
		}
	}
	return out
}
