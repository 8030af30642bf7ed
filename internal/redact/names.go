package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

const digitSet = "0123456789"

// kind is what a name says of its value.
type kind int

const (
	password kind = iota // what people think up, too
	token                // what machines make
	key                  // only what looks drawn by lot: other keys are for maps and doors
	numeral              // a number of four digits and more, too
	verb                 // "pass", which is more often said of other things
	occasion             // no name: a word for logging in, near which a password may stand
)

// name is a place where a text names a secret.
type name struct {
	lo, end int
	kind    kind
	weak    bool // it means a secret only where a sign gives it a value
	flag    bool // it is a flag of a command
	quoted  bool
	foreign bool // it is one of the tongues
	spoken  bool // it stands in a sentence
	phrase  bool // its value may be several words
}

// named makes a detector of one that finds names: it takes the values that stand beside them.
func named(find func(t string, at window) (name, bool)) func(t string, at window) []window {
	return func(t string, at window) []window {
		n, ok := find(t, at)
		if !ok {
			return nil
		}
		if (n.kind == verb || n.kind == token) && ofAccount(t, n) {
			n.kind = password
		}
		n.spoken = n.foreign || !n.flag && inSentence(t, n.lo, n.end)
		if lo, hi := n.behind(t); lo < hi {
			return withRest(t, window{lo, hi})
		}
		if line := lineOf(t, n.lo, n.end); prompt.MatchString(t[line.lo:n.lo]) {
			if lo, hi := nextLine(t, line.hi, n); lo < hi {
				return []window{{lo, hi}}
			}
		}
		if n.weak {
			return nil
		}
		if lo, hi := n.ahead(t); lo < hi {
			return []window{{lo, hi}}
		}
		if n.kind >= verb {
			return nil
		}
		if out := below(t, n); len(out) > 0 || n.kind != password {
			return out
		}
		return beside(t, n)
	}
}

// withRest is a value, and those that are listed with it or take its place: codes of one form, "old → new". A title has
// a space where a line's end parted the halves of a long one.
func withRest(t string, v window) []window {
	out := []window{v}
	for len(out) < maxRows {
		m := between.FindStringSubmatchIndex(t[v.hi:min(len(t), v.hi+20)])
		if m == nil {
			break
		}
		lo, hi := bare(t, v.hi+m[1])
		was, is := t[v.lo:v.hi], t[lo:hi]
		half := m[1] == 1 && len(was) >= minHinted && lookOf(was, true) >= odd && len(is) >= minHinted && mixed(is) && lookOf(is, false) >= odd && !Wordy(is)
		changed := m[2] >= 0 && lookOf(is, true) >= marked
		if !half && !changed && (m[1] == 1 || !alike(was, is)) {
			break
		}
		v = window{lo, hi}
		out = append(out, v)
	}
	return out
}

// alike reports whether two values are of one form: as long, with the same signs in the same places, and a digit.
func alike(a, b string) bool {
	if len(a) != len(b) || !strings.ContainsAny(a, digitSet) {
		return false
	}
	for i := range len(a) {
		if alnumeric(a[i]) != alnumeric(b[i]) || !alnumeric(a[i]) && a[i] != b[i] {
			return false
		}
	}
	return true
}

// between stands between two values; its group says that the second takes the place of the first.
var between = lazy.Expr("^[\"'`*~)]*(?:( ?(?:->|→|=>) ?|-\\]\\{\\+| (?:to|auf|en|по|на) )|,? (?:and|or|und|oder|et|ou|y|o|e|и) |[,;/&]? ?|\\n[-*\\d.) ]*)[\"'`*~(]*")

// english is the name of a secret that a keyword begins. It must be a word of its own, also within a
// longer name ("dbPassword", "X-API-Key"), and the name must not go on to something that tells
// about a secret ("token_type").
func english(t string, at window) (name, bool) {
	n := name{lo: at.lo, end: at.hi, flag: isFlag(t[:at.lo])}
	for n.end < len(t) && n.end-at.hi < 40 && isLetter(t[n.end]) && (isLower(t[n.end]) || !isLower(t[n.end-1])) {
		n.end++
	}
	word := strings.ToLower(t[at.lo:n.end])
	upper := strings.ToUpper(word) == t[at.lo:n.end]
	n.phrase = strings.Contains(word, "phrase")
	glued := at.lo > 0 && isLetter(t[at.lo-1]) && (isLower(t[at.lo]) || !isLower(t[at.lo-1]))
	var ok bool
	if n.kind, n.weak, ok = meant(word, wordBefore(t, at.lo), glued, upper); !ok {
		return n, false
	}
	n.weak = n.weak && !n.flag && !upper
	rest := n.end
	for n.end < len(t) && n.end-rest < 40 && (alnumeric(t[n.end]) || t[n.end] == '_' || t[n.end] == '-' && n.end+1 < len(t) && alnumeric(t[n.end+1]) ||
		t[n.end] == '.' && n.end+1 < len(t) && isLower(t[n.end+1])) {
		n.end++
	}
	all := pieces(t[rest:n.end])
	if n.kind == verb && !glued && (len(all) == 0 || upper) && (at.lo > 0 && strings.IndexByte("_.", t[at.lo-1]) >= 0 || upper && n.end < len(t) && t[n.end] == '=') {
		n.kind = password
	}
	if n.kind == verb && len(all) > 0 {
		return n, false
	}
	// "pskModes" tells about one
	n.weak = n.weak || len(word) <= 3 && rest < n.end && isUpper(t[rest]) && isLower(t[rest-1])
	n.weak = n.weak || inPath(t, at.lo) || strings.HasSuffix(t[:at.lo], "$(")
	return n, len(all) == 0 || !n.weak && !slices.ContainsFunc(all, AboutSecret)
}

