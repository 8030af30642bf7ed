package brief_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestLongHookWhileRebuilding asks, one hook after the other, for as long as the index is made anew.
func TestLongHookWhileRebuilding(t *testing.T) {
	p := newProject(t)
	for n := range 20 {
		words := ""
		for i := range 4000 {
			words += fmt.Sprintf(" word%d", (n*7919+i*31)%50000)
		}
		p.transcript(fmt.Sprintf("5b1f1c7e-0000-4000-8000-%012d", n+2), "src/jwt.go", "package src\n",
			fmt.Sprintf("Step %d of the leeway:%s", n, words))
	}
	p.Git("project", "rekal", "checkpoint")
	for name, before := range map[string]func(){"over an old index": func() {}, "from nothing": p.dropIndex} {
		t.Run(name, func(t *testing.T) {
			before()
			cmd := exec.Command("git", "rekal", "index")
			cmd.Dir, cmd.Env = p.At("project"), p.Environ()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			during, answers, longest := 0, 0, time.Duration(0)
			for {
				began := time.Now()
				out := p.bounded(startIn(p.At("project")))
				took := time.Since(began)
				select {
				case err := <-ended:
					if err != nil {
						t.Errorf("the rebuild failed: %v", err)
					}
					t.Logf("%d hooks during the rebuild, %d answered, the longest after %s", during, answers,
						longest.Round(time.Millisecond))
					if during == 0 {
						t.Error("no hook ended while the index was being made")
					}
					return
				default:
				}
				during, longest = during+1, max(longest, took)
				if out != "" {
					answers++
				}
			}
		})
	}
	if out := p.answer(map[string]string{"hook_event_name": "SessionStart"}); !strings.Contains(out, "last on main: ") {
		t.Errorf("afterwards it is told %q", out)
	}
}
