package setup

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// FuzzAddition: whatever stands in a file, adding ours leaves all that was there, or an error. Taking it out brings
// back every byte, also where it was added in two steps; and what somebody has formatted anew is taken out by what it
// says.
func FuzzAddition(f *testing.F) {
	all := []addition{pointerAddition("AGENTS.md")}
	for _, file := range agentFiles() {
		if file.hooks != nil {
			all = append(all, file.hookAddition(Brief{true, true, true}))
		}
		if file.server != nil {
			all = append(all, file.serverAddition())
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range all {
			if is, _ := a.has([]byte(text)); is {
				continue
			}
			more, err := a.addTo([]byte(text))
			if err != nil {
				continue
			}
			if is, wrong := a.has(more); !is || wrong != "" {
				t.Fatalf("%s: %q became %q: %s", a.path, text, more, wrong)
			}
			if again, err := a.addTo(more); err != nil || string(again) != string(more) {
				t.Fatalf("%s: added twice to %q: %v, %q", a.path, text, err, again)
			}
			for i := range a.sections {
				first := addition{sections: a.sections[i:]}
				begun, _ := first.addTo([]byte(text))
				both, err := a.addTo(begun)
				if rest := withoutSections(both, []addition{a}, false); err != nil || string(rest) != text {
					t.Fatalf("%s: %q came back as %q from %q, %v", a.path, text, rest, both, err)
				}
			}
			if doc, err := hujson.Parse(bytes.Clone(withoutBOM(more))); err == nil {
				doc.Format()
				more = doc.Pack()
			}
			more = withoutSections(more, []addition{a}, false)
			if is, _ := a.has(more); is {
				t.Fatalf("%s: %q left %q", a.path, text, more)
			}
			sameValues(t, a, []byte(text), more)
		}
	})
}

// sameValues holds that no value outside of what a section may empty was changed.
func sameValues(t *testing.T, a addition, before, after []byte) {
	t.Helper()
	if isBlank(before) {
		return
	}
	was, is := values(t, a, before), values(t, a, after)
	for key, value := range was {
		if _, parent := value.(map[string]any); !parent && !reflect.DeepEqual(value, is[key]) {
			t.Fatalf("%s: %q became %q", a.path, before, after)
		}
	}
}

// values is what a configuration says; nothing for a text that is none.
func values(t *testing.T, a addition, text []byte) (out map[string]any) {
	t.Helper()
	var err error
	switch s := a.sections[0].(type) {
	case jsonValue:
		text, err = hujson.Standardize(bytes.Clone(withoutBOM(text)))
		if err == nil {
			err = json.Unmarshal(text, &out)
		}
	case codexServer:
		err = toml.Unmarshal(text, &out)
	default:
		_ = s
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return out
}
