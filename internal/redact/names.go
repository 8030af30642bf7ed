package redact

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// name is a place where a text names a secret.
type name struct {
	lo, end int
	// can reports whether a value can be what the name says.
	can     func(value string) bool
	foreign bool // it is one of the tongues
	weak    bool // it means a secret only where a sign gives it a value, or a sentence does
	verb    bool // it is also a verb
	// password is true where a value of words or digits alone can be one, if it is clearly given.
	password bool
}

// english is the name of a secret that a keyword begins. It must be a word of its own, also within a
// longer name ("dbPassword", "X-API-Key"), and the name must not go on to something that tells
// about a secret ("token_type").
func english(t string, at window) (name, bool) {
	n := name{lo: at.lo, end: at.hi}
	for n.end < len(t) && n.end-at.hi < 40 && isLetter(t[n.end]) && (isLower(t[n.end]) || !isLower(t[n.end-1])) {
		n.end++
	}
	said := strings.ToLower(t[at.lo:n.end])
	if t[at.lo:n.end] == "SESSION" { // in small letters, it is one of many things
		said = "SESSION"
	}
	glued := at.lo > 0 && isLetter(t[at.lo-1]) && (isLower(t[at.lo]) || !isLower(t[at.lo-1]))
	if n.can, n.weak = meant(said, wordBefore(t, at.lo), glued); n.can == nil {
		return n, false
	}
	n.weak = n.weak && !isFlag(t[:at.lo]) && strings.ToUpper(said) != t[at.lo:n.end] // a constant's name, or one of the environment, is no other word
	word := n.end
	for n.end < len(t) && n.end-word < 40 && (alnumeric(t[n.end]) || t[n.end] == '_' || t[n.end] == '-' && n.end+1 < len(t) && alnumeric(t[n.end+1]) ||
		t[n.end] == '.' && n.end+1 < len(t) && isLower(t[n.end+1])) {
		n.end++
	}
	n.verb, n.password = said == "pass", strings.HasPrefix(said, "pass") || said == "pw" || said == "pwd" || said == "psk" || said == "securestring" || said == "secret"
	all := pieces(t[word:n.end])
	return n, len(all) == 0 || !n.weak && !AboutSecret(all[len(all)-1])
}

// meant returns what can be the value of a name by its word and the one before it, and whether the name
// is weak; nil when it names no secret. A key is one only where its value looks drawn by lot, but for
// keys that are called secret.
func meant(word, before string, glued bool) (can func(string) bool, weak bool) {
	switch word {
	case "pass", "passw", "pw", "pwd", "psk":
		if partOfWord(before + word) {
			return nil, false
		}
		return telling, glued
	case "cred", "creds", "credential", "credentials", "password", "passwords", "passwd", "passphrase", "passcode", "secret", "secrets", "token", "tokens", "securestring", "authorization":
		return telling, false
	case "pin", "otp", "totp":
		return numeral, true
	case "SESSION":
		return func(v string) bool { return drawn(v) && mixed(v) }, false
	case "salt", "pepper":
		return drawn, false
	case "auth", "bearer":
		return drawn, true
	case "key", "keys":
		switch before {
		case "api", "access", "account", "secret", "private", "signing", "encryption", "master", "auth", "deploy", "license", "licence", "shared":
			return telling, false
		case "public", "primary", "foreign", "cache", "sort", "partition", "index", "row", "hash", "group", "object", "map", "storage", "query",
			"idempotency", "unique", "lookup", "s", "metric", "site", "dedup", "dedupe", "routing":
			return nil, false
		}
		return drawn, true
	}
	if ending, ok := strings.CutPrefix(word, "password"); ok && len(ending) <= 3 { // "passwordnya", "passwordet"
		return telling, false
	}
	return nil, false
}

// numeral reports whether a value can be a PIN, or another secret.
func numeral(v string) bool { return pin.MatchString(v) || telling(v) && !Wordy(v) }

var pin = regexp.MustCompile(`^\d{4,8}#?$`)

// written reports whether a value that is written as one can be what the name says.
func (n name) written(v string) bool { return n.can(v) || n.password && sure(v) }

// drawn reports whether a value is no code and looks drawn by lot.
func drawn(v string) bool { return telling(v) && random(v) }

// partOfWord reports whether a name of a few letters only ends a word that is none.
func partOfWord(w string) bool {
	for _, end := range []string{"bypass", "compass", "surpass", "trespass", "underpass", "overpass"} {
		if strings.HasSuffix(w, end) {
			return true
		}
	}
	return false
}

// wordBefore is the word that ends at i, or before one sign there: "api" of "API_KEY", "apikey" and "api key".
func wordBefore(t string, i int) string {
	if i > 0 && strings.IndexByte("_- .", t[i-1]) >= 0 {
		i--
	}
	lo := i
	for lo > 0 && i-lo < 16 && isLetter(t[lo-1]) && (lo == i || isLower(t[lo]) || !isLower(t[lo-1])) {
		if lo < i && !isLower(t[lo]) && isLower(t[lo-1]) {
			break
		}
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
		"endpoint", "scope", "scopes", "error", "hint", "index", "kind", "service", "manager", "helper", "program", "command":
		return true
	}
	return false
}

// foreignName is the name of a secret in one of the tongues, with its endings.
func foreignName(t string, at window) (name, bool) {
	n := name{lo: at.lo, end: at.hi, can: telling, foreign: true, password: !forToken.MatchString(t[at.lo:at.hi])}
	for first, _ := utf8.DecodeRuneInString(t[at.lo:]); n.end < len(t) && first < caseless; {
		r, size := utf8.DecodeRuneInString(t[n.end:])
		if !unicode.IsLetter(r) || r >= caseless {
			break
		}
		n.end += size
	}
	if strings.HasSuffix(strings.ToLower(t[at.lo:n.end]), "code") {
		n.can = numeral
	}
	return n, standsAlone(t, at)
}

// forToken is a name that is not a password's.
var forToken = regexp.MustCompile(`(?i)api|token|jeton|токен|トークン|토큰|令牌|schlüssel|sleutel|nyckel|nøkkel|nøgle|avain|cl[ée]|clave|chave|chiave|cheie|anahtar|klucz|kľúč|klíč|ключ|khóa|kunci|钥|鑰|キー|鍵|키`)

func isLetter(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
