package redact_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestGiven: what a file, a sentence, a tool or code gives to a name is taken, however it is written there.
func TestGiven(t *testing.T) {
	r := redact.New()
	for in, secret := range map[string]string{
		// files of settings
		"tacacs-server key Steck-Ruebe4":                                                "Steck-Ruebe4",
		"[relay]\nsmtp_user = crow\nsmtp_pass = nebelKraehe":                            "nebelKraehe",
		"bindpw holler4bluete":                                                          "holler4bluete",
		"enable secret dampfNudel":                                                      "dampfNudel",
		"password: Tarragon77x;":                                                        "Tarragon77x",
		"User: crow\nPass: moorleiche":                                                  "moorleiche",
		`<property name="db.password">moorleiche</property>`:                            "moorleiche",
		"<password><![CDATA[Moor<Huhn&Reh]]></password>":                                "Huhn",
		`<setting name="MailPassword" serializeAs="String"><value>fahrradkette</value>`: "fahrradkette",
		"name,password\ncrow,\"drei,nebel_4\"":                                          "drei,nebel_4",
		`DB_PASSPHRASE="Kraehen über Bonn"`:                                             "Kraehen",
		// code
		`WITH PASSWORD = N'Moor{huhn}7'`:                      "huhn",
		`smtp.PlainAuth("", "crow@acme.dev", "moor-Huhn-66")`: "moor-Huhn-66",
		`{:db/secret "QXr9vT2mLk8Zp4Wq7Nb3" :db/region :eu}`:  "QXr9vT2mLk8Zp4Wq7Nb3",
		`bcrypt.hash('moorHuhn-4', 10)`:                       "moorHuhn-4",
		`f"mysql://app:Mo7%vKp2@{host}/shop"`:                 "Mo7%vKp2",
		// hashes
		"ops:$2y$10$u41EFaBYkF0f9l2sGzcrBj7tyVz6C4wgc6tgLfupPXg31x89z2y4e":         "u41EFaBYkF0f9l2s",
		"a2=\"$6$rJ9wq2Lm$I9xlW0n6FOcQXB73bTrqB4i8c8eKs6dQazhNPCfoOoAWvmTL3aQpK\"": "I9xlW0n6FOcQXB73",
		"olcRootPW: {SSHA}Eg8SaqLL8Wrh/3DHSXvr85vuDgahXzs9":                        "Eg8SaqLL8Wrh",
		// tools
		"expdp system/M0or_Huhn schemas=HR":                                                     "M0or_Huhn",
		"etcdctl --user root:moorHuhn4 get /x":                                                  "moorHuhn4",
		"mysql -u root -p'moorHuhn' -e 'select 1'":                                              "moorHuhn",
		"git -c http.extraHeader='Authorization: Basic Y3JvdzpNb29yNCE='":                       "Y3JvdzpNb29yNCE",
		"curl -H \"Authorization: token \\\n  QXr9vT2mLk8Zp4Wq7Nb3\" https://acme.dev":          "QXr9vT2mLk8Zp4Wq7Nb3",
		"git remote add x https://5f1d3f5a7c8e0a2b4c6d8e0f1a3b5c7d:x-oauth-basic@acme.dev/shop": "5f1d3f5a7c8e",
		"here's the key: moor-huhn-66":                                                          "moor-huhn-66",
		"my api key: moor-huhn-66":                                                              "moor-huhn-66",
		"ARGOCD admin: Moor-Huhn-66":                                                            "Moor-Huhn-66",
		"the staging admin is admin / M0orHuhn7":                                                "M0orHuhn7",
		"ACME_DEPLOY_PAT is q7w0zvjwoh6ogwaapozite45f7j6focvq60b1r5":                            "q7w0zvjwoh6",
		"My recovery codes: 4e8b1-66ac0, d11fe-4b7c9, 80eed-1c3d5":                              "d11fe-4b7c9",
		"$ vault kv get -field=password kv/crow\nM0or-Huhn_77\n":                                "M0or-Huhn_77",
		"sshpass -p 'moor und huhn 4' ssh crow@acme":                                            "moor und huhn",
		"psk=\"Vier Kraehen am Moor\"":                                                          "Kraehen",
		`{"password": "moorHuhn/Kraehe"}`:                                                       "Kraehe",
		"WIFI:T:WPA;S:Nest;P:moor\\;huhn;;":                                                     "huhn",
		"S: 334 UGFzc3dvcmQ6\nC: TW9vckh1aG4tNA==":                                              "TW9vckh1aG4t",
		"[smtp.acme.dev]:587 crow@acme.dev:moorhuhn":                                            "moorhuhn",
		`Client("AC0f1e2d3c4b5a69788796a5b4c3d2e1f0", "9b1d3f5a7c8e0a2b4c6d8e0f1a3b5c7d")`:      "9b1d3f5a7c8e",
		`accounts: ["0x5b1d3f5a7c8e0a2b4c6d8e0f1a3b5c7d9b1d3f5a7c8e0a2b4c6d8e0f1a3b5c7d"]`:      "5b1d3f5a7c8e",
		"connect(\n    \"db1\", \"crow\", \"moorHuhn_4x\")":                                     "moorHuhn_4x",
		"       01 DB-PASSWD  PIC X(9) VALUE 'MOOR4HUHN'.":                                      "MOOR4HUHN",
		// sentences
		"They all use the same password, namely Moorhuhn!Braten.":   "Moorhuhn!Braten",
		`it is locked with the passphrase "the crow flies at dawn"`: "crow flies",
		"la contrasenya és huhn1714":                                "huhn1714",
	} {
		if got := applyText(t, r, in); strings.Contains(got, secret) {
			t.Errorf("%q is left: %q", secret, got)
		}
	}
}

// TestGivenSurvives: sentences, code and settings that only speak of secrets are left.
func TestGivenSurvives(t *testing.T) {
	r := redact.New()
	for _, s := range []string{
		"The password is required and the old password was rejected.",
		"Make sure the password is correct, then the token is valid.",
		"the password is encrypted with argon, the secret is base64-encoded",
		"Wo liegt das Passwort vom Backup-Server? In der Doku steht nichts.",
		"var psk pskIdentity\n",
		"[build]\ntoken = readToken(\"ci\")\n",
		"User: crow\nPass: <password>",
		`<input name="password" autoComplete="current-password" value={password} />`,
		"The passphrase is asked for. Please enter your new passphrase here.",
		"Identify the Fahrenheit-Celsius intersection point",
		"a basic understanding of tokens",
	} {
		if got := applyText(t, r, s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
