package redact_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestSignsInPasswords: a value without quotes is gone whole, whatever signs it holds. {} stands for it.
func TestSignsInPasswords(t *testing.T) {
	tests := []struct{ frame, secret string }{
		{"secret={}", "Zk9#mQ&7pL2x"},
		{"password: {}", "Nutmeg3&Clove12"},
		{"the password is {}", "Nutmeg3,Clove12"},
		{"PASSWORD={}", "Nutmeg3|Clove12"},
		{"pw: {}", "Nutmeg3;Clove12"},
		{"the password is {} by the way", "Nutmeg31*"},
		{"password: {}", "Tr0u,b4dor3x99"},
		{"PASSWORD={}", "ab$cd&ef%12"},
		{"mysql -u root -p{}", "S3cr&tPw9"},
		{"DB_PASSWORD={}", "Tr0u,b4dor3x99"},
		{"password: {}", "Tr0ub4dor&3x"},
		{"the password is {}", "Tr0ub4dor&3x"},
		{"api_key: {}", "sk-" + "proj-abc&def123456789"},
		{"password: {}", "Tr0ub4dor&test1"},
		{"the password is {}, then restart", "Tr0ub4dor&3x"},
		{"the password is {}.", "Tr0u,b4dor3x99"},
		{"password: {}; then go on", "vK7;pQ2&zR9"},
		{"password: {}", "hunter22abc;9zQ"},
		{"pw: {}", "q7|Wz,4Lp;9"},
		{"export PGPASSWORD={} PGUSER=bob", "m4X|n7$Qb&2"},
		{"PASSWORD={} make test", "Tr0ub4dor&horse"},
		{"пароль={},имя=боб2", "abc12345x"},
		{"?password={}&next=1", "abc12345"},
		{"{password:{},user:bob}", "abc12345"},
		{"{user: bob, password: {}, admin: true}", "Tr0u,b4dor3x99"},
		{"Server=db;Password={};User Id=sa;Encrypt=true", "Tr0ub4dor&3x"},
		{"Server=db;Password={};Encrypt=true", "Tr0u,b4dor3x99"},
		{"(password: {})", "Tr0u,b4dor3x99"},
		{"| db | password: {} | note |", "Tr0ub4dor&3x"},
		{"password={} && make", "Zk9#mQ&7pL2x"},
		{"TOKEN={}&&make all", "Tr0ub4dor3x"},
		{"<li>password: {}</li>", "Tr0ub4dor&amp;3x"},
		{"password=&quot;x&quot; password={}&quot;,", "Tr0ub4dor3x"},
		{"redis-cli -a {} ping", "S3cr&tPw9"},
		{"openssl enc -k {} -in x", "S3cr&t|Pw9"},
		{"openssl enc -passin pass:{} -in x", "S3cr,tPw9x"},
		{"mysql --password={} shop", "S3cr;tPw9x"},
		{"machine git.acme.dev login ci password {}", "Tr0u,b4dor&x99"},
		{"login password: '{}', user: 'bob'", "Tr0u,b4dor&x99"},
		{"Passwort: {}", "Tr0u,b4dor3x99"},
		{"Das Passwort lautet {}, bitte eintragen", "Tr0u&b4dor3x99"},
		{"비밀번호: {} 입니다", "Tr0ub4dor&3x"},
		{"비밀번호는 {}입니다", "Tr0ub4dor&3x"},
		{"密码是{}，不要提交", "Zk9#mQ&7pL2x"},
		{"{\"log\": \"password: {},\\nuser: bob\"}", "Tr0ub4dor&3x"},
	}
	r := redact.New()
	for _, tt := range tests {
		t.Run(tt.frame+" "+tt.secret, func(t *testing.T) {
			in := strings.Replace(tt.frame, "{}", tt.secret, 1)
			got := marked.ReplaceAllString(applyText(t, r, in), "{}")
			if got != tt.frame {
				t.Errorf("%q became %q", in, got)
			}
			if again := applyText(t, r, strings.ReplaceAll(got, "{}",
				"[REDACTED:generic-secret]")); marked.ReplaceAllString(again, "{}") != got {
				t.Errorf("again: %q", again)
			}
		})
	}
}

var marked = regexp.MustCompile(`\[REDACTED:generic-(?:secret|command|login)\]|\[REDACTED:openssl-password\]`)

// TestPartsElsewhere: where a value may have ended at a sign, the part before it is gone elsewhere, too.
func TestPartsElsewhere(t *testing.T) {
	got := applyText(t, redact.New(), "export PASSWORD=Tr0ub4dor3x;make\nis \"Tr0ub4dor3x\" right?")
	if strings.Contains(got, "Tr0ub") {
		t.Errorf("left: %q", got)
	}
}

// TestListsSurvive: what is behind a name with such signs is mostly a list, a type or an expression.
func TestListsSurvive(t *testing.T) {
	r := redact.New()
	for _, s := range []string{
		"password = getPassword(a, b)", "password=getPassword(a,b2)", "password: string, name: string",
		"password:string,name:string", `if password=="" && x`, "if(password===x&&y.foo2(z))",
		"token: string|null|undefined", "token: Uint8Array|ArrayBuffer", "пароль=abc12,имя=боб", "token: Foo32|Bar64",
		"mask: secret=O_MODE|O_FLAG22", "secret: required|max64", "tokens: us-east-1,us-west-22",
		"secrets=db_pass_01,db_pass_02", "tokens: a1,b2,c3,d4", "private x: A1|B2|C3|D4",
		"tokens: 12,345ms", "tokens: 1,234,567k", "token=$1,$2,$34abc", "token=%s&u5er7xq", "mask = private&0x3ffff1",
		"token=T1|0xff00ff", "credentials: ann@acme.dev,bob@acme.dev",
		"tokens: v1.2.3,v1.2.4", "secret:e.x3|n.y44", "token.go:12,parser.go:34", "password: &db_pw42x hunter",
		"token:&'a str,key:&'b str", "var token=e,n=r2,i=t33", "pass=a;b;c;d1;e2",
		"?token=<token>&id=42", "?token=${TOKEN}&id=42ab", "token=[TOKEN]&id=42ab",
		"--mount type=secret,id=npm_22,target=/root/.npmrc", "secret: ./a1.txt,./b22.txt", "password=\"\";name=x2",
		"passwords,emails\nabc,def@x", "FOO=abc; make", "PASSWORD=abc; make x2", "echo token | sed s/a/b22/",
		"password=$PASSWORD;make", "tokens|secrets|keys2026", "the token is auth2,then auth33",
		"token=os.Getenv(\"T\");x", "secretKeyRef:{name:db1,key:pw22}", "password: required|string|min:8|max:255",
		"'password' => 'required|min:8'", "password|length:64", "tokens=ADD_1,SUB_22,MUL_333",
	} {
		if got := applyText(t, r, s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
