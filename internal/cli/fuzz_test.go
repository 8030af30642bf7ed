package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzHookInput: whatever git, or a hook manager, gives a hook on stdin, what is taken from it is
// pairs of OIDs.
func FuzzHookInput(f *testing.F) {
	oid := regexp.MustCompile(`^[0-9a-f]{40}$`)
	f.Fuzz(func(t *testing.T, name, input string) {
		c := &hookCommand{name: name}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		text, err := c.input(ctx, strings.NewReader(input))
		if reads := name == postRewrite || name == prePush; err != nil || reads && text != input || !reads && text != "" {
			t.Fatalf("%q, %v", text, err)
		}
		for _, r := range c.rewrites(input) {
			if !oid.MatchString(r.Old) || !oid.MatchString(r.New) || name != postRewrite {
				t.Fatalf("%q has %+v", input, r)
			}
		}
		if namesLedger(input) != slices.ContainsFunc(strings.Fields(input), func(w string) bool { return strings.HasPrefix(w, "refs/heads/rekal/") }) {
			t.Fatalf("%q", input)
		}
	})
}

// FuzzArguments: whatever is typed, it is a command that may run, or one line says what is wrong.
func FuzzArguments(f *testing.F) {
	f.Fuzz(func(t *testing.T, line string) {
		var args []string
		if line != "" {
			args = strings.Split(line, "\x00")
		}
		e, rest := choose(args)
		err := parse(e.make(), e, rest)
		if err == nil {
			return
		}
		if text := printable(explain(err)); text == "" || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("%q: %q", args, text)
		}
	})
}
