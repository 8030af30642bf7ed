package segment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlain: what is read without encoding/json is what encoding/json reads. FuzzDecode compares them, too: DecodeSession reads
// nothing as plain.
func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		plain      bool
	}{
		{"a turn", `{"t":"turn","i":2,"role":"human","ts":"2026-11-20T09:41:07.312Z","content":"x"}`, true},
		{"without a time", `{"t":"turn","i":0,"role":"human","content":""}`, true},
		{"escapes", `{"t":"turn","i":0,"role":"human","content":"\"a\\\/b\"\n\t\r\b\f<é\u00e9\ud83d\ude00\ud83d>"}`, true},
		{"a call", `{"t":"tool","i":1,"turn":-1,"tool":"Read"}`, true},
		{"all of a call", `{"t":"tool","i":1,"turn":12,"tool":"Bash","act":"run","path":"a\tb","cmd":"c","failed":true}`, true},
		{"a call with a status", `{"t":"tool","i":1,"turn":12,"tool":"Bash","cmd":"c","failed":true,"exit":-1}`, true},
		{"another order", `{"t":"turn","role":"human","i":2,"content":"x"}`, false},
		{"an unknown key", `{"t":"turn","i":2,"role":"human","content":"x","x":1}`, false},
		{"a key twice", `{"t":"turn","i":2,"role":"human","content":"x","content":"y"}`, false},
		{"white space", `{"t":"turn","i": 2,"role":"human","content":"x"}`, false},
		{"no content", `{"t":"turn","i":2,"role":"human"}`, false},
		{"a number with a zero", `{"t":"turn","i":02,"role":"human","content":"x"}`, false},
		{"minus nothing", `{"t":"turn","i":-0,"role":"human","content":"x"}`, false},
		{"no number", `{"t":"tool","i":1,"turn":,"tool":"Read"}`, false},
		{"a large number", `{"t":"turn","i":99999999999999999999,"role":"human","content":"x"}`, false},
		{"a control character", "{\"t\":\"turn\",\"i\":2,\"role\":\"human\",\"content\":\"x\x01\"}", false},
		{"no such escape", `{"t":"turn","i":2,"role":"human","content":"\x"}`, false},
		{"half an escape", `{"t":"turn","i":2,"role":"human","content":"\u00"}`, false},
		{"cut", `{"t":"turn","i":2,"role":"human","content":"x\`, false},
		{"not failed", `{"t":"tool","i":1,"turn":1,"tool":"Read","failed":false}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := []byte(tt.line)
			turn, isTurn := plainTurn(b)
			tool, isTool := plainTool(b)
			if (isTurn || isTool) != tt.plain {
				t.Errorf("plain as a turn: %v, as a call: %v", isTurn, isTool)
			}
			if isTurn {
				checkPlain(t, b, turn)
			}
			if isTool {
				checkPlain(t, b, tool)
			}
		})
	}
}

func checkPlain[T any](t *testing.T, b []byte, got T) {
	t.Helper()
	want, err := parse[T](b, true)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
