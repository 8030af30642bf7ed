package hooks_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/hooks"
)

// Setup finds the binary's line by its beginning, and sh must read every script.
func TestHooks(t *testing.T) {
	for _, name := range append(hooks.Names(), hooks.ForLFS) {
		t.Run(name, func(t *testing.T) {
			text := hooks.Script(name, "'/x'", "..")
			if !strings.HasPrefix(text, "#!/bin/sh\n") || !strings.HasSuffix(text, "\n") || strings.Contains(text, "{{") {
				t.Error("not a script of whole lines for sh")
			}
			if strings.Count(text, "\n"+hooks.BinaryLine+"'/x'\n") != 1 {
				t.Error("the line of the binary is not there exactly once")
			}
			c := exec.CommandContext(t.Context(), "sh", "-n")
			c.Stdin = strings.NewReader(text)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("sh -n: %v\n%s", err, out)
			}
		})
	}
}
