package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Antigravity reads the sessions of Google's Antigravity (CLI and editors), as they were in 2026:
//
//	~/.gemini/<program>/brain/<session ID>/.system_generated/logs/transcript_full.jsonl
//	~/.gemini/<program>/brain/<session ID>/.system_generated/logs/transcript.jsonl   long texts are cut, and arguments
//	                                                                                 are JSON in a string
//	~/.gemini/antigravity-cli/history.jsonl                                           the folder of a session of the CLI
//
// A line is a step. Results follow their calls in the same order, and name none. The databases beside hold protobuf
// without a schema, and are not read.
type Antigravity struct{}

// Name is the source of the sessions.
func (Antigravity) Name() string { return "antigravity" }

// Where a session's transcript lies below its folder.
const (
	antigravityLogs = ".system_generated/logs"
	antigravityFull = "transcript_full.jsonl"
	antigravityCut  = "transcript.jsonl"
)

// Locate lists the sessions whose folder is one of the repository, and those that edited a file there.
func (Antigravity) Locate(ctx context.Context, env Env) (Found, error) {
	l := newFinder(env, Antigravity{}, antigravityTools)
	home := env.homeFolder("", ".gemini")
	if home == "" {
		return l.result(ctx)
	}
	for _, program := range [...]string{"antigravity", "antigravity-cli", "antigravity-ide"} {
		store := filepath.Join(home, program, "brain")
		entries := l.list(store)
		if len(entries) == 0 {
			continue
		}
		folders := antigravityFolders(filepath.Join(home, program, "history.jsonl"))
		for _, e := range entries {
			if f := antigravityFile(filepath.Join(store, e.Name())); f.Path != "" && ctx.Err() == nil {
				f.Cwd = folders[e.Name()]
				l.takeBegun(f, cmp.Or(f.Cwd, unknownFolder))
			}
		}
	}
	return l.result(ctx)
}

// antigravityFolders are the folders in which sessions were begun, by ID.
func antigravityFolders(path string) map[string]string {
	raw, _ := readBounded(path, maxDocument) // where there is none, nobody says
	folders := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		at := gjson.GetMany(line, "conversationId", "workspace")
		folders[at[0].Str] = validText(at[1].Str)
	}
	return folders
}

// antigravityFile is the transcript in a session's folder: the one that holds more. The full one may begin later than
// the other.
func antigravityFile(dir string) (best File) {
	for _, name := range [...]string{antigravityFull, antigravityCut} {
		f := File{Path: filepath.Join(dir, antigravityLogs, name), NativeID: ledgerName(filepath.Base(dir))}
		if (&finder{}).stat(&f) && f.Size > best.Size {
			best = f
		}
	}
	return best
}

// antigravityDecoder is one call of Decode.
type antigravityDecoder struct {
	decoder
	calls     []string     // IDs of those of the last answer that have no result yet
	asked     string       // the call that asked the person something
	questions gjson.Result // what
}

// Decode reads the steps of one session.
func (a Antigravity) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	opt.Head = nil // each step is of one thing
	d := antigravityDecoder{decoder: newFileDecoder(a.Name(), opt)}
	return d.readTyped(ctx, r, d.wants, d.step)
}

// antigravitySteps are the steps by who speaks in them. Any other step is the result of a tool.
//
//nolint:gochecknoglobals // a table
var antigravitySteps = records{
	"USER_INPUT": byPerson, "PLANNER_RESPONSE": byAgent, "ERROR_MESSAGE": aboutSession, "CONVERSATION_HISTORY": byProgram,
	"KNOWLEDGE_ARTIFACTS": byProgram, "EPHEMERAL_MESSAGE": byProgram, "SYSTEM_MESSAGE": byProgram, "CHECKPOINT": byProgram,
}

func (*antigravityDecoder) wants(kind string) bool {
	who, known := antigravitySteps[kind]
	return !known || who != byProgram
}

func (d *antigravityDecoder) step(kind string, rec gjson.Result) {
	d.setTime(parseTime([]byte(rec.Get("created_at").Raw)))
	said := rec.Get("content").Str
	switch {
	case kind == "USER_INPUT":
		d.endCalls(false)
		d.prompt(said)
	case kind == "PLANNER_RESPONSE":
		d.endCalls(false)
		d.addAnswer(d.part, said)
		for i, c := range rec.Get("tool_calls").Array() {
			d.call(fmt.Sprintf("%s.%d", rec.Get("step_index").Raw, i), c.Get("name").Str, c.Get("args"))
		}
	case kind == "ERROR_MESSAGE": // the calls could not be carried out
		d.endCalls(true)
	case rec.Get("source").Str == "MODEL":
		d.result(rec.Get("status").Str == "ERROR", said)
	default:
		d.skipped.unknown(kind)
	}
}

// endCalls ends what has no result by now.
func (d *antigravityDecoder) endCalls(failed bool) {
	for _, id := range d.calls {
		if failed {
			d.finishCall(d.part, id, true)
		}
	}
	d.calls = nil
	d.stopWaiting()
}

// antigravityModel is the model that the person chose.
var antigravityModel = lazy.Expr("setting `Model Selection` from .*? to (.+?)\\. No need to comment")

