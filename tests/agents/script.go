package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// turn is what a person asks, and what the model does then: one call at a time, and a last word.
type turn struct {
	prompt string
	steps  []step
	word   string
}

// step is a call of a tool. Which one that is depends on the agent; see dialect.
type step struct {
	write, text string // a file, absolute, and what it is to hold
	run         string // a command
	recall      string // words to look for
	read, edit  string // a file, absolute; edit puts text in the place of old
	old         string
}

// writes is a turn that writes a file of a few lines and commits it.
func writes(prompt, root, path, name string) turn {
	return turn{
		prompt: prompt,
		steps: []step{
			{write: filepath.Join(root, path), text: fmt.Sprintf("def %s(name):\n    \"\"\"Say %s to somebody.\"\"\"\n    return \"%s, \" + name\n", name, name, name)},
			{run: fmt.Sprintf("git -C %s add -A && git -C %s commit -q -m 'Add %s'", root, root, path)},
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

// dialect says how an agent calls its tools. tools are those that it offers to the model.
type dialect func(s step, tools []string) call

// named is the tool that ends as said, of those that are offered; else another name.
func named(tools []string, tail, other string) string {
	for _, t := range tools {
		if strings.HasSuffix(t, tail) {
			return t
		}
	}
	return other
}

func recalls(s step, tools []string) call {
	return call{name: named(tools, "recall", "mcp__git-rekal__recall"), args: map[string]any{"query": s.recall, "limit": 3}}
}

func claudeTools(s step, tools []string) call {
	switch {
	case s.write != "":
		return call{name: "Write", args: map[string]any{"file_path": s.write, "content": s.text}}
	case s.run != "":
		return call{name: "Bash", args: map[string]any{"command": s.run, "description": "Commit"}}
	case s.read != "":
		return call{name: "Read", args: map[string]any{"file_path": s.read}}
	case s.edit != "":
		return call{name: "Edit", args: map[string]any{"file_path": s.edit, "old_string": s.old, "new_string": s.text}}
	}
	return recalls(s, tools)
}

func geminiTools(s step, tools []string) call {
	switch {
	case s.write != "":
		return call{name: "write_file", args: map[string]any{"file_path": s.write, "content": s.text}}
	case s.run != "":
		return call{name: "run_shell_command", args: map[string]any{"command": s.run, "description": "Commit"}}
	}
	return recalls(s, tools)
}

func opencodeTools(s step, tools []string) call {
	switch {
	case s.write != "":
		return call{name: "write", args: map[string]any{"filePath": s.write, "content": s.text}}
	case s.run != "":
		return call{name: "bash", args: map[string]any{"command": s.run, "description": "Commit"}}
	}
	return recalls(s, tools)
}

func qwenTools(s step, tools []string) call {
	if s.run != "" {
		return call{name: "run_shell_command", args: map[string]any{"command": s.run, "description": "Commit", "is_background": false}}
	}
	return geminiTools(s, tools)
}

func droidTools(s step, tools []string) call {
	switch {
	case s.write != "":
		return call{name: "Create", args: map[string]any{"file_path": s.write, "content": s.text}}
	case s.run != "":
		return call{name: "Execute", args: map[string]any{"command": s.run, "summary": "Commit", "timeout": 60, "riskLevel": "low", "riskLevelReason": "local"}}
	}
	return call{name: "git-rekal___recall", args: recalls(s, tools).args}
}

func continueTools(s step, _ []string) call {
	if s.write != "" {
		return call{name: "Write", args: map[string]any{"filepath": s.write, "content": s.text}}
	}
	return call{name: "Bash", args: map[string]any{"command": s.run}}
}

func piTools(s step, _ []string) call {
	if s.write != "" {
		return call{name: "write", args: map[string]any{"path": s.write, "content": s.text}}
	}
	return call{name: "bash", args: map[string]any{"command": s.run}}
}

func clineTools(s step, _ []string) call {
	if s.write != "" {
		return call{name: "editor", args: map[string]any{"path": s.write, "new_text": s.text}}
	}
	return call{name: "run_commands", args: map[string]any{"commands": []string{s.run}}}
}

func copilotTools(s step, tools []string) call {
	switch {
	case s.write != "":
		return call{name: "create", args: map[string]any{"path": s.write, "file_text": s.text}}
	case s.run != "":
		return call{name: "bash", args: map[string]any{"command": s.run, "description": "Commit"}}
	}
	return recalls(s, tools)
}

func codexTools(s step, tools []string) call {
	switch {
	case s.write != "":
		patch := "*** Begin Patch\n*** Add File: " + s.write + "\n"
		for line := range strings.Lines(s.text) {
			patch += "+" + line
		}
		return call{name: "apply_patch", input: patch + "*** End Patch"}
	case s.run != "":
		return call{name: "exec_command", args: map[string]any{"cmd": s.run}}
	}
	c := recalls(s, tools)
	c.name, c.namespace = "recall", "mcp__git_rekal"
	return c
}
