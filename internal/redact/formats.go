package redact

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// detectors are the rules of our own, for what gitleaks' rules leave.
func detectors() []detector {
	tools := commands()
	all := []detector{
		{"generic-secret", englishKeywords(), valuesNamedBy(englishName)},
		{"generic-secret", foreignKeywords(), valuesNamedBy(foreignName)},
		{"generic-login", slices.Concat(spokenFor, called, ofPasswords), valuesNamedBy(occasionName)},
		{"generic-command", slices.Sorted(maps.Keys(tools)), commandDetector(tools)},
		{"generic-command", []string{"echo ", "printf ", "yes ", "<<<"}, pipedSecret},
		{"generic-command", []string{"genkey", "pwgen", "openssl rand", "base64 -d", "base64 --decode", "base64decode", "pass show", "op read"}, printedByCommand},
		{"generic-cookie", []string{"cookie", "phpsessid", "jsessionid", "sessionid", "session_id", "session-id", "_session", "session=", "sess=", "sid="}, cookies},
		{"webhook", []string{"hook", "/integration", "/trigger", "/with/key/", "hc-ping.com/", "/bot"}, webhook},
		{"private-key", []string{"private key", "openvpn static key", "private-lines:", "ls0tls1crudjti"}, privateKey},
		{"private-key", []string{`"kty"`}, jwk},
		{"private-key", []string{"private key", "privatekey", "private-key", "private_key", "privkey", "hex seed", "accounts", "wallet("}, rawKey},
		{"mnemonic", []string{"mnemonic", "phrase", "seed"}, mnemonic},
		{"vendor-token", vendorPrefixes(), vendorToken},
		{"generic-secret", []string{".join(", "fromcharcode(", "chr("}, spelledOut},
		{"generic-secret", []string{"password", "passphrase", "token", "secret"}, spaced},
	}
	for _, s := range shapes() {
		all = append(all, detector{s.rule, s.keywords, s.find})
	}
	return all
}

// vendorPrefixes begin tokens, as their makers document them, where what follows is not told by its looks alone
// (findPrefixedTokens).
func vendorPrefixes() []string {
	return strings.Fields("pplx- r8_ tvly- fo1_ gldt- glrt- glptt- glsoat- glcbt- glagent- glimt- glft- xoxb- xoxp- xoxa- xoxr- xapp- pypi- rubygems_ gocspx- aiza ya29. 1//0 ntn_ sbp_ rnd_ " +
		"shpss_ shpca_ shppa_ hvs. hvb. dop_v1_ doo_v1_ dor_v1_ phx_ sntrys_ sntryu_ glc_ atatt3 atta bkua_ rpa_ sgp_ lsv2_ age-secret-key-1 waka_ pul- akia asia sg. sq0 ops_ dp.pt. dp.st. dapi eyj " +
		"xkeysib- rdme_ ubsa_ fio-u- pscale_oauth_ nrak- nrii- nrjs- nrsp- sl. fc- e2b_ hrku- mlsn. squ_ sqp_ sqa_ pmak- xaat- cio bkct_ ltai xprv yprv zprv cfpat- pk_ eaac fw_ ck_ cs_ sdk- csb_ pk. " +
		"akcp ey- tfp_ ezak eztk flwseck pnu_ oauth: pat pat- gsk_ xai- dckr_oat_ sk- sk_ rk_ key- secret_ ghp_ gho_ ghu_ ghs_ ghr_ glpat- glsa_ figd_ hf_ npm_ nfp_ tskey- napi_ re_ whsec_")
}

const (
	minDrawn  = 30 // so many letters of both cases and digits in a row, behind a prefix, are a token
	minHinted = 16 // and so many behind one that says so
)

