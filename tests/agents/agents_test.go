package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestCalls checks that each agent of agents.json can write a file and run a command, with texts that JSON has to escape.
func TestCalls(t *testing.T) {
	all, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		for _, s := range []step{{write: "/a.py", text: "say \"hello\"\n"}, {run: `git commit -m "Add it"`}} {
			c := p.call(s, nil)
			if said := fmt.Sprint(c.args, c.input); !strings.Contains(said, s.write+s.run) || strings.Contains(said, "{") {
				t.Errorf("%s calls %q with %s", p.Name, c.name, said)
			}
		}
		if c := p.call(step{recall: "hello"}, []string{"x__recall"}); !p.Shell && !strings.HasSuffix(c.name, "recall") {
			t.Errorf("%s recalls with %q", p.Name, c.name)
		}
	}
}
