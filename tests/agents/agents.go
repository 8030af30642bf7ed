package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"path/filepath"
	"strings"
)

// program is an agent as it comes from npm: an entry of agents.json. Its texts have places that are filled in: {url} of the model, {repo} and
// {linked} for its worktrees, {prompt}, and {id} of a session.
type program struct {
	Name   string // as a source
	Bin    string
	Folder string // in the worktree: `git rekal init --mcp` takes it for a sign that the agent is used
	Env    []string
	Files  map[string]json.RawMessage // of the home folder: JSON, or a JSON string with another text
	Run    []string
	Resume []string // the last session of this folder; nil: it does so in a terminal alone
	More   []string // behind what `git rekal resume` runs, to answer one prompt and end; nil: By is another command, which does
	By     []string
	Tools  map[string]tool // by the field of a step: write, run, read, edit, recall
	Hooks  bool            // the git that it runs runs hooks, which find its session
	Told   bool            // a hook tells it of what was before
	Starts bool            // but only as it starts
	Shell  bool            // it knows no MCP servers: it asks in its shell
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

func programs() (out []program, err error) { return out, json.Unmarshal(agentsJSON, &out) }

// fill fills in the places of some texts.
func fill(texts []string, places ...string) []string {
	with := strings.NewReplacer(places...)
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = with.Replace(t)
	}
	return out
}

// call is how the agent calls a tool for a step. tools are those that it offers to the model.
func (p program) call(s step, tools []string) call {
	added := ""
	for line := range strings.Lines(s.text) {
		added += "+" + line
	}
	places := []string{"{write}", s.write, "{text}", s.text, "{added}", added, "{run}", s.run, "{read}", s.read, "{edit}", s.edit, "{old}", s.old, "{recall}", s.recall}
	var t tool
	switch {
	case s.write != "":
		t = p.Tools["write"]
	case s.run != "":
		t = p.Tools["run"]
	case s.read != "":
		t = p.Tools["read"]
	case s.edit != "":
		t = p.Tools["edit"]
	default:
		t = p.Tools["recall"]
		t.Name, t.Args = cmp.Or(t.Name, named(tools, "recall", "mcp__git-rekal__recall")), json.RawMessage(`{"query": "{recall}", "limit": 3}`)
	}
	c := call{name: t.Name, namespace: t.Namespace, input: fill([]string{t.Input}, places...)[0]}
	if t.Args == nil {
		return c
	}
	for i := 1; i < len(places); i += 2 {
		text, _ := json.Marshal(places[i]) // a string
		places[i] = string(text[1 : len(text)-1])
	}
	if err := json.Unmarshal([]byte(fill([]string{string(t.Args)}, places...)[0]), &c.args); err != nil {
		panic(err) // agents.json
	}
	return c
}

// homeFiles are the files of the home folder, by their paths in it.
func (p program) homeFiles(url, repo, linked string) (map[string]string, error) {
	out := map[string]string{}
	for path, raw := range p.Files {
		text := string(raw)
		if raw[0] == '"' {
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, err
			}
		}
		out[filepath.FromSlash(path)] = fill([]string{text}, "{url}", url, "{repo}", repo, "{linked}", linked)[0]
	}
	return out, nil
}
