package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// kind is what a name says of its value.
type kind int

const (
	password kind = iota // what people think up, too
	token                // what machines make
	key                  // only what looks drawn by lot: other keys are for maps and doors
	pin                  // a number of four digits and more, too
	passVerb             // "pass", which is more often said of other things
	login                // no name: a word for logging in, near which a password may stand
)

// name is a place where a text names a secret.
type name struct {
	lo, end int
	at      window // its keyword
	kind    kind
	weak    bool // it means a secret only where a sign gives it a value
	flag    bool // it is a flag of a command
	foreign bool // it is of another language than English
	phrase  bool // its value may be several words
}

// englishKeywords are the keywords of englishName.
func englishKeywords() []string {
	return []string{
		"pass", "session", "pin", "puk", "otp", "2fa", "pw", "psk", "salt", "pepper", "secret", "token", "cred", "auth",
		"bearer", "key",
		"identified by", "identified with", "securestring", " pat", "_pat", "code", "ssid", "wif", "cookie",
	}
}

// englishName is the name of a secret that a keyword begins. It must be a word of its own, also within a longer name
// ("dbPassword", "X-API-Key"), and the name must not go on to something that tells about a secret ("token_type").
func englishName(t string, at window) (name, bool) {
	n := name{lo: at.lo, end: at.hi, at: at}
	for n.end < len(t) && n.end-at.hi < 40 && isLetter(t[n.end]) && (isLower(t[n.end]) || !isLower(t[n.end-1])) {
		n.end++
	}
	word := lower(t[at.lo:n.end])
	upper := !hasLower(t[at.lo:n.end])
	glued := at.lo > 0 && isLetter(t[at.lo-1]) && (isLower(t[at.lo]) || !isLower(t[at.lo-1]))
	m, ok := meaningOfWord(word, t, at.lo, glued, upper)
	if !ok {
		return n, false
	}
	n.kind, n.phrase = m.kind, strings.Contains(word, "phrase")
	flag := wordUpTo(t, at.lo, &endsFlag)
	n.flag = strings.HasPrefix(flag, "-") && !strings.ContainsAny(flag, "/=")
	n.weak = m.weak && !n.flag && !upper || strings.Contains(wordUpTo(t, at.lo, &endsPart), "/")
	rest := n.end
	for n.end < len(t) && n.end-rest < 40 && (isWordByte(t[n.end]) ||
		n.end+1 < len(t) && (t[n.end] == '-' && isAlphanumeric(t[n.end+1]) || t[n.end] == '.' && isLower(t[n.end+1]))) {
		n.end++
	}
	if rest == n.end {
		sign := skip(t, n.end, "\"'")
		if n.kind == passVerb && !glued && (at.lo > 0 && strings.IndexByte("_.", t[at.lo-1]) >= 0 ||
			upper && strings.HasPrefix(t[n.end:], "=") || sign < len(t) && strings.IndexByte(":=", t[sign]) >= 0) {
			n.kind = password
		}
		return n, true
	}
	about, all := false, 0
	eachPiece(t[rest:n.end], func(p string, _ int) { about, all = about || AboutSecret(p), all+1 })
	n.weak = n.weak || len(word) <= 3 && isUpper(t[rest]) && isLower(t[rest-1]) // "pskModes" tells about one
	return n, all == 0 || !n.weak && !about
}

// meaning is what a word says of a value, as in name.
type meaning struct {
	kind kind
	weak bool
}

// meanings are those of the words that name secrets.
var meanings = sync.OnceValue(func() map[string]meaning { //nolint:gochecknoglobals // read-only
	out := map[string]meaning{
		"identified by": {password, true}, "identified with": {password, true},
		" pat": {token, true}, "_pat": {token, true},
	}
	for m, words := range map[meaning]string{
		{passVerb, false}: "pass",
		{password, false}: "passw pw pwd psk password passwords passwd passphrase passphrases passcode securestring",
		{token, false}:    "authtok authtoken secret secrets cred creds credential credentials authorization token tokens",
		{key, false}:      "wif session salt pepper cookie cookies",
		{key, true}:       "bearer key keys",
		{pin, true}:       "pin otp totp puk pincode 2fa code codes",
		{login, false}:    "ssid auth",
	} {
		for _, word := range strings.Fields(words) {
			out[word] = m
		}
	}
	return out
})

// meaningOfWord is the meaning of a word at i, which may be a part of a longer one, or in capitals.
func meaningOfWord(word, t string, i int, glued, upper bool) (m meaning, ok bool) {
	m, ok = meanings()[word]
	switch strings.TrimSuffix(word, "s") {
	case "pas", "passw", "pw", "pwd", "psk":
		m.weak = glued
	case "wif":
		ok = !glued
	case "session":
		ok = upper // in small letters, it is one of many things
	case "token":
		ok = !countsTokens.has(wordBefore(t, i))
	case "code":
		ok = ofCodes.has(wordBefore(t, i))
	case "key":
		before := wordBefore(t, i)
		if ok = !ofLookups.has(before); ofKeys.has(before) {
			m = meaning{token, false}
		}
	}
	if ending, found := strings.CutPrefix(word, "password"); !ok && len(ending) <= 3 { // "passwordnya", "passwordet"
		return meaning{}, found
	}
	return m, ok
}

