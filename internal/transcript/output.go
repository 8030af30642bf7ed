package transcript

import (
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/command"
	"github.com/git-rekal/git-rekal/internal/failure"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Output is what a command printed that an agent ran in its shell, as the agent was told.
type Output struct {
	Call    string    // the agent's ID of the call
	Turn    int       // as session.ToolCall
	Command string    // whole, at most 64 KB
	Dir     string    // where it ran, as Edit.Path: "." for the root of a work tree
	Text    string    // whole, with nothing of the agent's around it
	At      time.Time // when the result was written
	Exit    *int      // its status; nil where nobody said
	Failed  bool
}

// outputsRead is the outputs of one session while it is read; empty unless the caller asked for outputs.
type outputsRead struct {
	pending map[string]Output // by call, until the result is there
	at      []int64           // offsets of the results
}

// awaitOutput notes a command whose output is to come. A read that ends before it ends before the call.
func (d *decoder) awaitOutput(p *part, id string, c session.ToolCall) {
	if !d.opt.Outputs || c.Act != session.ActRun || id == "" || c.Cmd == "" {
		return
	}
	if p.heard.pending == nil {
		p.heard.pending = map[string]Output{}
	}
	p.heard.pending[id] = Output{Call: id, Turn: c.Turn, Command: c.Cmd, Dir: strings.Clone(d.places.toolPath(".", p.cwd))}
	d.awaitResult(id)
}

// isCommand reports whether a call ran a command.
func (p *part) isCommand(id string) bool {
	calls := p.calls[id]
	return len(calls) > 0 && p.ToolCalls[calls[0]].Act == session.ActRun
}

// addOutput takes how a command ended, which commits it made, and its output where that is asked for.
func (d *decoder) addOutput(p *part, id, text string, exit *int, failed bool) {
	d.addCommits(p, id, text)
	if p.isCommand(id) {
		noteEnd(&p.ToolCalls[p.calls[id][0]], text, exit, failed)
	}
	o, ok := p.heard.pending[id]
	if !ok {
		return
	}
	delete(p.heard.pending, id)
	delete(d.open, id)
	o.Text, o.Exit, o.At, o.Failed = strings.Clone(validText(text)), exit, d.ts, failed || exit != nil && *exit != 0
	p.Outputs, p.heard.at = append(p.Outputs, o), append(p.heard.at, d.start)
}

// noteEnd notes how a command ended, and the terms of its error, also of one that a pipe hid.
func noteEnd(c *session.ToolCall, text string, exit *int, failed bool) {
	if exit != nil {
		c.Exit = *exit
	}
	if failed = failed || c.Exit != 0; failed || command.Hides(c.Cmd) {
		c.Terms = failure.Terms(validText(text), failed)
	}
}

// claudeStatus is what Claude Code puts before the output of a command that failed.
var claudeStatus = lazy.Expr(`^(?:Error: )?Exit code (\d{1,3})(?:\n|$)`)

// claudeNeverRan reports whether the result of a call that failed says that a person or the program forbade it. One
// that was interrupted may have run for long.
func claudeNeverRan(result string) bool {
	return beginsWithAny(result, "The user doesn't want to", "Permission for this tool use was denied", "<tool_use_error>")
}

// claudeOutput takes apart what a result says of a command.
func claudeOutput(text string, failed bool) (*int, string) {
	switch {
	case !failed:
		return nil, text
	case claudeNeverRan(text), beginsWithAny(text, "[Request interrupted"):
		return nil, ""
	}
	return extractStatus(text, claudeStatus)
}

// codexStatus is the status among the lines that Codex puts before an output.
var codexStatus = lazy.Expr(`(?:^|\n)(?:Exit code: |Process exited with code )(-?\d{1,10})(?:\n|$)`)

// codexHead is how long these lines are at most, in bytes.
const codexHead = 512

// addOutput takes a command's output: behind lines about it, or (in older versions) in an object.
func (d *codexDecoder) addOutput(id string, out gjson.Result, given string) {
	if len(d.part.calls[id]) > 0 && !d.part.isCommand(id) {
		return
	}
	text := given
	if out.IsArray() {
		text = joinTexts(out)
	}
	var exit *int
	if of := gjson.Parse(given); out.Type == gjson.String && strings.HasPrefix(given, "{") && gjson.Valid(given) &&
		of.Get("output").Type == gjson.String {
		text = of.Get("output").Str
		exit = exitOf(of.Get("metadata.exit_code"))
	}
	if i := strings.Index(text[:min(len(text), codexHead)], "Output:\n"); i >= 0 && (i == 0 || text[i-1] == '\n') {
		exit, _ = extractStatus(text[:i], codexStatus)
		text = text[i+len("Output:\n"):]
	}
	d.decoder.addOutput(d.part, id, text, exit, false)
}

// copilotEnd is the line that Copilot puts behind an output: with the status, or saying that the command runs on.
var copilotEnd = lazy.Expr(`(?:^|\n)<(?:(?:shellId: [^\n>]* completed|exited) with exit code (-?\d{1,10})|command (?:with shellId|started in)[^\n]*)>$`)

// addOutput takes a command's output: before a line about its end.
func (d *copilotDecoder) addOutput(p *part, id string, data gjson.Result) {
	exit, text := extractStatus(strings.TrimRight(data.Get("result.content").Str, "\n"), copilotEnd)
	if exit == nil {
		exit = exitOf(data.Get("shellExecution.exitCode"))
	}
	d.decoder.addOutput(p, id, text, exit, !data.Get("success").Bool())
}

// geminiResult is what Gemini tells of a command: the output among lines about it, the status where it failed; earlier
// versions told more. What has another form, as that a person forbade it, holds no output.
var geminiResult = lazy.Expr(`(?s)(?:^|\n)(?:Output|Stdout): (.*?)((?:\n(?:Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*)*)(?:\n</untrusted_context>)?\s*$`)

// geminiExit is the status among these lines.
var geminiExit = lazy.Expr(`\nExit Code: (-?\d{1,10})`)

// geminiTold is the result of a call, as the model got it.
func geminiTold(call gjson.Result) string {
	return call.Get("result.0.functionResponse.response.output").Str
}

// output is what a command printed.
func (d *geminiDecoder) output(id string, call gjson.Result) (exit *int, text string) {
	if !d.part.isCommand(id) {
		return nil, ""
	}
	if m := geminiResult.FindStringSubmatch(geminiTold(call)); m != nil {
		text = m[1]
		if about := geminiExit.FindStringSubmatch(m[2]); about != nil {
			exit = parseNumber(about[1])
		}
	}
	if text == "(empty)" {
		text = ""
	}
	return exit, text
}

// openCodeNotes is what OpenCode puts around an output that it cut or ended.
var openCodeNotes = lazy.Expr(`(?s)^(?:\.\.\.output truncated\.\.\.\n\nFull output saved to: [^\n]*\n\n|\(no output\)$)|` +
	`\n\n(?:<(?:bash|shell)_metadata>.*|The tool call succeeded but the output was truncated\. Full output saved to: [^\n]*\n[^\n]*)$`)

// exitOf is a status that a record says; nil where it says none.
func exitOf(code gjson.Result) *int {
	if code.Type != gjson.Number {
		return nil
	}
	n := int(code.Int())
	return &n
}

// parseNumber reads a number; nil where a text is none.
func parseNumber(text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	return &n
}

// extractStatus takes the status that an expression finds out of what a command printed.
func extractStatus(text string, expr *lazy.Regexp) (exit *int, rest string) {
	m := expr.FindStringSubmatchIndex(text)
	if m == nil {
		return nil, text
	}
	if m[2] >= 0 {
		exit = parseNumber(text[m[2]:m[3]])
	}
	return exit, text[:m[0]] + text[m[1]:]
}
