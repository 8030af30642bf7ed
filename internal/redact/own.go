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
		{"generic-secret", []string{"pass", "session", "pin", "puk", "otp", "pw", "psk", "salt", "pepper", "secret", "token", "cred", "auth", "bearer", "key", "identified by", "identified with", "securestring", " pat", "_pat"}, named(english)},
		{"generic-secret", inTongues(), named(foreignName)},
		{"generic-login", occasions(), named(contextName)},
		{"generic-authorization", []string{"authorization", "cookie"}, authorization},
		{"generic-command", slices.Sorted(maps.Keys(tools)), command(tools)},
		{"generic-command", []string{"echo ", "printf ", "yes ", "<<<"}, piped},
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