// What stands before "token", "code" and "key".
var (
	countsTokens = setOf("page next continuation cancellation sync prompt completion max min total input output cached reasoning last design color num")                                                                    //nolint:gochecknoglobals // read-only
	ofCodes      = setOf("verification confirmation pin backup recovery security access door alarm sms time login auth 2fa fa mfa unlock pairing gate entry reset")                                                         //nolint:gochecknoglobals // read-only
	ofKeys       = setOf("api access account secret private signing encryption master auth deploy license licence shared hmac jwt app server service subscription function functions admin ingestion instrumentation")      //nolint:gochecknoglobals // read-only
	ofLookups    = setOf("public recv primary foreign cache restore sort partition index row hash group object map storage query idempotency unique lookup s metric site dedup dedupe routing host trusted composite join") //nolint:gochecknoglobals // read-only
)

// wordUpTo is what stands before i, at most 60 bytes, up to one of the bytes that end it.
func wordUpTo(t string, i int, ends *[256]bool) string {
	lo := i
	for lo > max(0, i-60) && !ends[t[lo-1]] {
		lo--
	}
	return t[lo:i]
}

var (
	endsFlag = bytesIn(" \t\n\"'")       //nolint:gochecknoglobals // read-only
	endsPart = bytesIn(" \t\n\"'`=?&:(") //nolint:gochecknoglobals // read-only
	endsName = func() (out [256]bool) {  //nolint:gochecknoglobals // read-only
		for c := range out {
			out[c] = !isWordByte(byte(c))
		}
		return out
	}()
)

// wordBefore is the word that ends at i, or before one sign there: "api" of "API_KEY", "apikey" and "api key".
func wordBefore(t string, i int) string {
	if i > 0 && strings.IndexByte("_- .", t[i-1]) >= 0 {
		i--
	}
	lo := i
	for lo > 0 && i-lo < 16 && isLetter(t[lo-1]) && (lo == i || isLower(t[lo]) || !isLower(t[lo-1])) {
		lo--
	}
	return lower(t[lo:i])
}

// AboutSecret reports whether the last word of a name makes it tell about a secret, and not be one.
func AboutSecret(word string) bool { return aboutSecrets.has(lower(word)) }

var aboutSecrets = setOf( //nolint:gochecknoglobals // read-only
	"type types name names path file files dir url uri host port user username id ids ttl expiry expires expiration timeout length len size count limit max min usage used " +
		"method algorithm alg algo provider version region mode enabled required format prefix suffix field header policy sock hash regex pattern label ref arn class store env " +
		"endpoint scope scopes ms rate range budget mgr merge remote redaction detection detector scanning scanner rotation validation validator generation generator exchange " +
		"refresh request response error hint index kind service manager helper program command commit sha reset page form screen prompt parser")

// foreignName is the name of a secret in one of the tongues, with its endings.
func foreignName(t string, at window) (name, bool) {
	const maxEnding = 8 // in bytes
	n := name{lo: at.lo, end: at.hi, at: at, foreign: true, phrase: forPhrase.MatchString(t[at.lo:at.hi])}
	if forCode.MatchString(t[at.lo:at.hi]) {
		n.kind = pin
	} else if forToken.MatchString(t[at.lo:at.hi]) && !forWifi.MatchString(t[at.lo:at.hi]) {
		n.kind = token
	}
	capitals := strings.ToUpper(t[at.lo:at.hi]) == t[at.lo:at.hi] // of any script
	if first, _ := utf8.DecodeRuneInString(t[at.lo:]); first < caseless {
		rest := t[at.hi:min(len(t), at.hi+maxEnding+utf8.UTFMax)]
		n.end += len(rest) - len(strings.TrimLeftFunc(rest,
			func(r rune) bool { return unicode.IsLetter(r) && r < caseless && (capitals || !unicode.IsUpper(r)) }))
	}
	r, _ := utf8.DecodeRuneInString(t[n.end:])
	return n, n.end-at.hi <= maxEnding && (n.end > at.hi || !unicode.IsUpper(r) || capitals) && standsAlone(t, at)
}

