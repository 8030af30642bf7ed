package redact_test

import (
	"encoding/base64"
	"math/rand/v2"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestLockFilesSurvive: sums stay, also of packages that are named like secrets.
func TestLockFilesSurvive(t *testing.T) {
	d := draw{rand.New(rand.NewPCG(8, 8))}
	sum := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(d.IntN(256))
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	r := redact.New()
	for _, name := range []string{
		"golang.org/x/oauth2", "google.golang.org/api", "modernc.org/token", "github.com/nats-io/nkeys",
		"github.com/hashicorp/consul/api",
		"js-tokens", "token-types", "@auth/core", "api-key", "secretbox", "keyring", "passport", "password-hash",
		"credentials", "secret",
	} {
		for range 5 {
			for _, text := range []string{
				name + " v0.18.0 h1:" + sum(32) + "\n" + name + " v0.18.0/go.mod h1:" + sum(32),
				`"` + name + `": {"version": "6.0.0", "integrity": "sha512-` + sum(64) + `"}`,
				name + "@^4.0.0:\n  version \"4.0.0\"\n  resolved \"https://registry.yarnpkg.com/x/-/x-4.0.0.tgz#" + d.of(40, hex) +
					"\"\n  integrity sha512-" + sum(64),
				"  /" + name + "@6.0.0:\n    resolution: {integrity: sha512-" + sum(64) + "}\n    engines: {node: '>=12'}",
				`["` + name + `@4.0.0", "", {}, "sha512-` + sum(64) + `"],`,
				"name = \"" + name + "\"\nversion = \"0.8.0\"\nchecksum = \"" + d.of(64, hex) + "\"",
				name + "==25.2.1 \\\n    --hash=sha256:" + d.of(64, hex) + " \\\n    --hash=sha256:" + d.of(64, hex),
				"    {file = \"" + name + "-25.2.1.tar.gz\", hash = \"sha256:" + d.of(64, hex) + "\"},",
				`  "` + name + `": {:hex, :` + "x" + `, "2.6.0", "` + d.of(64, hex) + `", [:mix], [], "hexpm"},`,
				name + ":\n    dependency: transitive\n    description:\n      name: " + name + "\n      sha256: \"" +
					d.of(64, hex) + "\"",
			} {
				if got := applyText(t, r, text); got != text {
					t.Errorf("%q\nbecame %q", text, got)
				}
			}
		}
	}
}

// TestLongMarkdown: what an agent hands over in a list, with names in bold type.
func TestLongMarkdown(t *testing.T) {
	d := draw{rand.New(rand.NewPCG(9, 9))}
	for range 20 {
		s := d.of(20, alnum) + "7x"
		for _, before := range []string{
			"**Password:** ", "**Password:** `", "- **API key**: ", "* __Token__: ",
			"**DB password** = ",
		} {
			got := applyText(t, redact.New(), before+s)
			if got == before+s {
				t.Errorf("%q survived", before+s)
			}
		}
	}
	for _, text := range []string{
		"**Password:** at least 12 characters", "**Token:** see `auth/token.go`",
		"**API key**: set `API_KEY` in the environment",
	} {
		if got := applyText(t, redact.New(), text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestWordInURL: a password of letters alone is one where a URL says so.
func TestWordInURL(t *testing.T) {
	for in, want := range map[string]string{
		"psql postgres://app:umbrella@10.0.0.4:5432/app":     "psql postgres://app:[REDACTED:url-password]@10.0.0.4:5432/app",
		"postgres://user:password@localhost:5432/db":         "postgres://user:password@localhost:5432/db",
		"postgres://postgres:postgres@localhost:5432/db":     "postgres://postgres:postgres@localhost:5432/db",
		"the umbrella of amqp://guest:umbrella@mq/ is green": "the umbrella of amqp://guest:[REDACTED:url-password]@mq/ is green",
	} {
		if got := applyText(t, redact.New(), in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}
