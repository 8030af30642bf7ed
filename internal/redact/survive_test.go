package redact_test

import (
	"crypto/sha256"
	"encoding/base64"
	hexcode "encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestHashesAndCodeSurvive: what looks drawn by lot and is no secret comes out as it went in.
func TestHashesAndCodeSurvive(t *testing.T) {
	d := draw{rand.New(rand.NewPCG(3, 3))}
	b64s := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(d.IntN(256))
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	sum := func() string { s := sha256.Sum256([]byte(d.of(9, alnum))); return hexcode.EncodeToString(s[:]) }
	uuid := func() string {
		return fmt.Sprintf("%s-%s-4%s-9%s-%s", d.of(8, hex), d.of(4, hex), d.of(3, hex), d.of(3, hex), d.of(12, hex))
	}
	texts := map[string]string{
		"commit":        "commit " + d.of(40, hex) + "\nAuthor: Ann <ann@example.com>\n\n    Rotate tokens",
		"short commits": d.of(7, hex) + " Fix the password form\n" + d.of(7, hex) + " token: refresh once",
		"uuid":          "request " + uuid() + " failed, retry with " + uuid(),
		"ulid":          "session 01" + d.of(24, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") + " was resumed",
		"go.sum": "github.com/google/go-cmp v0.7.0 h1:" + b64s(32) +
			"\ngithub.com/google/go-cmp v0.7.0/go.mod h1:" + b64s(32),
		"package-lock": `"node_modules/token-types": {"version": "6.0.0", "resolved": "https://registry.npmjs.org/token-types/-/token-types-6.0.0.tgz", "integrity": "sha512-` + b64s(64) + `"}`,
		"yarn.lock":    "js-tokens@^4.0.0:\n  version \"4.0.0\"\n  resolved \"https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#" + d.of(40, hex) + "\"\n  integrity sha512-" + b64s(64),
		"Cargo.lock":   "[[package]]\nname = \"secrecy\"\nversion = \"0.8.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"" + sum() + "\"",
		"poetry.lock":  "{file = \"keyring-25.2.1-py3-none-any.whl\", hash = \"sha256:" + sum() + "\"},",
		"sri": `<script src="https://cdn.example.org/a.js" integrity="sha384-` + b64s(48) +
			`" crossorigin="anonymous"></script>`,
		"docker digest": "FROM node:22-alpine@sha256:" + sum() + "\nimage: ghcr.io/acme/api@sha256:" + sum(),
		"nix": "src = fetchFromGitHub { rev = \"" + d.of(40, hex) + "\"; hash = \"sha256-" + b64s(32) +
			"\"; }; /nix/store/" + d.of(32, "0123456789abcdfghijklmnpqrsvwxyz") + "-hello-2.12",
		"css data": ".icon { background: url(data:image/png;base64," + b64s(600) + "); }",
		"image":    "![shot](data:image/jpeg;base64," + b64s(3000) + ")",
		"ssh public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + d.of(43, alnum) +
			" ann@laptop\nknown_hosts: github.com ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB" + d.of(200, alnum),
		"fingerprint": "SHA256:" + d.of(43, alnum) + " ann@laptop (ED25519)",
		"certificate": "-----BEGIN CERTIFICATE-----\n" + d.of(64, b64) + "\n" + d.of(64, b64) +
			"\n-----END CERTIFICATE-----",
		"public pem":       "-----BEGIN PUBLIC KEY-----\n" + d.of(64, b64) + "\n-----END PUBLIC KEY-----",
		"etag":             "ETag: \"" + d.of(32, hex) + "\"\nX-Request-Id: " + uuid(),
		"tool ids":         "tool_use_id toolu_01" + d.of(22, alnum) + ", message msg_01" + d.of(22, alnum),
		"go code":          "func (s *Store) Token(ctx context.Context, key string) (token string, err error) {\n\tif token = s.tokens[key]; token == \"\" {\n\t\treturn \"\", ErrNoToken\n\t}\n\treturn token, nil\n}",
		"typescript":       "interface Login { password: string; token?: JwtPayload; apiKey: Uint8Array; secret: keyof Config }\nconst password = form.get('password'); setToken(response.data.accessToken2);",
		"python":           "password = os.environ[\"DB_PASSWORD\"]\ntoken = request.headers.get('Authorization', '').removeprefix('Bearer ')\nassert verify_password(password, user.password_hash)",
		"rust":             "let api_key = std::env::var(\"API_KEY\").expect(\"API_KEY is set\"); let token: Token<Sha256> = Token::new(secret_key.as_bytes());",
		"java":             "private static final String TOKEN_HEADER = \"X-Auth-Token\"; String password = config.getString(\"db.password\");",
		"yaml":             "password:\n  valueFrom:\n    secretKeyRef:\n      name: postgres-credentials\n      key: password\ntoken: ${{ secrets.GITHUB_TOKEN }}",
		"terraform":        "password = var.db_password\ntoken    = data.vault_generic_secret.api.data[\"token\"]\nsecret_name = \"prod/db/main\"",
		"shell":            "read -s PASSWORD; export TOKEN=$(gh auth token); curl -H \"Authorization: Bearer $TOKEN\" https://api.example.com; mysql -u root -p shop < dump.sql; docker run -p 127.0.0.1:8080:80 app",
		"placeholders":     "postgres://user:password@localhost:5432/db, https://<token>@github.com, API_KEY=your-api-key-here, PASSWORD=changeme, --password=***, Authorization: Bearer <token>",
		"prose":            "The password is hashed with bcrypt, the token is refreshed by auth/refresh.go, and the secret is to keep sessions short. Set the token to null; password was required until v1.12.3.",
		"versions":         "token-manager 2.4.11, secret: v1.22.3, password policy 12-20 characters, key: 2026-11-21T10:47:39Z",
		"paths":            "secrets/README.md, internal/auth/token_key2.go:120, ~/.ssh/id_ed25519.pub, token: internal/token/token.go",
		"test fixture":     "want := \"token: expired\"; password := \"testPassword123\"; secret: \"my-secret-value\"",
		"urls":             "https://example.com:8443/@scope/pkg@1.2.3 and git@github.com:acme/api.git and http://localhost:4873/@acme/x",
		"regular":          "re := regexp.MustCompile(`password=([^&]+)`) // token: [A-Za-z0-9]{32}",
		"sed":              "sed -E 's/(password|token): .*/\\1: [hidden]/' log.txt | sort -u",
		"english and code": "Use `password2` for the second field, `token_v2` for the header and `apiKeyFor(user)`.",
		"sample pem":       "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
		"hard wrapped":     "the token\nendpoint2 returns 401 when the secret\nrotation01 job runs, and password:\nsee docs/login2.md",
		"dates":            "secret: 2026-11-21, token = 1700000000000, passwords: 12345, key=00000000",
	}
	r := redact.New()
	for name, text := range texts {
		for form, s := range map[string]string{"plain": text, "json": quoted(text), "shell": shell(text)} {
			if got := applyText(t, r, s); got != s {
				t.Errorf("%s, %s: %q became %q", name, form, s, got)
			}
		}
	}
}
