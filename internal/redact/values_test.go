package redact_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestPasswordsOfWords: what people make of words is a password where it is clearly given to one, in any syntax.
func TestPasswordsOfWords(t *testing.T) {
	values := []string{
		"Dampf.Walze3", "Tw1ceBaked", "sommer2024", "ilovecats2", "trustno1x", "Melange-mit-Obers",
		"dragon!fly", "MySecretPass1!", "l0ngLiveTheKing", "Grün-Kohl8",
	}
	frames := []string{
		`password: "{}"`, "DB_PASSWORD={}", "<password>{}</password>", `var cfg = Config{Host: "db", Password: "{}"}`,
		`let dbPassword: string = "{}"`,
		`{"name":"DB_PASSWORD","value":"{}"}`, `setPassword("{}");`, "our $passwd = q{{}};", "password = '''{}'''",
		"tool --password {} --now", `user = "bob"; pwd='{}'`,
		"ALTER USER sa WITH PASSWORD = '{}'", "password: &quot;{}&quot;", "│ password │ {} │",
	}
	r := redact.New()
	for _, f := range frames {
		for _, v := range values {
			if in := strings.Replace(f, "{}", v, 1); strings.Contains(applyText(t, r, in), v) {
				t.Errorf("%q is left in %q", v, in)
			}
		}
	}
}

// TestPhrases: several words are a password in quotes or in a wallet's list, and a few digits are a PIN.
func TestPhrases(t *testing.T) {
	r := redact.New()
	for in, secret := range map[string]string{
		`RESTIC_PASSWORD="Ruhe vor dem Sturm 8" restic snapshots`:                                       "Ruhe vor dem Sturm 8",
		"openssl enc -k 'Rost laube 7' -in a":                                                           "Rost laube 7",
		"account\tpassphrase\nvault\tSilber Loeffel 3 mal":                                              "Silber Loeffel 3 mal",
		"Mnemonic: velvet orbit camp jungle panda tissue rather fiction drum sibling oxygen hazard":     "velvet orbit camp",
		"PIN for the door is 4829":                                                                      "4829",
		`WiFi.begin("FRITZ!Box 7590", "49182037465529183746");`:                                         "49182037465529183746",
		"curl -b 'sessionid=kdwzdqkiptwu0ld0wh5ow5jcfh1af18p; csrftoken=x' https://acme.dev":            "kdwzdqkiptwu0ld0wh5ow5jcfh1af18p",
		"Private-Lines: 1\n0FfdIMj5AtD1W1giHM+zo0tDFV3q5xepqhD5hNye1hb=\nPrivate-MAC: 37bf":             "0FfdIMj5AtD1W1gi",
		"client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpN1Y41DRhrdux12ZYJO5TCFJv0YqdEKUss": "LS0tLS1CRUdJTiBSU0Eg",
	} {
		if got := applyText(t, r, in); strings.Contains(got, secret) {
			t.Errorf("%q is left: %q", secret, got)
		}
	}
}

// TestCodeSurvives: types, parameters, expressions and constants beside a name are no values, nor is what a text
// speaks of again and again.
func TestCodeSurvives(t *testing.T) {
	r := redact.New()
	for _, s := range []string{
		"func run(pass *analysis.Pass, emptyLine bool) bool {",
		"func (pw *prefixWriter) Init(w io.Writer) {",
		"if re1.Flags&FoldCase2 != re2.Flags&FoldCase2 {",
		"#define CKF_TOKEN_PRESENT 0x00000001UL\n#define CKF_USER_PIN 0x00000002UL",
		"typedef struct sec_PKCS12SecretBag sec_PKCS12SecretBag;",
		"'$': encodeUserPassword | encodeZone | encodeHost,",
		"int SetUserPassword(PK11SlotInfo *slot, const char *pw);",
		"The passphrase can be an ArrayBuffer. An ArrayBuffer is a list: new ArrayBuffer(8) makes an ArrayBuffer of eight bytes.",
		"glob\tFile\texpand filenames\ngetpwnam\tUser\tget passwd record\ngoto\tFlow\tcreate spaghetti code",
		"var psk pskIdentity\n",
		"case *rsa.PrivateKey, *ecdsa.PrivateKey, ed25519.PrivateKey:",
	} {
		if got := applyText(t, r, s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// TestWordsSurvive: names, messages and expressions that stand where passwords do are none.
func TestWordsSurvive(t *testing.T) {
	r := redact.New()
	for _, s := range []string{
		"'password' => 'required|min:8'", `password: "must have 8 characters or more"`, "password = user2",
		"f(password=data1)", "Password: cfg.Auth,", "if pwd == newPos+1 {",
		`cmd.Env = append(env, "PWD="+cfg.Dir)`, "--mount type=secret,id=npm_22,target=/root/.npmrc",
		"export session=2026-01-20-c2b51eb0-d0e9-43cf-b431-42c05d49450b", "pass\n    return 0",
		"the pass `state.WorktreeID`", "tokens: 128000", "const PIN_COUNT = 13",
		"ED25519 key fingerprint is SHA256:xib2tYzTUctCogUiqaXU48hCzqdf5IOZU2DWWMPbY4I.",
		"gpg: key 9F3C21AB77D0E512: public key \"Lea Fischer\" imported",
		"pass through to caller.\n   319→\tremaining = append(remaining, action)", "identified `/api/runs` polling",
	} {
		if got := applyText(t, r, s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
