package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// leak is a made-up secret in the words in which people and agents let one slip. Each is met
// in five forms. The set was written before the rules that find it, and is not a list of them:
// what is missed is missed, and docs/redaction.md lists it.
type leak struct {
	name   string
	secret string
	frame  string // {} stands where the secret does
	cmd    bool   // a shell command, else a turn
}

// draw makes secrets from a seeded source. Nothing here is one.
type draw struct{ *rand.Rand }

func (d draw) of(n int, from string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[d.IntN(len(from))]
	}
	return string(b)
}

// password is what a person or a password manager makes up.
func (d draw) password() string {
	words := []string{"Harbor", "winter", "Falcon", "copper", "Maple", "orbit", "Tundra", "violet", "Saffron", "gravel"}
	w := func() string { return words[d.IntN(len(words))] }
	switch d.IntN(4) {
	case 0:
		return w() + d.of(4, digits) + d.of(1, "!#%_-")
	case 1:
		return w() + d.of(1, "-_.") + w() + d.of(2, digits)
	case 2:
		return d.of(16, alnum+"!#%_-^*+.")
	}
	return d.of(14, alnum)
}

const b64 = alnum + "+/"

func (d draw) pem(kind string, lines int) (whole, body string) {
	var b strings.Builder
	for range lines {
		b.WriteString(d.of(64, b64) + "\n")
	}
	return "-----BEGIN " + kind + "PRIVATE KEY" + "-----\n" + b.String() + "-----END " + kind + "PRIVATE KEY" + "-----",
		b.String()
}

func (d draw) jwt() string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		enc([]byte(`{"sub":"`+d.of(10, digits)+`","name":"Ann","iat":1516239022}`)) + "." + d.of(43, alnum+"-_")
}