// vendorToken is a token by its maker's prefix: what follows looks drawn by lot.
func vendorToken(s *scanner, at window) {
	t := s.t
	if at.lo > 0 && isWordByte(t[at.lo-1]) || at.hi >= len(t) || !isAlphanumeric(t[at.hi]) || strings.HasSuffix(t[:at.lo], ";base64,") { // a file, which is read decoded
		return
	}
	lo, hi := s.tokenAt(at.lo, at.hi)
	s.addFound(lo, hi, "vendor-token", at)
}

// tokenAt is what begins at lo and looks drawn by lot from the given place on.
func (s *scanner) tokenAt(lo, body int) (int, int) {
	t, end := s.t, body
	for end < len(t) && end-body < 4*longestValue && (isWordByte(t[end]) || t[end] == '-' ||
		t[end] == '.' && end+1 < len(t) && isAlphanumeric(t[end+1])) {
		end++
	}
	s.work += end - body
	if isFile(t[body:end]) {
		end = body + strings.LastIndexByte(t[body:end], '.')
	}
	rest := t[body:end]
	head := rest[:min(len(rest), longestValue)]
	p := profileOf(head)
	if len(rest) < minHinted || isPlaceholder(head) ||
		!p.random(head) && (p.wordy() || p.caseChanges < 6 || !hasBothCasesAndDigit(head)) ||
		isInLockFileHash(t, lo) || inLongRun(t, lo) {
		return 0, 0
	}
	return lo, end
}

// inLongRun reports whether what begins at i stands within a run of base64, as images are written, perhaps in lines: it
// begins so by chance.
func inLongRun(t string, i int) bool {
	const least = 80
	return i-runStart(t, i, least, "-_\n") == least
}

// findPrefixedTokens looks at what is written in letters, digits, "_" and "-": it finds tokens behind a prefix that
// nobody has to know: a word in small letters, "_" or "-", and what looks drawn by lot. Fewer letters suffice where the
// prefix ends in a word for keys ("acme_pat_", "lin_api_").
func (s *scanner) findPrefixedTokens(part window) {
	t := s.t
	for i := part.lo; i < part.hi; i++ {
		if i > 0 && beforeRest[t[i-1]] || !isLower(t[i]) {
			continue
		}
		lo, sign := i, 0
		for i < len(t) && (isLower(t[i]) || i > lo && (isDigit(t[i]) || t[i] == '_' || t[i] == '-')) {
			if t[i] == '_' || t[i] == '-' {
				sign = i
			}
			i++
		}
		if sign == 0 || sign-lo > 24 {
			continue
		}
		end := sign + 1
		for end < len(t) && isAlphanumeric(t[end]) {
			end++
		}
		s.work += end - lo
		body := t[sign+1 : end]
		whole := end
		// a token may hold the signs of its prefix
		for whole < len(t) && whole < end+minHinted && (isWordByte(t[whole]) || t[whole] == '-') {
			whole++
		}
		if whole-sign > minHinted && isForKeys(t[lo:sign]) ||
			len(body) >= minDrawn && sign-lo <= 16 && profileOf(body).caseChanges > 3 {
			from, to := s.tokenAt(lo, sign+1)
			s.addFound(from, to, "vendor-token", window{lo, sign})
		}
		i = max(i, end-1)
	}
}

// beforeRest are the bytes behind which no token begins.
var beforeRest = bytesIn("-+/=._" + alnumSet) //nolint:gochecknoglobals // read-only

// isForKeys reports whether the end of a prefix says that a key follows.
func isForKeys(prefix string) bool {
	for _, end := range forKeys {
		if strings.HasSuffix(prefix, end) {
			return true
		}
	}
	return false
}

var forKeys = strings.Fields("sk pk pat key api tok tkn token secret live prod production sandbox pw oat") //nolint:gochecknoglobals // read-only

// givesAccess reports whether a part of an address, a query or a cookie gives access: it is drawn by lot, or a hash or
// an ID.
func givesAccess(v string) bool {
	v = strings.TrimRight(v, "=")
	return len(v) >= minHinted && !isPlaceholder(v) && (looksRandom(v) || isUUID(v) || len(v) >= 32 && isHashOrID(v) || strings.Count(v, ".") == 2 && strings.HasPrefix(v, "ey") || gradeOf(v, true) >= randomLike && !strings.ContainsAny(v, "/:"))
}

