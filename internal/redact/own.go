package redact

import (
	"maps"
	"slices"
)

// detector is a rule of our own, for what gitleaks' rules leave: values that are said to be
// secret, in the words of code, shells and people. It is woken by a keyword, and finds what
// stands around it without a regular expression over all of the text.
type detector struct {
	id       string
	keywords []string // lower case
	find     func(t string, at window) []window
}

// KnownValue is the rule of values that the machine knows to be secret.
const KnownValue = "known-value"

func detectors() []detector {
	tools := commands()
	all := []detector{
		{"generic-secret", []string{"pass", "session", "pin", "otp", "pwd", "pw", "psk", "salt", "pepper", "secret", "token", "cred", "auth", "bearer", "key", "securestring"}, beside(english)},
		{"generic-secret", inTongues(), beside(foreignName)},
		{"generic-login", []string{"login", "signin", "sign_in", "auth", "authenticate", "bind", "bind_s", "connect", "connection", "mysqli", "pdo", "begin", "fernet", "hmac", "createhmac", "jwt", "aes", "basicauth", "networkcredential", "createcipheriv"}, one(call)},
		{"generic-login", []string{".tochararray"}, one(charArray)},
		{"generic-authorization", []string{"authorization", "cookie"}, authorization},
		{"generic-command", slices.Sorted(maps.Keys(tools)), command(tools)},
		{"generic-command", []string{"echo ", "printf ", "yes ", "<<<"}, piped},
		{"generic-login", []string{
			"login", "log in", "sign in", "creds", "credentials", "user/pass", "wifi", "wi-fi", "wlan", "ssh with", "ssh as", "account", "zugangsdaten", "identifiants", "credenciales", "credenziali",
			"melde", "anmelden", "einloggen", "inloggen", "connecte", "accedi", "entra con", "inicia sesión", "zaloguj", "přihlas", "логин", "войди", "зайди",
		}, one(login)},
		{"sql-password", []string{"identified "}, one(quotedNext)},
		{"openssl-password", []string{"pass:", " /p:", " on >", "{plain}", "{noop}", "{cleartext}"}, one(passArgument)},
		{"url-password", []string{"@"}, one(userinfo)},
		{"private-key", []string{"private key"}, one(privateKey)},
		{"private-key", []string{"private-lines:"}, one(puttyKey)},
		{"vendor-token", vendorPrefixes(), one(vendorToken)},
	}
	for _, s := range shapes() {
		all = append(all, detector{s.id, s.keywords, one(s.find)})
	}
	return all
}

// one makes a detector of one that finds one value at most.
func one(find func(t string, at window) (lo, hi int)) func(t string, at window) []window {
	return func(t string, at window) []window {
		if lo, hi := find(t, at); lo < hi {
			return []window{{lo, hi}}
		}
		return nil
	}
}
