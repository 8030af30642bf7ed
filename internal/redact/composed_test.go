package redact_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestComposed: a value that a text puts together, gives as a default or compares with is taken out, and so is a key
// behind the labels of its lines.
func TestComposed(t *testing.T) {
	const secret = "Xg6ErOYWJQOx14"
	body := strings.Repeat("7VIrxaR7kQfWv52uvEgoqiXnLAC1lIAYJRfza0hW+rdE2oapzzQbkrck/z1iYyls\n", 4)
	key := "-----BEGIN RSA PRIVATE " + "KEY-----\n" + body + "-----END RSA PRIVATE " + "KEY-----"
	labelled := func(label string) string { return label + strings.ReplaceAll(key, "\n", "\n"+label) }
	for _, tt := range []struct{ name, text, left string }{
		{"characters joined", "password = ['" + strings.Join(strings.Split(secret, ""), "', '") + "'].join('')", "'X', 'g'"},
		{"numbers of characters", "password = String.fromCharCode(88, 103, 54, 69, 114, 79, 89, 87)", "88, 103"},
		{"characters added", "token = chr(88) + chr(103) + chr(54) + chr(69) + chr(114) + chr(79)", "chr(88)"},
		{"spaces between", "the password is " + strings.Join(strings.Split(secret, ""), " "), "X g"},
		{"default of a variable", `PASSWORD=${PASSWORD:-` + secret + `}`, secret},
		{"default of another variable", `echo "password: ${X:-` + secret + `}"`, secret},
		{"compared", `if (password != "` + secret + `")`, secret},
		{"typed", "typed " + secret + " into the password field", secret},
		{"key's prompt", "Enter passphrase for key '/srv/id_rsa': " + secret, secret},
		{"key in a log", labelled("app-1  | "), "7VIrxaR7kQfWv52u"},
		{"key in a search", labelled("key.pem:12:"), "7VIrxaR7kQfWv52u"},
		{"key with times", labelled("2026-01-01T10:00:00Z "), "7VIrxaR7kQfWv52u"},
		{"key in a script", labelled("echo '"), "7VIrxaR7kQfWv52u"},
		{"cookies of curl", "#HttpOnly_.acme.dev\tTRUE\t/\tTRUE\t1799999999\tpref\t7tNcq0Lw2ZkVb9RmXs41", "7tNcq0"},
		{"cookies of curl, pasted", ".acme.dev TRUE / FALSE 1799999999 pref 7tNcq0Lw2ZkVb9RmXs41", "7tNcq0"},
		{"signature of a request", "X-Hub-Signature-256: sha256=" + strings.Repeat("8fa9d038", 8), "8fa9d038"},
		{"key in a hook's query", "https://acme.dev/webhook/send?key=8fa9d038-089a-40cf-9ca0-3b80f5e98a86", "8fa9d038"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := applyText(t, redact.New(), tt.text); strings.Contains(got, tt.left) {
				t.Errorf("%q became %q", tt.text, got)
			}
		})
	}
	for _, text := range []string{
		"keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].sort()",
		"codes: 104, 105, 106, 107, 108, 109, 110",
		"letters.join(', ')",
		`PORT=${PORT:-8080}`,
		`TOKEN_TTL=${TOKEN_TTL:-3600}`,
		"if password != confirmation {",
		"-----BEGIN CERTIFICATE-----\n" + body + "-----END CERTIFICATE-----",
	} {
		if got := applyText(t, redact.New(), text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