// webhook finds the parts of an address that let anybody post to it: those drawn by lot, behind a word that says so.
func webhook(s *scanner, at window) {
	s.searchLater("webhook", window{max(0, at.lo-2*maxReach), min(len(s.t), at.hi+4*maxReach)}, func(lo, hi int) {
		s.work += hi - lo
		for _, m := range hookAddress.FindAllStringSubmatchIndex(s.t[lo:hi], -1) {
			i, end := lo+m[3], lo+m[1]
			for i < end {
				part := s.t[i:end]
				if n := strings.IndexAny(part, "/?&="); n >= 0 {
					part = part[:n]
				}
				if id := onlyDigits(part) || strings.HasPrefix(part, "T0") && len(part) < 14; !id && givesAccess(part) {
					s.addFound(i, i+len(strings.TrimRight(s.t[i:end], ".:!")), "webhook", window{lo + m[2], lo + m[3]})
					break
				}
				i += len(part) + 1
			}
		}
	})
}

var hookAddress = lazy.Expr(`://[\w.~:/#\[\]@!$&*+=%|-]*?((?i:hook|/integration|/trigger|/with/key/|hc-ping\.com/|/bot))[\w.~:/#\[\]@!$&*+=%|?-]*`)

// cookies finds what stands behind the names of sessions, in headers, files and code. Outside of cookies, programs give
// such names to hashes and UUIDs that give no access.
func cookies(s *scanner, at window) {
	if at.lo < s.cookie {
		return
	}
	word := s.low[at.lo:at.hi]
	header := word == "cookie" || strings.HasSuffix(word, "sessid") || word == "jsessionid"
	line := lineOf(s.t, at.lo, at.hi, 4*longestValue)
	most := -1
	if header {
		s.cookie = line.hi
	} else {
		most, line.hi = 1, min(line.hi, at.hi+maxReach)
	}
	s.work += line.hi - at.lo
	for _, m := range sessionValue.FindAllStringSubmatchIndex(s.t[at.hi-len("="):line.hi], most) {
		lo, hi := at.hi-len("=")+m[2], at.hi-len("=")+m[3]
		if v := strings.TrimPrefix(s.t[lo:hi], "s%3A"); givesAccess(v) && (header || !isHashOrID(v[max(0, len(v)-20):])) {
			s.addFound(lo, hi, "generic-cookie", at)
		}
	}
}

var sessionValue = lazy.Expr("(?:[=\t]|[:,] *[\"'`])[ \"'`]*([\\w.~:/#\\[\\]@!$*+%|-]+)")

// findBotTokens finds the tokens of Discord's bots, in whose form no letter is fixed but the first: the number of the
// bot in base64, a time and a signature, with points between
// (https://docs.discord.com/developers/reference#authentication).
func (s *scanner) findBotTokens(part window) {
	const number, stamp, signature = 24, 6, 27
	t := s.t
	for i := part.lo; i < part.hi; i++ {
		next := strings.IndexByte(t[i:part.hi], '.')
		if i += next; next < 0 || i+1+stamp+1+signature > len(t) {
			return
		}
		if t[i+1+stamp] != '.' || i < number {
			continue
		}
		lo, hi := i-number, i+1+stamp+1
		for lo > 0 && i-lo < number+4 && (isWordByte(t[lo-1]) || t[lo-1] == '-') {
			lo--
		}
		for hi < len(t) && (isWordByte(t[hi]) || t[hi] == '-') {
			hi++
		}
		s.work += hi - lo
		if m := botToken.FindStringIndex(t[lo:hi]); m != nil && looksRandom(t[lo+m[0]:hi]) &&
			hasBothCasesAndDigit(t[i+1+stamp+1:hi]) && !inLongRun(t, lo) {
			s.addFound(lo+m[0], hi, "discord-bot-token", window{i, i + 1})
		}
	}
}