// prompt takes what a person typed; the program tells the model more around it.
func (d *antigravityDecoder) prompt(s string) {
	if m := antigravityModel.FindStringSubmatch(s); m != nil {
		d.part.model.noteModel(m[1], d.start)
	}
	if _, typed, ok := strings.Cut(s, "<USER_REQUEST>"); ok {
		s = typed[:max(0, strings.LastIndex(typed, "</USER_REQUEST>"))]
	}
	d.addPrompt(d.part, s)
}

// antigravityTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var antigravityTools = toolForms{
	acts: map[string]string{
		"write_to_file": session.ActEdit, "replace_file_content": session.ActEdit,
		"multi_replace_file_content": session.ActEdit,
		"view_file":                  session.ActRead, "list_dir": session.ActRead, "grep_search": session.ActRead,
		"find_by_name": session.ActRead,
		"run_command":  session.ActRun,
	},
	paths:   []string{"TargetFile", "AbsolutePath", "DirectoryPath", "SearchPath", "SearchDirectory"},
	content: "CodeContent", old: "TargetContent", now: "ReplacementContent",
	editNeedsResult: true,
}

func (d *antigravityDecoder) call(id, name string, args gjson.Result) {
	args = antigravityArguments(args)
	d.enterFirstFolder(args)
	d.addCall(d.part, antigravityTools.parse(id, name, args))
	d.calls = append(d.calls, id)
	if name == "ask_question" {
		d.asked, d.questions = id, args.Get("questions")
		d.awaitResult(id)
	}
}

// antigravityArguments are a call's arguments as other agents name them. In the cut transcript each is JSON in a
// string, and no JSON where it was cut.
func antigravityArguments(args gjson.Result) gjson.Result {
	members, inStrings := map[string]json.RawMessage{}, false
	for _, v := range args.Map() {
		if v.Type != gjson.String {
			inStrings = false
			break
		}
		inStrings = inStrings || strings.HasPrefix(v.Str, `"`)
	}
	args.ForEach(func(name, v gjson.Result) bool {
		raw := v.Raw
		if inStrings && gjson.Valid(v.Str) {
			raw = v.Str
		}
		switch name.Str {
		case "CommandLine":
			members["command"] = json.RawMessage(raw)
		case "ReplacementChunks":
			members["edits"] = json.RawMessage(raw)
		default:
			members[name.Str] = json.RawMessage(raw)
		}
		return true
	})
	out, err := json.Marshal(members)
	if err != nil {
		return gjson.Result{}
	}
	return gjson.ParseBytes(out)
}

// enterFirstFolder settles where a session works of which nothing else tells: where it ran a command, or edited a file
// that is none of its notes.
func (d *antigravityDecoder) enterFirstFolder(args gjson.Result) {
	dir := args.Get("Cwd").Str
	if file := args.Get("TargetFile").Str; dir == "" && file != "" && !strings.Contains(slashPath(file), "/.gemini/") {
		dir = slashPath(file)[:max(0, strings.LastIndex(slashPath(file), "/"))]
	}
	if d.part.cwd == "" && dir != "" {
		d.enterFolder(d.part, validText(dir))
	}
}

// antigravityHead is what stands before what a tool says, and antigravityStatus how a command ended, up to what it
// printed.
var (
	antigravityHead   = lazy.Expr(`^Created At: [^\n]*\n(?:Completed At: [^\n]*\n)?`)
	antigravityStatus = lazy.Expr(`^\s*The command (?:completed successfully|(?:failed with exit code:|exited with code) (-?\d{1,10}))\.?\s*(?:Output|Stdout):[ \t]*\n[ \t]*`)
)

// result takes the result of the oldest call that has none. A command that goes on in the background has no end here.
func (d *antigravityDecoder) result(failed bool, said string) {
	if len(d.calls) == 0 {
		return
	}
	id := d.calls[0]
	d.calls = slices.Delete(d.calls, 0, 1)
	if head := antigravityHead.FindStringIndex(said); head != nil {
		said = said[head[1]:]
	}
	if d.part.isCommand(id) {
		status := antigravityStatus.FindStringIndex(said)
		exit, text := extractStatus(said, antigravityStatus)
		if status == nil {
			d.finishCall(d.part, id, failed)
			return
		}
		d.endCall(d.part, id, strings.TrimSpace(text), exit, failed || exit != nil && *exit != 0)
		return
	}
	d.finishCall(d.part, id, failed || strings.HasPrefix(said, "Encountered error in step execution"))
	if id == d.asked {
		d.answers(said)
	}
}

// antigravityAnswer is the beginning of an answer to one of the agent's questions.
var antigravityAnswer = lazy.Expr(`(?m)^A(\d{1,3}): `)

// answers takes what a person answered to the agent's questions.
func (d *antigravityDecoder) answers(said string) {
	var kept []string
	starts := antigravityAnswer.FindAllStringSubmatchIndex(said, -1)
	for i, at := range starts {
		end := len(said)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		question := d.questions.Get(fmt.Sprintf("%d.question", *parseNumber(said[at[2]:at[3]])-1)).Str
		if answer := strings.TrimSpace(said[at[1]:end]); answer != "" {
			kept = append(kept, formatAnswer(question, answer))
		}
	}
	d.addPrompt(d.part, strings.Join(kept, "\n\n"))
}

//
//nolint:unparam // no record names its session; the others' do
func (Antigravity) recognises(rec gjson.Result) (File, bool) {
	return File{}, rec.Get("step_index").Exists() && rec.Get("source").Exists() && rec.Get("created_at").Exists()
}
