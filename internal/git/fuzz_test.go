package git

import (
	"strconv"
	"strings"
	"testing"
)

// FuzzPlainDate: of what is asked for as a date, git is given one line of words that it knows.
func FuzzPlainDate(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		spec, ok := plainDate(text)
		if !ok {
			if spec != "" {
				t.Fatalf("%q is no date, but %q", text, spec)
			}
			return
		}
		if strings.ContainsFunc(spec, isControl) || strings.TrimSpace(spec) == "" {
			t.Fatalf("%q is given to git as %q", text, spec)
		}
		for _, w := range dateWords.FindAllString(spec, -1) {
			if !isDateWord(strings.ToLower(w)) {
				t.Fatalf("%q is given to git as %q", text, spec)
			}
		}
	})
}

// FuzzParseIdent: what git says of who somebody is, comes back as it was.
func FuzzParseIdent(f *testing.F) {
	f.Fuzz(func(t *testing.T, ident string) {
		sig, err := parseIdent(ident)
		if err != nil {
			if sig != (Signature{}) {
				t.Fatalf("%v, and %+v", err, sig)
			}
			return
		}
		again, err := parseIdent(sig.Name + " <" + sig.Email + "> " + strconv.FormatInt(sig.When.Unix(), 10) + " " + sig.When.Format("-0700"))
		if err != nil || again.Email != sig.Email || !again.When.Equal(sig.When) {
			t.Fatalf("%q is %+v, and again %+v, %v", ident, sig, again, err)
		}
	})
}