var botToken = lazy.Expr(`^[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}$`)

// findURLPasswords finds passwords before the "@" of a host: in URLs, where a token may take the place of a name and a
// password, in DSNs without a scheme (NAME:PASSWORD@tcp(…)), and in Oracle's NAME/PASSWORD@host.
func (s *scanner) findURLPasswords(part window) {
	const longest = 128
	for hi := part.lo; hi < part.hi; hi++ {
		next := strings.IndexByte(s.t[hi:part.hi], '@')
		if hi += next; next < 0 || hi+1 == len(s.t) {
			return
		}
		lo := hi
		for lo > 0 && hi-lo < longest && !addressStops[s.t[lo-1]] {
			lo--
		}
		s.work += hi - lo
		if c := s.t[hi+1]; isAlphanumeric(c) || strings.IndexByte("[/{$<%", c) >= 0 {
			s.addFound(hi-passwordIn(s.t[lo:hi], s.t[hi:min(len(s.t), hi+8)]), hi, "url-password", window{hi, hi + 1})
		}
	}
}

// passwordIn is the size of the password at the end of what stands before a host, or of the token that stands there
// with a word as its password or none; 0 for neither.
func passwordIn(before, host string) int {
	scheme := strings.LastIndex(before, "://")
	sign := strings.LastIndexAny(before, ":/")
	if scheme >= 0 {
		before = before[scheme+len("://"):]
		sign = strings.IndexByte(before, ':')
	}
	user, v := before[:max(0, sign)], before[sign+1:]
	n := strings.LastIndexAny(user, "=:/@")
	name := strings.ReplaceAll(strings.ReplaceAll(user[n+1:], "-", "_"), ".", "_")
	l := gradeOf(v, true)
	switch {
	case scheme >= 0 && (looksRandom(user) || len(user) >= 32 && isHashOrID(user)) && (v == "" || Wordy(v)): // a token, where others have their name
		return len(before)
	case len(v) < 4 || isPlaceholder(v) || isSample(v) || strings.ContainsAny(v, "{}()[]</"):
	case scheme >= 0 && sign < 0 && !looksRandom(v) && (len(v) < minHinted || l < passwordLike):
	case scheme >= 0 && (isWord(v) && (hasNameWord(v) || strings.EqualFold(v, user)) || strings.Contains(user, "/")):
	case scheme < 0 && (!isName(name) || len(name) > 31 || n >= 0 && user[n] == '/' && before[sign] == '/' ||
		l < wordPlus || l == wordPlus && !hasDigit(v)):
	case scheme < 0 && (strings.HasPrefix(host, "@sha256") || strings.HasPrefix(host, "@v")):
	default:
		return len(v)
	}
	return 0
}

var addressStops = bytesIn(" \t\r\n\"'<>`\\") //nolint:gochecknoglobals // read-only

// mnemonic is a wallet's seed as BIP 39 writes it: twelve to twenty-four words of three to eight letters.
func mnemonic(s *scanner, at window) {
	if at.lo < s.seed {
		return
	}
	t, end := s.t, min(len(s.t), at.hi+4*maxReach)
	var words []window
	i := at.hi
	for i < end && len(words) < 24 && (len(words) > 0 || i-at.hi < 60) {
		lo := i
		for i < end && isLower(t[i]) {
			i++
		}
		hi := i
		i = skip(t, i, " ,\n")
		isSeed := hi-lo >= 3 && hi-lo <= 8 && !messageWords.has(t[lo:hi])
		if isSeed {
			words = append(words, window{lo, hi})
		}
		if !isSeed || i == hi { // the words end
			if len(words) >= 12 {
				break
			}
			words, i = nil, max(i, lo+1)
		}
	}
	s.seed = i
	s.work += i - at.hi
	if n := len(words); n >= 12 {
		s.addFound(words[0].lo, words[n-1].hi, "mnemonic", at)
	}
}