// inPath reports whether what stands at i is a part of a path.
func inPath(t string, i int) bool {
	before := t[max(0, i-60):i]
	before = before[strings.LastIndexAny(before, " \t\n\"'`=?&:(")+1:]
	return strings.Contains(before, "/")
}

// meant is the kind of a name by its word and the one before it, and whether the name is weak.
func meant(word, before string, glued, upper bool) (k kind, weak, ok bool) {
	switch word {
	case "pass":
		if glued {
			return verb, true, true
		}
		return verb, false, true
	case "passw", "pw", "pwd", "psk":
		return password, glued, true
	case "password", "passwords", "passwd", "passphrase", "passphrases", "passcode", "securestring":
		return password, false, true
	case "identified by", "identified with":
		return verb, false, true
	case " pat", "_pat":
		return token, !upper, true
	case "appid", "authtok", "authtoken":
		return token, false, true
	case "secret", "cred", "creds", "credential", "credentials", "secrets", "token", "tokens", "authorization":
		return token, false, true
	case "pin", "otp", "totp", "puk", "pincode":
		return numeral, true, true
	case "session":
		return key, false, upper // in small letters, it is one of many things
	case "salt", "pepper":
		return key, false, true
	case "auth":
		return occasion, false, true
	case "bearer":
		return key, true, true
	case "key", "keys":
		switch before {
		case "api", "access", "account", "secret", "private", "signing", "encryption", "master", "auth", "deploy", "license", "licence", "shared":
			return token, false, true
		case "public", "recv", "primary", "foreign", "cache", "sort", "partition", "index", "row", "hash", "group", "object", "map", "storage", "query",
			"idempotency", "unique", "lookup", "s", "metric", "site", "dedup", "dedupe", "routing":
			return key, true, false
		}
		return key, true, true
	}
	ending, found := strings.CutPrefix(word, "password")
	return password, false, found && len(ending) <= 3 // "passwordnya", "passwordet"
}

var pin = lazy.Expr(`^\d{4,8}#?$`)

// isFlag reports whether before ends in the dashes and words that begin a flag.
func isFlag(before string) bool {
	before = before[max(0, len(before)-60):]
	word := before[strings.LastIndexAny(before, " \t\n\"'")+1:]
	return strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "/=")
}

// wordBefore is the word that ends at i, or before one sign there: "api" of "API_KEY", "apikey" and "api key".
func wordBefore(t string, i int) string {
	if i > 0 && strings.IndexByte("_- .", t[i-1]) >= 0 {
		i--
	}
	lo := i
	for lo > 0 && i-lo < 16 && isLetter(t[lo-1]) && (lo == i || isLower(t[lo]) || !isLower(t[lo-1])) {
		lo--
	}
	return strings.ToLower(t[lo:i])
}

// AboutSecret reports whether the last word of a name makes it tell about a secret, and not
// be one.
func AboutSecret(word string) bool {
	switch strings.ToLower(word) {
	case "type", "types", "name", "names", "path", "file", "files", "dir", "url", "uri", "host", "port", "user", "username", "id", "ids",
		"ttl", "expiry", "expires", "expiration", "timeout", "length", "len", "size", "count", "limit", "max", "min", "usage", "used",
		"method", "algorithm", "alg", "algo", "provider", "version", "region", "mode", "enabled", "required", "format", "prefix",
		"suffix", "field", "header", "policy", "sock", "hash", "regex", "pattern", "label", "ref", "arn", "class", "store", "env",
		"endpoint", "scope", "scopes", "ms", "rate", "range", "budget", "mgr", "merge", "remote", "redaction", "detection", "detector", "scanning", "scanner", "rotation", "validation", "validator", "generation", "generator", "exchange", "refresh", "request", "response", "error", "hint", "index", "kind", "service", "manager", "helper", "program", "command":
		return true
	}
	return false
}