var (
	forCode = lazy.Expr(`(?i)(?:sicherheits|bestätigungs|einmal|prüf|verificatie)code|^c[oó]d(?:e|igo|ice) d|kod|код|验证码|驗證碼|認証コード|確認コード|번호$`)
	// forToken is a name that is not a password's, but for forWifi, a key that people think up; forPhrase one for several
	// words.
	forToken  = lazy.Expr(`(?i)api|token|jeton|токен|トークン|토큰|令牌|schlüssel|sleutel|nyckel|nøkkel|nøgle|avain|cl[ée]|chave|chiave|cheie|anahtar|klucz|kľúč|klíč|ключ|khóa|kunci|钥|鑰|キー|鍵|키`)
	forWifi   = lazy.Expr(`(?i)^(?:wlan|wi-?fi|netzwerk|wpa)`)
	forPhrase = lazy.Expr(`(?i)phrase|frase|фраза`)
)

// occasionName is a word for logging in, or what is called for it.
func occasionName(t string, at window) (name, bool) {
	n := name{lo: at.lo, end: at.hi, at: at, kind: login}
	word := lower(t[at.lo:at.hi])
	if slices.Contains(ofPasswords, word) { // nothing else is given to it
		n.kind = password
	}
	call := at.hi
	for call < len(t) && call-at.hi < 40 && (isWordByte(t[call]) || t[call] == '.') {
		call++
	}
	if strings.HasPrefix(t[call:], "(") && (call == at.hi || t[at.hi] == '.') {
		n.end = call + 1
		return n, true
	}
	if n.kind == password || slices.Contains(called, word) &&
		(!strings.HasPrefix(t[at.hi:], " ") || !isQuoteAt(t, at.hi+1)) ||
		at.hi < len(t) && isLetter(t[at.hi-1]) && (isWordByte(t[at.hi]) || t[at.hi] == '-') {
		return n, false
	}
	return n, at.lo == 0 || !isAlphanumeric(t[at.lo-1]) || isLower(t[at.lo-1]) && !isLower(t[at.lo])
}

func isUpper(c byte) bool        { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool        { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool        { return '0' <= c && c <= '9' }
func isLetter(c byte) bool       { return isLower(c) || isUpper(c) }
func isAlphanumeric(c byte) bool { return isLetter(c) || isDigit(c) }
func isWordByte(c byte) bool     { return isAlphanumeric(c) || c == '_' }
func isBase64Byte(c byte) bool   { return isAlphanumeric(c) || c == '+' || c == '/' || c == '=' }

var (
	// copulas tie a name to its value, and fillers keep the tie, in many languages.
	copulas = setOf("s is was are be been now its it's isn't ist sind war lautet heißt est c'est es is é eh e è är er jest je este είναι это là adalah ialah olarak yra ir е є है هي هو היא הוא " + //nolint:gochecknoglobals // read-only
		"isch till glasi estas ay yw ni cest cioè reads така такая to by with using use enter type auf na als as mit avec con com с z met à på zu у on és" + " :")
	fillers      = setOf("the just still set changed currently actually this that der die das den el la le les il lo um uma en een ett de string str const let var final new some value default") //nolint:gochecknoglobals // read-only
	isSecretName = setOf("password passwd pass pw pwd psk pin otp token secret key passphrase auth credentials session")                                                                          //nolint:gochecknoglobals // read-only
)

// wordSet is a set of words, made when it is first asked: most processes of git-rekal redact nothing.
type wordSet struct {
	text  string
	once  sync.Once
	words map[string]bool
}

func setOf(words string) *wordSet { return &wordSet{text: words} }

func (s *wordSet) has(word string) bool {
	s.once.Do(func() {
		s.words = map[string]bool{}
		for _, w := range strings.Fields(s.text) {
			s.words[w] = true
		}
	})
	return s.words[word]
}

// What people say about logging in, what is called for it, and what is called with a password alone.
var (
	spokenFor = strings.Split("login,log in,logging in,signin,sign in,log on,logon,user/pass,wifi,wi-fi,wlan,ssh ,unlock,opens with,encrypted with,decrypted with,encrypt it with,decrypt it with,decrypt with,sudo with,sudo works with,connects with,connecting as,connected as,connect with,logged in as,signed in as,protected with,unzip it with,open it with,test account,test user,demo account,demo user,authenticate,credentials,admin,"+ //nolint:gochecknoglobals // read-only
		"zugangsdaten,identifiants,credenciales,credenziali,melde,anmelden,einloggen,inloggen,connecte,accedi,entra con,inicia sesión,zaloguj,přihlas,логин,войди,зайди", ",")
	called = strings.Split("connect,connection,database,mysqli,pdo,drivermanager,securitykey,begin,bind,bind_s,fernet,hmac,jwt,aes,basic,basic_auth,basic-auth,basicauth,"+ //nolint:gochecknoglobals // read-only
		"createcipheriv,pgp_sym_decrypt,pgp_sym_encrypt", ",")
	ofPasswords = strings.Split("tochararray,hashpw,bcrypt.hash,hash::make,make_password,password_hash", ",") //nolint:gochecknoglobals // read-only
)