// spelledOut finds a value that code puts together from single characters or their numbers, on a line that names a
// secret.
func spelledOut(s *scanner, at window) {
	line := lineOf(s.t, at.lo, at.hi, 4*longestValue)
	list := window{at.lo, line.hi}
	if s.low[at.lo] == '.' {
		list = window{line.lo, at.lo}
	}
	s.work += line.hi - line.lo
	m := characterList.FindStringIndex(s.t[list.lo:list.hi])
	if m != nil && secretWord.MatchString(s.low[line.lo:list.lo+m[0]]) {
		s.addFound(list.lo+m[0], list.lo+m[1], "generic-secret", at)
	}
}

var (
	characterList = lazy.Expr(`(?:["'][^"'\\]["']\s*,\s*){5,}["'][^"'\\]["']|\b(?:\d{2,3}\s*,\s*){5,}\d{2,3}\b|chr\(\d+\)(?:\s*[+.]\s*chr\(\d+\)){5,}`)
	secretWord    = lazy.Expr(`pass|pwd|secret|token|key|cred`)
)

// spaced finds a value with a space between all its characters.
func spaced(s *scanner, at window) {
	rest := s.t[at.hi:min(len(s.t), at.hi+2*maxReach)]
	if !hasSpacedOut(rest[:min(len(rest), 40)]) {
		return
	}
	m := spacedForm.FindStringSubmatchIndex(rest)
	s.work += len(rest)
	if m != nil && gradeOf(strings.ReplaceAll(rest[m[2]:m[3]], " ", ""), true) >= passwordLike {
		s.addFound(at.hi+m[2], at.hi+m[3], "generic-secret", at)
	}
}

// hasSpacedOut reports whether three characters stand in a text with spaces around them.
func hasSpacedOut(t string) bool {
	for i := 0; i+6 < len(t); i++ {
		if t[i] == ' ' && t[i+2] == ' ' && t[i+4] == ' ' && t[i+6] == ' ' {
			return true
		}
	}
	return false
}

var spacedForm = lazy.Expr(`^(?: (?:is|letter by letter|spelled out|with spaces))*[ :=]{1,3}((?:[!-~] ){6,}[!-~])(?:\s|$)`)

// shape is what a token looks like where its maker put no prefix before it.
type shape struct {
	rule     string
	keywords []string
	around   bool // it stands somewhere around the keyword
	back     int  // so many bytes before the keyword it may begin
	form     *lazy.Regexp
	can      func(string) bool // nil: anything of the form
}