// foreignName is the name of a secret in one of the tongues, with its endings.
func foreignName(t string, at window) (name, bool) {
	n := name{lo: at.lo, end: at.hi, foreign: true, phrase: forPhrase.MatchString(t[at.lo:at.hi])}
	if forToken.MatchString(t[at.lo:at.hi]) && !forWifi.MatchString(t[at.lo:at.hi]) {
		n.kind = token
	}
	for first, _ := utf8.DecodeRuneInString(t[at.lo:]); n.end < len(t) && first < caseless; {
		r, size := utf8.DecodeRuneInString(t[n.end:])
		if !unicode.IsLetter(r) || r >= caseless || unicode.IsUpper(r) && strings.ToUpper(t[at.lo:at.hi]) != t[at.lo:at.hi] {
			break
		}
		n.end += size
	}
	if r, _ := utf8.DecodeRuneInString(t[n.end:]); n.end-at.hi > maxEnding || n.end == at.hi && unicode.IsUpper(r) && strings.ToUpper(t[at.lo:at.hi]) != t[at.lo:at.hi] {
		return n, false
	}
	return n, standsAlone(t, at)
}

// maxEnding is how long the ending of a name is at most, in bytes.
const maxEnding = 8

// forToken is a name that is not a password's.
var forToken = lazy.Expr(`(?i)api|token|jeton|токен|トークン|토큰|令牌|schlüssel|sleutel|nyckel|nøkkel|nøgle|avain|cl[ée]|chave|chiave|cheie|anahtar|klucz|kľúč|klíč|ключ|khóa|kunci|钥|鑰|キー|鍵|키`)

// forPhrase is a name for several words.
var forPhrase = lazy.Expr(`(?i)phrase|frase|фраза`)

// forWifi is a key that people think up.
var forWifi = lazy.Expr(`(?i)^(?:wlan|wi-?fi|netzwerk|wpa)`)

// contextName is a word for logging in.
func contextName(t string, at window) (name, bool) {
	call := methods.FindString(t[at.hi:min(len(t), at.hi+40)])
	n := name{lo: at.lo, end: at.hi + len(call), kind: occasion}
	if strings.Contains(ofPasswords, strings.ToLower(t[at.lo:at.hi])) { // nothing else is given to it
		n.kind = password
	}
	if call != "" || !isLetter(t[at.hi-1]) {
		return n, true
	}
	if n.kind == occasion && strings.Contains(called, strings.ToLower(t[at.lo:at.hi])) && (!strings.HasPrefix(t[at.hi:], " ") || !quoteAt(t, at.hi+1)) {
		return n, false
	}
	if at.hi < len(t) && (alnumeric(t[at.hi]) || t[at.hi] == '_' || t[at.hi] == '-') {
		return n, false
	}
	return n, at.lo == 0 || !alnumeric(t[at.lo-1]) || isLower(t[at.lo-1]) && !isLower(t[at.lo])
}

// methods are the rest of the name of what is called.
var methods = lazy.Expr(`^(?:\.\w+)*\(`)

func isLetter(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }

// copulas tie a name to its value, and fillers keep the tie, in many languages.
var (
	//nolint:gochecknoglobals // read-only
	copulas = setOf("s is was are be been now its it's isn't ist sind war lautet heißt est c'est es è é eh e är er jest je este είναι это là adalah ialah olarak yra ir е є है هي هو היא הוא " +
		"isch till glasi estas ay yw ni cest cioè reads така такая to by with using use enter type auf na als as mit avec con com с z met à på zu у")
	//nolint:gochecknoglobals // read-only
	fillers = setOf("a an the just still set changed currently actually this that der die das den el la le les il lo um uma en een ett de string str const let var final new some value default")
)

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// endsInParticle reports whether a word of a script without capitals stands there: its particles are written
// right behind, and tie as a verb does.
func endsInParticle(v string) bool {
	r, _ := utf8.DecodeLastRuneInString(v)
	return r >= caseless && unicode.IsLetter(r)
}

// occasions are the words for logging in, and what is called for it.
func occasions() []string { return strings.Split(spokenFor+","+called+","+ofPasswords, ",") }

const (
	spokenFor = "login,log in,logging in,signin,sign in,log on,logon,user/pass,wifi,wi-fi,wlan,ssh ,unlock,opens with,encrypted with,decrypted with,authenticate,credentials," +
		"zugangsdaten,identifiants,credenciales,credenziali,melde,anmelden,einloggen,inloggen,connecte,accedi,entra con,inicia sesión,zaloguj,přihlas,логин,войди,зайди"
	called      = "connect,connection,database,mysqli,pdo,drivermanager,securitykey,begin,bind,bind_s,fernet,hmac,jwt,aes,basic,basic_auth,basic-auth,basicauth,createcipheriv,pgp_sym_decrypt,pgp_sym_encrypt"
	ofPasswords = "tochararray,hashpw,bcrypt.hash,hash::make,make_password,password_hash"
)
