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

// step is a call of a tool. Which one that is depends on the agent; see program.call.
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

// named is the tool that ends as said, of those that are offered; else another name.
func named(tools []string, tail, other string) string {
	for _, t := range tools {
		if strings.HasSuffix(t, tail) {
			return t
		}
	}
	return other
}