func leaks(seed uint64) []leak {
	d := draw{rand.New(rand.NewPCG(seed, 5))}
	lower := strings.ToLower(alnum)[:36]
	rsa, rsaBody := d.pem("RSA ", 13)
	ssh, sshBody := d.pem("OPENSSH ", 9)
	pkcs, pkcsBody := d.pem("", 12)
	basic := base64.StdEncoding.EncodeToString([]byte("svc-deploy:" + d.password()))
	wrapped := base64.StdEncoding.EncodeToString([]byte("OPENAI_API_KEY=" + "sk-" + "proj-" + d.of(48, alnum) + "\n"))
	ec, _ := d.pem("EC ", 4)
	kube := base64.StdEncoding.EncodeToString([]byte(ec))
	out := []leak{
		{
			"github pat in a prompt", "gh" + "p_" + d.of(36, alnum), "use this token for now: {} — I'll rotate it tomorrow",
			false,
		},
		{
			"installation token in a clone URL", "gh" + "s_" + d.of(36, alnum),
			"`git clone https://x-access-token:{}@github.com/acme/api.git` fails with 403, why?", false,
		},
		{
			"password in a remote URL", d.password(),
			"git remote set-url origin https://deploy:{}@git.acme.dev/platform/api.git && git fetch", true,
		},
		{"aws pair exported", d.of(40, b64), "export AWS_ACCESS_KEY_ID=AK" + "IA" + d.of(16, upper32) +
			"\nexport AWS_SECRET_ACCESS_KEY={}\naws s3 ls s3://acme-builds", false},
		{
			"aws credentials file", d.of(40, b64),
			"Here is what `cat ~/.aws/credentials` says:\n\n[default]\naws_access_key_id = AK" + "IA" + d.of(16, upper32) +
				"\naws_secret_access_key = {}\nregion = eu-central-1", false,
		},
		{"aws pair in prose", d.of(40, b64), "the access key id is AK" + "IA" + d.of(16, upper32) +
			" and the secret access key is {}, put both into the pipeline", false},
		{
			"openai key in .env", "sk-" + "proj-" + d.of(48, alnum+"_-"),
			"My .env looks like this:\nPORT=3000\nOPENAI_API_KEY={}\nDEBUG=true\n\nand still I get a 401", false,
		},
		{
			"anthropic key in python", "sk-" + "ant-" + "api03-" + d.of(93, alnum+"_-") + "AA",
			"client = anthropic.Anthropic(api_key=\"{}\")\nmessage = client.messages.create(", false,
		},
		{
			"slack bot token in yaml", "xo" + "xb-" + d.of(12, digits) + "-" + d.of(13, digits) + "-" + d.of(24, alnum),
			"```yaml\nslack:\n  channel: '#deploys'\n  bot_token: {}\n```", false,
		},
		{
			"slack webhook", "T" + d.of(10, upper32) + "/B" + d.of(10, upper32) + "/" + d.of(24, alnum),
			"curl -X POST -H 'Content-type: application/json' --data '{\"text\":\"hi\"}' https://hooks.slack.com/services/{}",
			true,
		},
		{
			"stripe key in typescript", "sk_" + "live_" + d.of(24, alnum),
			"const stripe = new Stripe('{}', { apiVersion: '2024-06-20' });", false,
		},
		{
			"stripe webhook secret", "wh" + "sec_" + d.of(32, alnum),
			"set STRIPE_WEBHOOK_SECRET={} in the function's environment", false,
		},
		{
			"postgres URL in compose", d.password(),
			"    environment:\n      DATABASE_URL: postgres://app:{}@db:5432/shop?sslmode=disable\n    depends_on: [db]", false,
		},
		{"mongodb+srv URL", d.password(), "MONGO_URI=\"mongodb+srv://reports:{}@cluster0.k3x9a.mongodb.net/reports\"", false},
		{"redis URL without a user", d.password(), "it connects with redis://:{}@cache.internal:6379/0 and times out", false},
		{"mysql -p", d.password(), "mysql -h db.internal -u root -p{} shop < dump.sql", true},
		{
			"mysqldump --password", d.password(),
			"mysqldump --single-transaction --user=backup --password={} shop | gzip > shop.sql.gz", true,
		},
		{
			"PGPASSWORD before psql", d.password(), "PGPASSWORD={} psql -h db.internal -U app -c 'select count(*) from orders'",
			true,
		},
		{"curl -u", d.password(), "curl -s -u admin:{} https://jenkins.acme.dev/job/api/build", true},
		{"curl bearer", d.of(40, alnum), "curl -s -H \"Authorization: Bearer {}\" https://api.acme.dev/v1/me | jq .", true},
		{
			"basic header in a dump", basic,
			"> GET /v2/_catalog HTTP/1.1\n> Host: registry.acme.dev\n> Authorization: Basic {}\n> Accept: */*", false,
		},
		{
			"X-API-Key in python", d.of(32, hex),
			"r = requests.get(url, headers={\"X-API-Key\": \"{}\", \"Accept\": \"application/json\"})", false,
		},
		{
			"token header in javascript", d.of(40, hex),
			"await fetch(`${base}/repos`, {\n  headers: { Authorization: 'Token {}' },\n});", false,
		},
		{"jwt in a cookie", d.jwt(), "the request had `Cookie: theme=dark; session={}; lang=de` and we answered 302", false},
		{"jwt in prose", d.jwt(), "Decode {} and tell me why exp is wrong.", false},
		{"rsa key pasted", rsaBody, strings.Replace(rsa, rsaBody, "{}", 1) +
			"\nThis is the deploy key, add it to the known keys", false},
		{"openssh key cut off", sshBody, "$ cat ~/.ssh/id_ed25519\n" + strings.SplitN(ssh, "\n", 2)[0] + "\n{}", false},
		{
			"service account", pkcsBody, "{\"type\": \"service_account\", \"project_id\": \"acme\", \"private_key\": \"" +
				strings.ReplaceAll(strings.Replace(pkcs, pkcsBody, "{}", 1), "\n", "\\n") + "\", \"client_email\": \"ci@acme.iam\"}",
			false,
		},
		{"kubeconfig client key", kube, "users:\n- name: admin\n  user:\n    client-key-data: {}\ncontexts: []", false},
		{
			"kubernetes secret", base64.StdEncoding.EncodeToString([]byte(d.password())),
			"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  password: {}", false,
		},
		{
			"kubectl from literal", d.password(),
			"kubectl -n shop create secret generic db --from-literal=username=app --from-literal=password={}", true,
		},
		{"docker login -p", d.password(), "docker login -u ci -p {} registry.acme.dev", true},
		{"sshpass", d.password(), "sshpass -p '{}' ssh deploy@10.0.4.17 'systemctl restart api'", true},
		{
			"password in prose", d.password(),
			"The password for the staging database is {} (user app), can you check the migrations there?", false,
		},
		{"login pair in prose", d.password(), "Log in as admin@acme.dev / {} and look at the billing page.", false},
		{"pw: in prose", d.password(), "vpn user: mkeller, pw: {}", false},
		{
			"django secret key", "django-" + "insecure-" + d.of(50, lower+"!@#$%^&*(-_=+)"),
			"# SECURITY WARNING: keep the secret key used in production secret!\nSECRET_KEY = '{}'\n", false,
		},
		{"rails secret_key_base", d.of(128, hex), "production:\n  secret_key_base: {}\n", false},
		{
			"connection string", d.password(),
			"\"ConnectionStrings\": {\n  \"Default\": \"Server=tcp:sql.acme.dev,1433;Database=shop;User Id=sa;Password={};Encrypt=true\"\n}", false,
		},
		{
			"azure account key", d.of(86, b64) + "==",
			"AZURE_STORAGE_CONNECTION_STRING='DefaultEndpointsProtocol=https;AccountName=acmelogs;AccountKey={};EndpointSuffix=core.windows.net'", false,
		},
		{
			"google maps key", "AI" + "za" + d.of(35, alnum+"_-"),
			"<script src=\"https://maps.googleapis.com/maps/api/js?key={}&libraries=places\"></script>", false,
		},
		{
			"google client secret", "GOC" + "SPX-" + d.of(28, alnum+"_-"),
			"client_id: 8842.apps.googleusercontent.com, client_secret: {}", false,
		},
		{
			"npmrc", "np" + "m_" + d.of(36, alnum), "echo '//registry.npmjs.org/:_authToken={}' > ~/.npmrc && npm publish",
			true,
		},
		{
			"pypirc", "pypi-" + "AgEIcHlwaS5vcmc" + d.of(120, alnum+"_-"), "[pypi]\n  username = __token__\n  password = {}\n",
			false,
		},
		{"tfvars", d.password(), "db_instance_class = \"db.t3.medium\"\ndb_username       = \"shop\"\ndb_password       = \"{}\"\n", false},
		{
			"helm --set", d.password(), "helm upgrade --install pg bitnami/postgresql --set auth.postgresPassword={} --wait",
			true,
		},
		{"ansible become", d.password(), "ansible_user: deploy\nansible_become_pass: {}\nansible_port: 22", false},
		{
			"spring properties", d.password(),
			"spring.datasource.username=shop\nspring.datasource.password={}\nspring.jpa.hibernate.ddl-auto=validate", false,
		},
		{
			"gitlab pat", "gl" + "pat-" + d.of(20, alnum+"_-"),
			"curl --header \"PRIVATE-TOKEN: {}\" \"https://gitlab.acme.dev/api/v4/projects\"", true,
		},
		{
			"discord bot", "MT" + d.of(24, alnum) + "." + d.of(6, alnum) + "." + d.of(38, alnum+"_-"),
			"bot.run(\"{}\")  # main guild", false,
		},
		{
			"telegram bot in a URL", d.of(10, "123456789") + ":AA" + d.of(33, alnum+"_-"),
			"curl -s https://api.telegram.org/bot{}/sendMessage -d chat_id=42 -d text=deployed", true,
		},
		{"twilio token", d.of(32, hex), "TWILIO_ACCOUNT_SID=AC" + d.of(32, hex) + "\nTWILIO_AUTH_TOKEN={}\n", false},
		{
			"vault token", "hv" + "s." + d.of(95, alnum+"_-"),
			"VAULT_ADDR=https://vault.acme.dev VAULT_TOKEN={} vault kv get secret/api", true,
		},
		{
			"hugging face token", "h" + "f_" + d.of(34, alnum), "huggingface-cli login --token {} --add-to-git-credential",
			true,
		},
		{"netrc", d.password(), "machine git.acme.dev login ci-bot password {}\n", false},
		{"wp-config", d.password(), "define( 'DB_USER', 'wordpress' );\ndefine( 'DB_PASSWORD', '{}' );\ndefine( 'DB_HOST', 'localhost' );", false},
		{"base64-wrapped key", wrapped, "echo {} | base64 -d >> .env", true},
		{"json login", d.password(), "curl -s -X POST https://api.acme.dev/login -d '{\"username\": \"admin\", \"password\": \"{}\"}'", true},
		{
			"client credentials form", d.of(40, alnum+"_~."),
			"curl -d 'grant_type=client_credentials&client_id=shop&client_secret={}' https://login.acme.dev/oauth/token", true,
		},
		{
			"sql identified by", d.password(),
			"CREATE USER 'report'@'%' IDENTIFIED BY '{}';\nGRANT SELECT ON shop.* TO 'report'@'%';", false,
		},
	}
	return out
}

