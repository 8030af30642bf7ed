package redact_test

import made "github.com/git-rekal/git-rekal/tests/samples"

const (
	upper32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	digits  = "0123456789"
	alnum   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits
	hex     = "0123456789abcdef"
)

// sample is a made-up secret in the form that a rule knows.
type sample struct {
	rule   string
	secret string // what must disappear
	text   string // how it is met
}

func samples(seed uint64) (out []sample) {
	for _, s := range made.All(seed) {
		out = append(out, sample{s.Rule, s.Secret, s.Text})
	}
	return out
}
