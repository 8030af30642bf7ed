package setup

import (
	"bytes"
	"testing"
)

// FuzzAddition: whatever stands in a file, adding ours leaves all that was there, or an error; and taking it out again brings back every byte.
func FuzzAddition(f *testing.F) {
	all := []addition{pointerIn("AGENTS.md")}
	for _, b := range briefFiles() {
		all = append(all, b.addition(Brief{true, true, true}))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range all {
			if is, _ := a.form.named([]byte(text)); is {
				continue
			}
			more, err := a.form.add([]byte(text))
			if err != nil {
				continue
			}
			if again, err := a.form.add(more); err != nil || !bytes.Equal(again, more) {
				t.Fatalf("%s: added twice to %q: %q, %v", a.path, text, again, err)
			}
			if rest, ours := a.form.cut(more); !ours || rest == nil || string(rest) != text {
				t.Fatalf("%s: %q came back as %q from %q", a.path, text, rest, more)
			}
		}
	})
}