// forms are the shapes in which one leak is met: as written, and after what people, agents,
// editors and terminals do to it.
func forms(l leak, d draw) map[string]string {
	plain := strings.Replace(l.frame, "{}", l.secret, 1)
	return map[string]string{
		"plain": plain, "split": split(l, d), "wrap": wrap(l, d), "json": quoted(plain),
		"shell": shell(plain),
	}
}

// split is a string that the source code puts together.
func split(l leak, d draw) string {
	before, after, _ := strings.Cut(l.frame, "{}")
	join := []string{`" + "`, `" "`, `" . "`, `""`, "\" +\n    \""}[d.IntN(5)]
	quote := `"`
	if n := strings.LastIndexAny(before, `"'`); n >= 0 && before[n] == '\'' && strings.Count(before, "'")%2 == 1 {
		quote, join = "'", strings.ReplaceAll(join, `"`, "'")
	}
	at := len(l.secret)/3 + d.IntN(len(l.secret)/3)
	parts := l.secret[:at] + join + l.secret[at:]
	if end := before[max(0, len(before)-1):]; end == " " || end == "=" {
		parts = quote + parts + quote
	}
	return before + parts + after
}

// wrap is what a terminal of a fixed width, an editor or a shell's continuation makes of it.
func wrap(l leak, d draw) string {
	at := len(l.secret)/3 + d.IntN(len(l.secret)/3)
	brk := []string{"\n", "\n  "}[d.IntN(2)]
	if l.cmd {
		brk = "\\\n"
	}
	return strings.Replace(l.frame, "{}", l.secret[:at]+brk+l.secret[at:], 1)
}

