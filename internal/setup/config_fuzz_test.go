package setup

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// values is what a configuration says.
func values(t *testing.T, f entry, text []byte) (out map[string]any) {
	t.Helper()
	var err error
	if o, ok := f.(object); ok {
		err = json.Unmarshal(o.plain(text), &out)
	} else {
		err = toml.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return out
}

// FuzzServer: whatever stands in a configuration, adding our server leaves all that was there, or an error; and taking it out again
// brings back every byte.
func FuzzServer(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range configs() {
			more, err := c.entry.add([]byte(text))
			if err != nil {
				continue
			}
			if line, named := c.entry.line([]byte(text)); named {
				if string(more) != text {
					t.Fatalf("%s: a server of our name: %q, and %q became %q", c.path, line, text, more)
				}
				continue
			}
			after := values(t, c.entry, more)
			if line, _ := c.entry.line(more); !starts(line) {
				t.Fatalf("%s: no server in %q", c.path, more)
			}
			if again, err := c.entry.add(more); err != nil || !bytes.Equal(again, more) {
				t.Fatalf("%s: added twice to %q: %q, %v", c.path, text, again, err)
			}
			rest, ours := c.entry.cut(more)
			if !ours || rest == nil || string(rest) != text {
				t.Fatalf("%s: %q came back as %q from %q", c.path, text, rest, more)
			}
			if len(bytes.TrimSpace(bytes.TrimPrefix(rest, []byte(bom)))) == 0 {
				continue
			}
			before := values(t, c.entry, rest)
			for key, was := range before {
				if _, list := was.(map[string]any); !list && !reflect.DeepEqual(was, after[key]) {
					t.Fatalf("%s: %q became %q", c.path, text, more)
				}
			}
		}
	})
}
