package agents

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program is an agent as it comes from npm: an entry of agents.json. Its texts have places that are filled in: {url} of
// the model, {repo} and {linked} for its worktrees, {prompt}, and {id} of a session.
type program struct {
	Name   string // as a source
	Bin    string
	Folder string // in the worktree: `git rekal init --mcp` takes it for a sign that the agent is used
	Env    []string
	Files  map[string]json.RawMessage // of the home folder: JSON, or a JSON string with another text
	Run    []string
	Resume []string // the last session of this folder; nil: it does so in a terminal alone
	// behind what `git rekal resume` runs, to answer one prompt and end; nil: By is another command, which does
	More   []string
	By     []string
	Tools  map[string]tool // by what a step does
	Hooks  bool            // the git that it runs runs hooks, which find its session
	Told   bool            // a hook tells it of what was before
	Starts bool            // but only as it starts
	Shell  bool            // it knows no MCP servers: it asks in its shell
	Notes  string          // where it keeps notes of a repository, below the home folder; "": it keeps none
	Unread bool            // it looks into them when a model wants to
	Late   bool            // it writes a session when its turn is over: behind the hook, which makes no checkpoint then
}

// tool is how an agent calls one of its tools. Its texts have places for what a step says.
type tool struct {
	Name, Namespace string
	Args            json.RawMessage
	Input           string // in place of Args
}

//go:embed agents.json
var agentsJSON []byte

func programs(t *testing.T) (out []program) {
	t.Helper()
	if err := json.Unmarshal(agentsJSON, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// fill fills in the places of some texts.
func fill(texts []string, places ...string) []string {
	with := strings.NewReplacer(places...)
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = with.Replace(t)
	}
	return out
}

// turn is what a person asks, and what the model does then: one call at a time, and a last word.
type turn struct {
	prompt string
	steps  []step
	word   string
}

// step is a call of a tool: write, run, read, edit or recall. It says what stands in the places of the tool, among them
// {write} and so on; files are absolute.
type step struct {
	tool   string
	places map[string]string
}

func runs(command string) step { return step{"run", map[string]string{"run": command}} }

// writes is a turn that writes a file of a few lines and commits it.
func writes(prompt, root, path, name string) turn {
	text := fmt.Sprintf("def %s(name):\n    \"\"\"Say %s to somebody.\"\"\"\n    return \"%s, \" + name\n", name, name,
		name)
	return turn{
		prompt: prompt,
		steps: []step{
			{"write", map[string]string{
				"write": filepath.Join(root, path), "text": text,
				"added": "+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+") + "\n",
			}},
			runs(fmt.Sprintf("git -C %s add -A && git -C %s commit -q -m 'Add %s'", root, root, path)),
		},
		word: "Done: " + name + " is there.",
	}
}

// call is a tool call as the model says it.
type call struct {
	id, name  string
	namespace string         // Codex's, of a tool of a server
	args      map[string]any // nil: input is what the tool takes
	input     string
}

func (c call) json() string {
	b, err := json.Marshal(c.args)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(b)
}

// call is how the agent calls a tool for a step. tools are those that it offers to the model.
func (p program) call(s step, tools []string) call {
	t := p.Tools[s.tool]
	if s.tool == "recall" {
		if i := slices.IndexFunc(tools, func(name string) bool { return strings.HasSuffix(name, "recall") }); i >= 0 {
			t.Name = cmp.Or(t.Name, tools[i])
		}
		t.Name, t.Args = cmp.Or(t.Name, "mcp__git-rekal__recall"), json.RawMessage(`{"query": "{recall}", "limit": 3}`)
	}
	var plain, escaped []string
	for _, place := range slices.Sorted(maps.Keys(s.places)) {
		text, _ := json.Marshal(s.places[place]) // a string
		plain, escaped = append(plain, "{"+place+"}", s.places[place]),
			append(escaped, "{"+place+"}", string(text[1:len(text)-1]))
	}
	c := call{name: t.Name, namespace: t.Namespace, input: fill([]string{t.Input}, plain...)[0]}
	if t.Args == nil {
		return c
	}
	if err := json.Unmarshal([]byte(fill([]string{string(t.Args)}, escaped...)[0]), &c.args); err != nil {
		panic(err) // agents.json
	}
	return c
}

// TestCalls checks that each agent of agents.json can write a file and run a command, with texts that JSON has to
// escape.
func TestCalls(t *testing.T) {
	for _, p := range programs(t) {
		for _, s := range writes("", `/a"b`, "hello.py", "hello").steps {
			c := p.call(s, nil)
			if said := fmt.Sprint(c.args, c.input); !strings.Contains(said, s.places["write"]+s.places["run"]) ||
				strings.Contains(said, "{") {
				t.Errorf("%s calls %q with %s", p.Name, c.name, said)
			}
		}
		if c := p.call(step{"recall", map[string]string{"recall": "hello"}}, []string{"x__recall"}); !p.Shell &&
			!strings.HasSuffix(c.name, "recall") {
			t.Errorf("%s recalls with %q", p.Name, c.name)
		}
	}
}
