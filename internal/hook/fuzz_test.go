package hook

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzInput: whatever git, or a hook manager, gives a hook on stdin, what is taken from it is
// pairs of OIDs.
func FuzzInput(f *testing.F) {
	oid := regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	f.Fuzz(func(t *testing.T, name, input string) {
		c := Call{Name: name, Stdin: strings.NewReader(input)}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		text, err := c.input(ctx)
		if reads := name == postRewrite || name == prePush; err != nil || reads && text != input || !reads && text != "" {
			t.Fatalf("%q, %v", text, err)
		}
		for _, r := range c.parseRewrites(input) {
			if !oid.MatchString(r.Old) || !oid.MatchString(r.New) || name != postRewrite {
				t.Fatalf("%q has %+v", input, r)
			}
		}
		if namesLedger(input) != slices.ContainsFunc(strings.Fields(input),
			func(w string) bool { return strings.HasPrefix(w, "refs/heads/rekal/") }) {
			t.Fatalf("%q", input)
		}
	})
}
