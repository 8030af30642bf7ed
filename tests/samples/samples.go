// Package samples makes up secrets, one for each kind that tests of redaction need. It stands apart from
// internal/redact because gitleaks' own detector, with which it is compared here, takes long to compile.
package samples

import (
	"math/rand/v2"
	"strings"
)

// Sample is a made-up secret in the form that a rule knows. All are put together at run
// time, so that no scanner finds one in this repository.
type Sample struct {
	Rule   string
	Secret string // what must disappear
	Text   string // how it is met
}

const (
	upper32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	digits  = "0123456789"
	alnum   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	hex     = "0123456789abcdef"
)

// All is one of each kind; other seeds, other secrets.
func All(seed uint64) []Sample {
	rng := rand.New(rand.NewPCG(seed, 7))
	pick := func(n int, from string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[rng.IntN(len(from))]
		}
		return string(b)
	}
	in := func(rule, secret, before, after string) Sample {
		return Sample{rule, secret, before + secret + after}
	}
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\n"
	for range 24 {
		key += pick(64, alnum) + "\n"
	}
	key += "-----END RSA " + "PRIVATE KEY-----"
	jwt := "ey" + pick(34, alnum) + ".ey" + pick(60, alnum) + "." + pick(43, alnum)
	return []Sample{
		in("aws-access-token", "AK"+"IA"+pick(16, upper32), "use ", " for S3"),
		in("github-pat", "gh"+"p_"+pick(36, alnum), "git push with ", ""),
		in("github-fine-grained-pat", "github"+"_pat_"+pick(82, alnum), "export T=", "\n"),
		in("gitlab-pat", "gl"+"pat-"+pick(20, alnum), "token is ", "."),
		in("slack-bot-token", "xo"+"xb-"+pick(12, digits)+"-"+pick(12, digits)+"-"+pick(24, alnum), "bot: ", " (ask Ann)"),
		in("private-key", key, "this is the key:\n", "\nkeep it"),
		in("jwt", jwt, "Cookie: session=", "; path=/"),
		in("generic-secret", pick(32, hex), "my_service_api_key = \"", "\""),
		in("gcp-api-key", "AI"+"za"+pick(35, alnum), "maps uses ", " there"),
		in("stripe-access-token", "sk_"+"live_"+pick(24, alnum), "charge with ", " please"),
		in("npm-access-token", "np"+"m_"+pick(36, strings.ToLower(alnum)), "//registry/:_authToken=", "\n"),
		in("sendgrid-api-token", "SG"+"."+pick(66, strings.ToLower(alnum)), "mail: ", "\n"),
		in("curl-auth-header", pick(40, alnum), "curl -H \"Authorization: Bearer ", "\" https://example.org/x"),
	}
}
