package capture_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
)

// TestDisguisedSecrets: a secret in the colours of a terminal, or wrapped, reaches no object of the ledger: not
// by the turn, nor by the title that is made of it or given, the subject of the code commit, a memory's title.
func TestDisguisedSecrets(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("aB3dE5", 6)
	password := "Xk9vbTq22Lm"
	for name, said := range map[string]string{
		"coloured":       "password=\x1b[32m" + password + "\x1b[0m ok",
		"coloured at":    "use the token \x1b[1m\x1b[32m" + token + "\x1b[0m",
		"wrapped":        "use the token " + token[:20] + "\r\n" + token[20:] + " for it",
		"without width":  "the password is \u200b" + password[:5] + "\u200b" + password[5:],
		"cut in a title": strings.Repeat("word ", 13) + "token " + token,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			content, err := json.Marshal(said)
			if err != nil {
				t.Fatal(err)
			}
			w.add(sidA, rec(sidA, "user", 0, `"message":{"role":"user","content":`+string(content)+`}`),
				`{"type":"custom-title","customTitle":`+string(content)+`,"sessionId":"`+sidA+`"}`)
			w.add(sidB, rec(sidB, "user", 1, `"message":{"role":"user","content":`+string(content)+`}`))
			w.commit(2, said, "a", "b")
			w.capture()
			w.save(capture.Note{Title: said, Content: said})
			w.save(capture.Note{Content: said})
			stored := w.git("log", "-p", "rekal/"+email)
			if !strings.Contains(stored, "[REDACTED:") {
				t.Fatalf("nothing was redacted in %s", stored)
			}
			for _, secret := range []string{token[:12], token[20:32], password[:5], password[5:]} {
				if n := strings.Index(stored, secret); n >= 0 {
					t.Errorf("%q is left: %q", secret, stored[max(0, n-80):n+len(secret)+20])
				}
			}
		})
	}
}
