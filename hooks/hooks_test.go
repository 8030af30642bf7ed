package hooks_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/hooks"
)

// Setup finds the binary's line by its beginning, and sh must read every script.
func TestScripts(t *testing.T) {
	for _, name := range hooks.Names() {
		t.Run(name, func(t *testing.T) {
			text := hooks.Script(name)
			if !strings.HasPrefix(text, "#!/bin/sh\n") || !strings.HasSuffix(text, "\n") {
				t.Error("not a script of whole lines for sh")
			}
			line := "\n" + hooks.BinaryPrefix + hooks.BinaryMarker + "\n"
			if strings.Count(text, line) != 1 || strings.Count(text, "\n"+hooks.BinaryPrefix) != 1 ||
				strings.Count(text, hooks.BinaryMarker) != 1 {
				t.Errorf("the line %q is not there exactly once", line)
			}
			c := exec.CommandContext(t.Context(), "sh", "-n")
			c.Stdin = strings.NewReader(text)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("sh -n: %v\n%s", err, out)
			}
		})
	}
}

// The hooks without stdin differ in their name only, and so do the beginnings of all.
func TestScriptsAgree(t *testing.T) {
	unnamed := func(name string) string { return strings.ReplaceAll(hooks.Script(name), name, "NAME") }
	for _, name := range []string{"post-merge", "post-applypatch"} {
		if diff := cmp.Diff(unnamed("post-commit"), unnamed(name)); diff != "" {
			t.Errorf("%s (-post-commit +%s):\n%s", name, name, diff)
		}
	}
	guard := func(name string) string {
		_, rest, _ := strings.Cut(unnamed(name), hooks.BinaryMarker)
		text, _, _ := strings.Cut(rest, "esac")
		return text
	}
	for _, name := range hooks.Names() {
		if diff := cmp.Diff(guard("post-commit"), guard(name)); diff != "" {
			t.Errorf("%s's guard (-post-commit +%s):\n%s", name, name, diff)
		}
	}
}
