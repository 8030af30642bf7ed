package redact

import (
	"encoding/base64"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// vendorPrefixes begin tokens, as their makers document them, where what follows is not told by its looks
// alone (prefixed).
func vendorPrefixes() []string {
	return []string{
		"pplx-", "r8_", "tvly-", "fo1_", "gldt-", "glrt-", "glptt-", "glsoat-", "glcbt-", "glagent-", "glimt-", "glft-", "xoxb-", "xoxp-", "xoxa-",
		"xoxr-", "xapp-", "pypi-", "rubygems_", "gocspx-", "aiza", "ya29.", "1//0", "ntn_", "sbp_", "rnd_", "shpss_", "shpca_", "shppa_", "hvs.", "hvb.",
		"dop_v1_", "doo_v1_", "dor_v1_", "phx_", "sntrys_", "sntryu_", "glc_", "atatt3", "atta", "bkua_", "rpa_", "sgp_", "lsv2_", "age-secret-key-1",
		"waka_", "pul-", "akia", "asia", "sg.", "sq0", "ops_", "dp.pt.", "dp.st.", "dapi", "eyj", "xkeysib-", "rdme_", "ubsa_", "fio-u-", "pscale_oauth_",
		"nrak-", "nrii-", "nrjs-", "nrsp-", "sl.", "fc-", "e2b_", "hrku-", "mlsn.", "squ_", "sqp_", "sqa_", "pmak-", "xaat-", "cio", "bkct_", "ltai", "xprv", "yprv", "zprv", "cfpat-", "pk_", "eaac", "fw_",
		"ck_", "cs_", "sdk-", "csb_", "akcp", "ey-", "tfp_", "ezak", "eztk", "flwseck", "pnu_", "oauth:", "pat", "pat-", "gsk_", "xai-", "dckr_oat_", "sk-",
		"sk_", "rk_", "key-", "secret_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "glsa_", "figd_", "hf_", "npm_", "nfp_", "ops_", "tskey-", "napi_", "re_",
	}
}

// vendorToken is a token by its maker's prefix: what follows looks drawn by lot.
func vendorToken(t string, at window) (int, int) {
	if at.lo > 0 && (alnumeric(t[at.lo-1]) || t[at.lo-1] == '_') || at.hi < len(t) && !alnumeric(t[at.hi]) {
		return 0, 0
	}
	if alnumeric(t[at.hi-1]) && strings.IndexFunc(t[at.hi:min(len(t), at.hi+minHinted/2)], func(r rune) bool { return r == '-' || r == '_' }) >= 0 {
		return 0, 0 // a word that begins so
	}
	return tokenAt(t, at.lo, at.hi, minHinted)
}

// tokenAt is what begins at lo and looks drawn by lot from the given place on, in runs of at least so many
// letters and digits.
func tokenAt(t string, lo, body, run int) (int, int) {
	end := body
	for end < len(t) && end-body < 4096 && (alnumeric(t[end]) || t[end] == '_' || t[end] == '-' || t[end] == '.' && end+1 < len(t) && alnumeric(t[end+1])) {
		end++
	}
	rest := t[body:end]
	if m := fileName.FindStringIndex(rest); m != nil { // it names a file
		rest, end = rest[:m[0]], body+m[0]
	}
	if len(rest) < run || placeholder(rest) || !random(rest) && (Wordy(rest) || turns(rest) < 6 || !mixed(rest)) || isSum(t, lo) || snake.MatchString(rest) {
		return 0, 0
	}
	return lo, end
}

// snake is words with "_" between them, as names of code are.
var snake = lazy.Expr(`^(?:[A-Z\d]{1,12}|[a-z]+\d*)(?:_(?:[A-Z\d]{1,12}|[a-z]+\d*))+$`)

// minDrawn is how many letters of both cases and digits in a row, behind a prefix, are a token, and
// minHinted how many behind one that says so.
const (
	minDrawn  = 30
	minHinted = 16
)

// prefixed is a token behind a prefix that nobody has to know: a word, "_" or "-", and what looks drawn by
// lot. Fewer letters suffice where the prefix ends in a word for keys ("acme_pat_", "lin_api_").
func prefixed(t string, at window) (int, int) {
	run := at.hi
	for run < len(t) && run-at.hi < minDrawn && alnumeric(t[run]) {
		run++
	}
	if run-at.hi < minHinted || at.lo == 0 || !isLetter(t[at.lo-1]) && !alnumeric(t[at.lo-1]) {
		return 0, 0
	}
	lo := at.lo
	for lo > 0 && at.lo-lo < 24 && (alnumeric(t[lo-1]) || t[lo-1] == '_' || t[lo-1] == '-') {
		lo--
	}
	prefix := strings.ToLower(t[lo:at.lo])
	if !isLetter(t[lo]) || lo > 0 && (encodes[t[lo-1]] || t[lo-1] == '=' || t[lo-1] == '.') || !forKeys.MatchString(prefix) && (run-at.hi < minDrawn || !mixed(t[at.hi:run]) || len(prefix) > 16) {
		return 0, 0
	}
	return tokenAt(t, lo, at.hi, minHinted)
}

var forKeys = lazy.Expr(`(?:sk|pk|pat|key|api|tok|tkn|token|secret|live|pw|oat)$`)

// mixed reports whether there are letters of both cases and digits.
func mixed(v string) bool {
	return v != strings.ToLower(v) && v != strings.ToUpper(v) && strings.ContainsAny(v, digitSet)
}

func alnumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

var fileName = lazy.Expr(`\.[a-z]{1,4}(?::\d+)?$`)

// shape is what a token looks like where its maker put no prefix before it.
type shape struct {
	id       string
	keywords []string
	back     int // so many bytes before the keyword the shape may begin
	form     *lazy.Regexp
	can      func(string) bool // nil: anything of the form
}

func shapes() []shape {
	drawnSign := func(v string) bool { return random(v) && !isSumForm(v) } // a sum in hexadecimal digits gives no access
	return []shape{
		{"numbered-token", []string{":aa", "0/1", "1/1", "2/1"}, 12, lazy.Expr(`\d{8,12}:AA[\w-]{32,36}|[012]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}`), nil},
		{"discord-bot-token", []string{"discord", "bot.run", "client.login"}, 200, lazy.Expr(`\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}`), random},
		{"aws-secret-key", []string{"akia", "asia"}, 0, lazy.Expr(`[^\w/+=-]([A-Za-z0-9/+]{40})(?:[^\w/+=-]|$)`), mixed},
		{"webhook", []string{"/api/webhooks/", "webhookb2/"}, 0, lazy.Expr(`(?i)^(?:/api/webhooks/\d{15,21}/([\w-]{40,100})|webhookb2/([\w@-]{36,80}/IncomingWebhook/[\w-]+/[\w-]+))`), nil},
		{"shared-signature", []string{"sig=", "signature="}, 1, lazy.Expr(`(?i)^[?&;"' -]sig(?:nature)?=([\w+/%=-]{20,512})`), drawnSign},
		{"basic-credentials", []string{"basic "}, 0, lazy.Expr(`^(?i:basic) +([A-Za-z\d+/_-]{8,}={0,2})`), userAndPassword},
		{"password-hash", []string{"$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$8$", "$9$", "$y$", "$apr1$", "$argon2", "{ssha", "{sha", "{crypt}", "scram-sha-256$"}, 0, lazy.Expr(`(?i)^\$(?:\d[aby]?|y|apr1|argon2\w*)\$[\w$./,=+-]{16,}|^\{(?:s?sha\d*|(?:sha\d+-)?crypt)\}[\w$./=+-]{16,}|^scram-sha-256\$\d+:[\w$:./=+-]{32,}`), nil},
		{"pgpass", []string{":5432:", ":*:"}, 0, lazy.Expr("^:(?:5432|\\*):[^:\\s]+:[^:\\s]+:([^\\s\"'`]{4,})"), func(v string) bool { return lookOf(v, true) >= marked }},
		{"wifi-code", []string{"wifi:"}, 0, lazy.Expr(`(?i)^wifi:(?:[^\n]*;)?P:((?:\\.|[^;\\\n])+)`), nil},
		{"smtp-login", []string{"ugfzc3dvcmq6"}, 0, lazy.Expr(`(?i)^ugfzc3dvcmq6\s+(?:\w:\s*)?([\w+/]{8,}={0,2})`), nil},
		{"sasl-password", []string{"]:"}, 0, lazy.Expr("^\\]:\\d+\\s+[^\\s:]+@[^\\s:]+:([^\\s\"'`]{6,})"), nil},
		{"twilio-auth-token", []string{"\"ac", "'ac"}, 0, lazy.Expr(`^["']AC[\da-f]{32}["'], *["']([\da-f]{32})["']`), nil},
		{"ethereum-key", []string{"accounts"}, 0, lazy.Expr(`^accounts["']?\s*[:=]\s*\[\s*["'](?:0x)?([\da-f]{64})["']`), nil},
		{
			"mnemonic",
			[]string{"mnemonic", "phrase", "seed"},
			0, // BIP 39: twelve to twenty-four words of three to eight letters
			lazy.Expr("(?i)^(?:mnemonic|phrase|seed)[\\w ().,]{0,60}[\\s:=\"'`]+((?-i:[a-z]{3,8}[ ,\n]+){11,23}(?-i:[a-z]{3,8}))"),
			func(v string) bool { return !messageWord.MatchString(v) },
		},
	}
}

// userAndPassword reports whether v is base64 of the two, as HTTP wants it.
func userAndPassword(v string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	return err == nil && readable(plain) && strings.IndexByte(string(plain), ':') > 0
}

// maxShape is how far behind its keyword a shape is looked for, in bytes.
const maxShape = 240

// find is the shape at or around a keyword.
func (s shape) find(t string, at window) (int, int) {
	from := max(0, at.lo-s.back)
	m := s.form.FindStringSubmatchIndex(t[from:min(len(t), at.hi+maxShape)])
	if m == nil {
		return 0, 0
	}
	lo, hi := group(m)
	if lo, hi = from+lo, from+hi; s.can != nil && !s.can(t[lo:hi]) {
		return 0, 0
	}
	return lo, hi
}

// group is where the first group that took part in a match stands.
func group(m []int) (int, int) {
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}
