package cli

import (
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
)

// FuzzArguments: whatever is typed, it is a command that may run, or one line says what is wrong.
func FuzzArguments(f *testing.F) {
	f.Fuzz(func(t *testing.T, line string) {
		var args []string
		if line != "" {
			args = strings.Split(line, "\x00")
		}
		app := &App{Stdout: io.Discard, Stderr: io.Discard}
		app.addCommands(args)
		for _, cmd := range app.root.Commands() {
			if cmd.Runnable() {
				cmd.RunE = func(*cobra.Command, []string) error { return nil }
			}
		}
		err := app.root.Execute()
		if err == nil {
			return
		}
		if text := printable(explain(err)); text == "" || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("%q: %q", args, text)
		}
	})
}
