package cli

import (
	"strings"
	"testing"
	"unicode"
)

// FuzzArguments: whatever is typed, it is a command that may run, or one line says what is wrong.
func FuzzArguments(f *testing.F) {
	f.Fuzz(func(t *testing.T, line string) {
		var args []string
		if line != "" {
			args = strings.Split(line, "\x00")
		}
		e, rest := choose(args)
		err := parse(e, rest)
		if err == nil {
			return
		}
		if text := printable(explain(err)); text == "" || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("%q: %q", args, text)
		}
	})
}