func quoted(s string) string {
	b, err := json.Marshal(map[string]any{"type": "text", "text": s, "is_error": false})
	if err != nil {
		panic(err)
	}
	return "The hook printed " + string(b) + " and stopped."
}

func shell(s string) string {
	esc := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	return "ssh build-3 \"cd /srv/api && " + esc.Replace(s) + "\""
}

// TestWrittenLeaks: of 300 leaks at least 97 % leave nothing behind that is half of the secret.
// The secrets are drawn five times over, as a rule may be lucky with one password.
func TestWrittenLeaks(t *testing.T) {
	r := redact.New()
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed+1), func(t *testing.T) { testLeaks(t, r, seed+1) })
	}
}

func testLeaks(t *testing.T, r *redact.Redactor, seed uint64) {
	d := draw{rand.New(rand.NewPCG(seed, 11))}
	caught := map[string]int{}
	all, good := 0, 0
	for _, l := range leaks(seed) {
		for form, text := range forms(l, d) {
			all++
			got := pass(t, r, text, l.cmd || form == "shell")
			if left(got, l.secret) != "" {
				t.Logf("missed: %s, %s: %q", l.name, form, got)
				continue
			}
			caught[form]++
			good++
		}
	}
	t.Logf("%d of %d (%.1f %%), by form: %v", good, all, 100*float64(good)/float64(all), caught)
	if all != 300 || float64(good) < 0.97*float64(all) {
		t.Errorf("%d of %d", good, all)
	}
}

// pass sends a text through redaction as a turn, or as a command, whole: what a cut takes
// away is no merit of the rules.
func pass(t *testing.T, r *redact.Redactor, text string, cmd bool) string {
	t.Helper()
	if cmd {
		e, _ := apply(t, r, session.Entry{Sessions: []session.Session{{ToolCalls: []session.ToolCall{{
			Tool: "Bash",
			Cmd:  text,
		}}}}})
		if got := e.Sessions[0].ToolCalls[0].Cmd; len(text) <= session.CmdPrefix {
			return got
		}
	}
	return applyText(t, r, text)
}

// left is a piece of the secret that is still there: half of it, and six bytes at least. What
// forms put between is looked through.
func left(text, secret string) string {
	flat := strings.NewReplacer("\n", "", `\n`, "", " ", "", `"`, "", "'", "", "+", "", `\`, "", ".", "")
	text, secret = flat.Replace(text), flat.Replace(secret)
	n := max(6, len(secret)/2)
	if strings.Count(secret, "") > 300 {
		n = 40 // of a key, one line is too much
	}
	for i := 0; i+n <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+n]) {
			return secret[i : i+n]
		}
	}
	return ""
}

func TestLeaksAreDistinct(t *testing.T) {
	names := map[string]bool{}
	for _, l := range leaks(1) {
		if names[l.name] || !strings.Contains(l.frame, "{}") || len(l.secret) < 10 {
			t.Errorf("%q", l.name)
		}
		names[l.name] = true
	}
	if len(names) != 60 {
		t.Errorf("%d leaks, not 60", len(names))
	}
}