func shapes() []*shape {
	return []*shape{
		{"numbered-token", []string{":aa", "0/1", "1/1", "2/1"}, false, 12, lazy.Expr(`\d{8,12}:AA[\w-]{32,36}|^[012]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}`), nil},
		{"aws-secret-key", []string{"akia", "asia"}, true, 0, lazy.Expr(`[^\w/+=-]([A-Za-z0-9/+]{40})(?:[^\w/+=-]|$)`), hasBothCasesAndDigit},
		{"basic-credentials", []string{"basic ", "auth\"", "_auth"}, false, 0, lazy.Expr(`^(?i:basic|auth"|_auth)[ =:"']+([A-Za-z\d+/_-]{8,}={0,2})`), isBasicLogin},
		{"password-hash", []string{"$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$8$", "$9$", "$y$", "$apr1$", "$argon2", "{ssha", "{sha", "{crypt}", "scram-sha-256$"}, false, 0, lazy.Expr(`(?i)^\$(?:\d[aby]?|y|apr1|argon2\w*)\$[\w$./,=+-]{16,}|^\{(?:s?sha\d*|(?:sha\d+-)?crypt)\}[\w$./=+-]{16,}|^scram-sha-256\$\d+:[\w$:./=+-]{32,}`), nil},
		{"pgpass", []string{":5432:", ":*:"}, false, 0, lazy.Expr("^:(?:5432|\\*):[^:\\s]+:[^:\\s]+:([^\\s\"'`]{4,})"), func(v string) bool { return gradeOf(v, true) >= wordPlus }},
		{"wifi-code", []string{"wifi:"}, false, 0, lazy.Expr(`(?i)^wifi:(?:[^\n]*;)?P:((?:\\.|[^;\\\n])+)`), nil},
		{"smtp-login", []string{"ugfzc3dvcmq6"}, false, 0, lazy.Expr(`(?i)^ugfzc3dvcmq6\s+(?:\w:\s*)?([\w+/]{8,}={0,2})`), nil},
		{"sasl-password", []string{"]:"}, false, 0, lazy.Expr("^\\]:\\d+\\s+[^\\s:]+@[^\\s:]+:([^\\s\"'`]{6,})"), nil},
		{"twilio-auth-token", []string{"\"ac", "'ac"}, false, 0, lazy.Expr(`^["']AC[\da-f]{32}["'], *["']([\da-f]{32})["']`), nil},
		{"shared-signature", []string{"sig=", "signature="}, false, 1, lazy.Expr(`^[?&;-](?i:sig|signature)=([\w+/%=~-]{20,})`), givesAccess},
		{"shared-signature", []string{"sig=", "signature="}, false, 1, lazy.Expr(`^[^A-Za-z]?(?i:sig|signature)=([\w+/%=~-]{20,})`), func(v string) bool { return looksRandom(v) && !isHashOrID(v) }},
		{"shared-signature", []string{"?code=", "&code="}, false, 0, lazy.Expr(`^[?&](?i:code)=([\w+/%-]{20,}={0,2})`), givesAccess},
		{"generic-cookie", []string{"true\t/", "false\t/", "true /", "false /"}, false, 0, lazy.Expr(`(?i)^(?:true|false)[\t ]+/[^\s]*[\t ]+(?:true|false)[\t ]+\d+[\t ]+[^\s]+[\t ]+([^\s"']{8,})`), givesAccess},
		{"request-signature", []string{"-signature", "-hmac-sha"}, false, 0, lazy.Expr(`(?i)^-(?:signature(?:-\w+)?|hmac-sha\d+)["']?[ \t]*[:=][ \t]*["']?(?:t=\d+,)?(?:v\d[=,]|sha\d+=)?([\da-f]{40,128}|[\w+/-]{27,88}={0,2})(?:[^\w+/=-]|$)`), givesAccess},
		{"sidekiq-secret", []string{"contribsys__com"}, false, 0, lazy.Expr(`(?i)^contribsys__com\W{1,5}([\da-f]{8}:[\da-f]{8})\b`), nil},
		{"bitcoin-key", []string{"wif", "importprivkey", "private key", "sweep", "swept", "wallet", "bitcoin"}, true, maxReach, lazy.Expr(`\b(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KL][1-9A-HJ-NP-Za-km-z]{51})\b`), hasBothCasesAndDigit},
	}
}

// find is the shape behind a keyword, or, once all keywords are known, around it.
func (f *shape) find(s *scanner, at window) {
	const reach = 4 * maxReach // behind the keyword, in bytes
	from, to := max(0, at.lo-f.back), min(len(s.t), at.hi+reach)
	if !f.around {
		f.findIn(s, from, to, at)
		return
	}
	s.searchLater(f.rule, window{from, to}, func(lo, hi int) { f.findIn(s, lo, hi, at) })
}

// findIn notes the first value of the shape in a part of the text, or all if the shape stands around its keyword.
func (f *shape) findIn(s *scanner, from, to int, at window) {
	s.work += to - from
	for from < to {
		m := f.form.FindStringSubmatchIndex(s.t[from:to])
		if m == nil {
			return
		}
		lo, hi := firstGroup(m)
		lo, hi = from+lo, from+hi
		if f.can == nil || f.can(s.t[lo:hi]) {
			s.addFound(lo, hi, f.rule, at)
		}
		if from = max(hi, from+1); !f.around {
			return
		}
	}
}
