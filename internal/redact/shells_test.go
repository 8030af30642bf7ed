package redact_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestForms: what commands, URLs and short notes give away is gone, and nothing else is.
func TestForms(t *testing.T) {
	d := draw{rand.New(rand.NewPCG(9, 9))}
	password := func() string { return "Xk" + d.of(2, digits) + "dLq!m" + d.of(1, digits) }
	frames := []struct{ frame, value string }{
		{"openssl enc -aes-256-cbc -pbkdf2 -k {} -in a.tar -out a.enc", password()},
		{"openssl pkcs12 -in a.p12 -passin pass:{} -nodes", password()},
		{"zip -r -P {} backup.zip data/", password()},
		{"unzip -P {} backup.zip", password()},
		{"7z a -p{} x.7z data", password()},
		{"htpasswd -b /etc/nginx/.htpasswd bob {}", password()},
		{"htpasswd -nb bob {}", password()},
		{"htpasswd -bc f user {} && nginx -s reload", password()},
		{"smbclient //nas/share -U bob%{}", password()},
		{"smbclient -U 'ACME\\bob%{}' //nas/x", password()},
		{"echo '{}' | sudo -S apt-get update", password()},
		{"echo {} | sudo -S -u app ls", password()},
		{"sudo -S systemctl restart x <<< '{}'", password()},
		{"vault kv put secret/api endpoint=x key={}", password()},
		{"vault write auth/userpass/users/bob policies=dev value={}", password()},
		{"login: bob / {}", password()},
		{"the creds admin:{} still work", password()},
		{"credentials: deploy / {}", password()},
		{"curl -d @x https://discord.com/api/webhooks/" + d.of(19, "123456789") + "/{}", d.of(68, alnum+"_-")},
		{
			"https://acme.blob.core.windows.net/c/f.zip?sv=2022-11-02&sp=r&sr=b&sig={}&se=2027-01-01",
			d.of(41, alnum) + "%2B1%3D",
		},
	}
	r := redact.New()
	for _, f := range frames {
		t.Run(f.frame, func(t *testing.T) {
			got := applyText(t, r, strings.Replace(f.frame, "{}", f.value, 1))
			before, after, _ := strings.Cut(f.frame, "{}")
			if !strings.HasPrefix(got, before+"[REDACTED:") || !strings.HasSuffix(got, "]"+after) {
				t.Errorf("%q became %q", f.frame, got)
			}
		})
	}
}

func TestFormsSurvive(t *testing.T) {
	r := redact.New()
	for _, s := range []string{
		"openssl dgst -sha256 -sign key.pem file_v2.txt", "openssl req -key server_2026.key -out server.csr",
		"zip -r -P \"$ZIP_PASSWORD\" x.zip dist", "gzip -9 logs2026.tar",
		"htpasswd -c /etc/nginx/.htpasswd bob", "htpasswd -nb bob \"$PW\"", "smbclient -U 'bob%$PASS' //nas/x",
		"echo \"$PW\" | sudo -S ls", "echo 'deb http://x' | sudo tee a.list",
		"echo password | sudo -S ls", "vault kv put secret/api key=@file_v2.json user=service-account env=production",
		"vault kv put secret/x token=$TOKEN",
		"login: /api/v2/session", "login: see docs/login2.md", "sign in at localhost:8080", "creds user:pass",
		"the login page:3000ms timeout", "login step2:validate_token",
		"https://discord.com/api/webhooks/<id>/<token>", "?sig=<signature>", "func f(sig=None)",
		"7z x archive.7z -oC:\\out2026",
	} {
		if got := applyText(t, r, s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
