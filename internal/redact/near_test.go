package redact_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestTies: the clearer a text gives a value to a name, the more the value may look like words.
func TestTies(t *testing.T) {
	tests := []struct{ tie, frame, secret string }{
		{"NAME=value", "PGPASSWORD={} psql -h db -U app", "elefantenHerde"},
		{"NAME=value", "docker run -e POSTGRES_PASSWORD={} postgres:16", "wellenreiter"},
		{"sign, end of line", "stringData:\n  admin-password: {}", "rotkehlchen"},
		{"flag", "gpg --batch --passphrase '{}' -d backup.gpg", "roter mohn im juli"},
		{"flag of a command", "7z x archiv.7z -p{} -o/tmp/out", "KellerKind"},
		{"flag of a command", "openssl enc -aes-256-cbc -in a -out b -k {}", "eichenfass"},
		{"quotes behind a sign", "let passphrase = \"{}\"", "seven quiet otters paddle north"},
		{"quotes behind a type", "Admin_Password : constant String := \"{}\";", "Vexing-Otter-91"},
		{"quotes within what makes the value", "password: Some(\"{}\")", "tidePool!Six"},
		{"quotes right behind", "ALTER ROLE metrics ENCRYPTED PASSWORD '{}' VALID UNTIL 'infinity'", "okra-lemon-soap"},
		{"a tag", "<password>{}</password>", "Lilienstein+1"},
		{"an argument behind another", "define( 'AUTH_KEY', '{}' );", "Wm}8x;PaK?Q(u/%2tS9|jv+fU&d^eY0c"},
		{"a verb", "Log in to the NAS, its password is {} now.", "tangerineDusk"},
		{"right behind", "Connect as backup, password {} and list the shares.", "tangerineDusk"},
		{"in the sentence", "I tried logging in with the password you gave me ({}) and got 401.", "heron.Lagoon7"},
		{"ahead of the name", "{} is what you need when it asks for the root password.", "Tr4ctorBeam"},
		{"another language", "Пароль до бази — {}, не забудь змінити.", "Varenyky_z_vyshneiu"},
		{"a number that is called one", "Pincode voor het alarm: {}, daarna op hekje.", "8135"},
	}
	r := redact.New()
	for _, tt := range tests {
		t.Run(tt.tie+" "+tt.secret, func(t *testing.T) {
			text := strings.Replace(tt.frame, "{}", tt.secret, 1)
			if got := applyText(t, r, text); left(got, tt.secret) != "" {
				t.Errorf("%q is left in %q", tt.secret, got)
			}
		})
	}
}

// TestMentionsSurvive: near the name of a secret, what is said or written in code stays.
func TestMentionsSurvive(t *testing.T) {
	r := redact.New()
	for _, s := range []string{
		"the token cache was broken by 4c1f6e0a9b8d7c6e5f4a3b2c1d0e9f8a7b6c5d4e", "git log -S'password=' --oneline",
		"token: Foo32,Bar64",
		"admin: Ann Miller", "Grafana admin: enabled", "the key here is cache-v2-linux-64",
		"The password policy is enforced by validatePassword",
		"func hash(password string) string { return pbkdf2Key(password, salt, 4096) }",
		"pass `repoRoot` to the checker", "type State struct{ pass *analysis.Pass; lastToken int }",
		`{"login":"EntityProcess","id":12345678}`,
		"passwordRef:\n  existingSecret: grafana-admin", "vault kv get -field=password kv/prod/db",
		"mysql -u root -p production < schema.sql",
		"Token: \"#ABB2BF\",", "cache restored from key: mise-v0-linux-x64",
		"rsync --password-file=/etc/rsync.pw backup@nas::data /mnt",
		"calls LookupDBCredential → lookupEntireDBToken → fetch",
		`printf 'host=localhost:8080\nusername=me\n\n' | git credential fill`,
		"3*time.Second+Offset1 before the README.md#L12 of pkg@1.2.3", "password=${DB_PASSWORD}",
		"'password' => ['required', 'confirmed']",
	} {
		if got := applyText(t, r, s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
