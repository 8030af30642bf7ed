package redact

import (
	"regexp"
	"strings"
)

// detector is a rule of our own, for what gitleaks' rules leave: values that are said to be
// secret, in the words of code, shells and people. It is woken by a keyword, and finds what
// stands around it without a regular expression over all of the text.
type detector struct {
	id       string
	keywords []string // lower case
	find     func(t string, at window) (lo, hi int)
}

// KnownValue is the rule of values that the machine knows to be secret.
const KnownValue = "known-value"

func detectors() []detector {
	own := arguments()
	return []detector{
		{"generic-secret", []string{
			"pass", "pwd", "pw", "secret", "token", "credential", "authorization", "private", "apikey", "api_key", "api-key", "api key",
			"accesskey", "access_key", "access-key", "access key", "accountkey", "account_key", "signing_key", "signingkey",
			"encryption_key", "encryptionkey", "master_key", "masterkey", "auth_key", "authkey", "deploy_key", "sharedaccesskey",
		}, assigned},
		{"generic-secret", inTongues(), tongue},
		{"generic-bearer", []string{"bearer "}, bearer},
		{"generic-command", []string{
			"mysql", "mariadb", "sshpass", "docker login", "podman login", "registry login", "redis-cli", "mongo", "ldapsearch",
			"smbclient", "htpasswd", "rabbitmqadmin", "az login", "oc login", "curl", "wget",
		}, commandFlag},
		{"generic-command", argumentCommands(own), commandArgument(own)},
		{"generic-command", []string{"sudo -s"}, sudoInput},
		{"generic-login", []string{"login", "log in", "creds", "credentials"}, loginName},
		{"discord-webhook", []string{"/api/webhooks/"}, discordHook},
		{"shared-signature", []string{"sig="}, sharedSignature},
		{"generic-login", []string{"log in", "login", "sign in", "credentials", "creds"}, loginPair},
		{"sql-password", []string{"identified by"}, quotedNext},
		{"openssl-password", []string{"pass:"}, passArgument},
		{"url-password", []string{"://"}, urlPassword},
		{"private-key", []string{"private key"}, privateKey},
		{"vendor-token", vendorPrefixes(), vendorToken},
		{"telegram-bot-token", []string{":aa"}, telegramToken},
		{"discord-bot-token", []string{"discord", "bot.run", "client.login"}, discordToken},
	}
}

// vendorPrefixes begin tokens, as their makers document them.
func vendorPrefixes() []string {
	return []string{
		"sk-", "sk_", "rk_", "pk_live_", "whsec_", "hf_", "gsk_", "xai-", "pplx-", "nvapi-", "r8_", "tvly-", "fo1_", "dckr_pat_", "dckr_oat_",
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glptt-", "glsoat-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xapp-",
		"npm_", "pypi-", "rubygems_", "gocspx-", "aiza", "ya29.", "1//0", "figd_", "lin_api_", "ntn_", "secret_", "sbp_", "sb_secret_",
		"rnd_", "tskey-", "shpat_", "shpss_", "hvs.", "hvb.", "dop_v1_", "doo_v1_", "dor_v1_", "pat_", "key-", "phx_", "sntrys_", "sntryu_", "glsa_", "glc_",
		"atatt3", "bkua_", "ccipat_", "napi_", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", "rpa_", "sgp_", "lsv2_", "age-secret-key-1",
		"waka_", "pul-", "nfp_", "akia", "asia", "sg.", "sq0", "ops_", "dp.pt.", "dapi", "eyj", "xkeysib-", "shippo_live_", "rdme_", "ubsa_", "fio-u-",
	}
}

// vendorToken is a token by its maker's prefix: what follows looks drawn by lot.
func vendorToken(t string, at window) (int, int) {
	if at.lo > 0 && (alnumeric(t[at.lo-1]) || t[at.lo-1] == '_') || at.hi < len(t) && !alnumeric(t[at.hi]) {
		return 0, 0
	}
	end := at.hi
	for end < len(t) && end-at.hi < 4096 && (alnumeric(t[end]) || t[end] == '_' || t[end] == '-' || t[end] == '.' && end+1 < len(t) && alnumeric(t[end+1])) {
		end++
	}
	rest := t[at.hi:end]
	if m := fileName.FindStringIndex(rest); m != nil { // it names a file
		rest, end = rest[:m[0]], at.hi+m[0]
	}
	if len(rest) < 16 || placeholder(rest) || !random(rest) || isSum(t, at.lo) {
		return 0, 0
	}
	return at.lo, end
}

func alnumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

