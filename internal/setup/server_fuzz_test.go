package setup

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzServer: whatever stands in .mcp.json, adding our server leaves a JSON object with all that was there,
// or an error; and taking it out again brings back every byte.
func FuzzServer(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		more, err := addServer([]byte(text))
		if err != nil {
			return
		}
		var before, after map[string]any
		_ = json.Unmarshal(bytes.TrimPrefix([]byte(text), []byte(bom)), &before)
		if err := json.Unmarshal(bytes.TrimPrefix(more, []byte(bom)), &after); err != nil {
			t.Fatalf("%q became %q: %v", text, more, err)
		}
		servers, _ := after[serverList].(map[string]any)
		if servers[serverName] == nil {
			t.Fatalf("no server in %q", more)
		}
		old, _ := before[serverList].(map[string]any)
		if len(after) < len(before) || len(servers) < len(old) || len(servers) > len(old)+1 {
			t.Fatalf("%q became %q", text, more)
		}
		if again, err := addServer(more); err != nil || !bytes.Equal(again, more) {
			t.Fatalf("added twice to %q: %q, %v", text, again, err)
		}
		if old[serverName] != nil {
			return
		}
		rest, ours := cutServer(more)
		if !ours || string(rest) != text && len(bytes.TrimSpace(bytes.TrimPrefix([]byte(text), []byte(bom)))) > 0 {
			t.Fatalf("%q came back as %q from %q", text, rest, more)
		}
	})
}