var (
	telegram = regexp.MustCompile(`\d{8,12}:AA[\w-]{32,36}`)
	discord  = regexp.MustCompile(`\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}`)
	flagged  = regexp.MustCompile(`\s-(?:p|a|w|P|b)[ =]?(?:"([^"\s]+)"|'([^'\s]+)'|([^\s"'<>|;&]+))`)
	fileName = regexp.MustCompile(`\.[a-z]{1,4}(?::\d+)?$`)
	userPair = regexp.MustCompile(`\s(?:-u|--user|--proxy-user)[ =]?["']?[\w.@+-]+:([^\s"'<>|]+)`)
	login    = regexp.MustCompile(`^[^\n]{0,60}?[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?:\s*[/|]\s+|:\s?|,?\s+(?:with\s+|and\s+)?)["'` + "`" + `]?([^\s"'` + "`" + `]{8,80})`)
)

func telegramToken(t string, at window) (int, int) {
	from, to := max(0, at.lo-12), min(len(t), at.hi+40)
	if m := telegram.FindStringIndex(t[from:to]); m != nil {
		return from + m[0], from + m[1]
	}
	return 0, 0
}

// discordToken looks around a mention of the service, or of a bot.
func discordToken(t string, at window) (int, int) {
	from, to := max(0, at.lo-200), min(len(t), at.hi+200)
	if m := discord.FindStringIndex(t[from:to]); m != nil && random(t[from+m[0]:from+m[1]]) {
		return from + m[0], from + m[1]
	}
	return 0, 0
}

// commandFlag is a password behind -p or the like, in the line of a command that takes one so.
func commandFlag(t string, at window) (int, int) {
	line := t[at.hi:min(len(t), at.hi+400)]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	options := flagged
	if at.hi-at.lo == len("curl") {
		options = userPair
	}
	for _, m := range options.FindAllStringSubmatchIndex(line, -1) {
		lo, hi := group(m)
		if hi = grow(line, lo, hi, "", pieceEnd); telling(judged(line[lo:hi])) {
			return at.hi + lo, at.hi + hi
		}
	}
	return 0, 0
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

// loginPair is the password behind an address to log in with.
func loginPair(t string, at window) (int, int) {
	m := login.FindStringSubmatchIndex(t[at.hi:min(len(t), at.hi+240)])
	if m == nil {
		return 0, 0
	}
	lo, hi := at.hi+m[2], at.hi+m[3]
	hi = lo + len(strings.TrimRight(t[lo:hi], ".,;:!?)"))
	if v := t[lo:hi]; telling(v) && strings.ContainsAny(v, digitSet) {
		return lo, hi
	}
	return 0, 0
}

// quotedNext is the string that follows.
func quotedNext(t string, at window) (int, int) {
	i := skip(t, at.hi, " \t\n")
	if i >= len(t) || t[i] != '\'' && t[i] != '"' {
		return 0, 0
	}
	lo, hi, _ := value(t, i)
	if hi-lo < 4 || placeholder(t[lo:hi]) || isWord(t[lo:hi]) {
		return 0, 0
	}
	return lo, hi
}

func passArgument(t string, at window) (int, int) {
	lo, hi, _ := value(t, at.hi)
	if at.lo > 0 && alnumeric(t[at.lo-1]) || hi-lo < minValue || !telling(judged(t[lo:hi])) {
		return 0, 0
	}
	return lo, hi
}

// bearer is a token behind its scheme, whatever header it is in.
func bearer(t string, at window) (int, int) {
	lo, hi, _ := value(t, at.hi)
	if hi-lo < 16 || !random(t[lo:hi]) {
		return 0, 0
	}
	return lo, hi
}

// urlPassword is the password of a URL, or a token in its place.
func urlPassword(t string, at window) (int, int) {
	end := at.hi
	for end < len(t) && end-at.hi < 512 && strings.IndexByte(" \t\r\n\"'<>`/\\", t[end]) < 0 {
		end++
	}
	host := strings.LastIndexByte(t[at.hi:end], '@')
	if host < 0 {
		return 0, 0
	}
	lo, hi := at.hi, at.hi+host
	user := ""
	if n := strings.IndexByte(t[lo:hi], ':'); n >= 0 {
		user = t[lo : lo+n]
		lo += n + 1
	} else if !random(t[lo:hi]) {
		return 0, 0
	}
	v := t[lo:hi]
	if len(v) < 4 || placeholder(v) || isWord(v) && (aboutItself(v) || strings.EqualFold(v, user)) || strings.ContainsAny(v, "{}()[]<>") {
		return 0, 0
	}
	return lo, hi
}
