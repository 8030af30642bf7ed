package redact

import (
	"strings"
	"unicode/utf8"
)

const digitSet = "0123456789"

// assigned is the value that something named like a secret is given: in code, configuration,
// JSON, a header, a flag, an argument, or a sentence.
func assigned(t string, at window) (int, int) {
	end, ok := secretName(t, at)
	if !ok {
		return 0, 0
	}
	i := skip(t, bold(t, end), "\"'`])")
	named := i > end // the name was quoted
	j := skip(t, i, " \t")
	if j >= len(t) {
		return 0, 0
	}
	switch c := t[j]; {
	case c >= utf8.RuneSelf: // an English name in a sentence of another language
		return inSentence(t, i)
	case c == '=' || c == ':' || c == '>':
		return operand(t, j, around(t, at.lo))
	case c == ',' && named, c == '(':
		return literal(t, skip(t, j+1, " \t"))
	case j > i:
		return afterSpace(t, at.lo, j)
	}
	return 0, 0
}

// secretName follows the name that a keyword begins. It must be a word of its own, also
// within a longer name ("dbPassword", "X-API-Key"), and the name must not go on to something
// that tells about a secret ("token_type").
func secretName(t string, at window) (end int, ok bool) {
	end = at.hi
	for end < len(t) && end-at.hi < 40 && isLetter(t[end]) && (isLower(t[end]) || !isLower(t[end-1])) {
		end++
	}
	name := strings.ToLower(t[at.lo:end])
	if at.lo > 0 && inOtherWords(name) && isLetter(t[at.lo-1]) && (isLower(t[at.lo]) || !isLower(t[at.lo-1])) {
		return 0, false
	}
	if !isSecretWord(name) {
		return 0, false
	}
	word := end
	for end < len(t) && end-word < 40 && (alnumeric(t[end]) || t[end] == '_' || t[end] == '-' || t[end] == '.' && end+1 < len(t) && alnumeric(t[end+1])) {
		end++
	}
	if end == word {
		return end, true
	}
	all := pieces(t[word:end])
	return end, len(all) == 0 || !AboutSecret(all[len(all)-1])
}

func isSecretWord(w string) bool {
	switch w {
	case "pass", "password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pw", "secret", "secrets", "token", "tokens",
		"credential", "credentials", "authorization", "private", "apikey", "api_key", "api-key", "api key", "accesskey", "access_key",
		"access-key", "access key", "accountkey", "account_key", "signing_key", "signingkey", "encryption_key", "encryptionkey",
		"master_key", "masterkey", "auth_key", "authkey", "deploy_key", "sharedaccesskey":
		return true
	}
	return false
}

// inOtherWords reports whether a name can be the end of another word, as in "bypass".
func inOtherWords(name string) bool {
	return len(name) < len("token") || name == "private" || strings.HasPrefix(name, "credential")
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

// operand is the value behind =, :, := or =>; the separators in outer end it.
func operand(t string, j int, outer string) (int, int) {
	from := j
	j = skip(t, j, "=:>")
	if j-from > 3 || strings.HasPrefix(t[from:], "://") {
		return 0, 0
	}
	lo, hi, quoted := valueWithin(t, scheme(t, skip(t, bold(t, j), " \t")), outer)
	if v := t[lo:hi]; !telling(judged(v)) && (!quoted || !inQuotes(v)) {
		return 0, 0
	}
	return lo, hi
}

// bold passes over the end of bold type in Markdown: "**Password:** …", "**Password**: …".
func bold(t string, i int) int {
	if strings.HasPrefix(t[i:], "**") || strings.HasPrefix(t[i:], "__") {
		return i + 2
	}
	return i
}

// scheme passes over the scheme of an Authorization header, and a quote before it.
func scheme(t string, i int) int {
	j := skip(t, i, "\"'`")
	for _, s := range []string{"bearer ", "basic ", "token ", "apikey ", "bot "} {
		if len(t) > j+len(s) && strings.EqualFold(t[j:j+len(s)], s) {
			return j + len(s)
		}
	}
	return i
}

// literal is a value in quotes.
func literal(t string, i int) (int, int) {
	lo, hi, quoted := value(t, i)
	if v := t[lo:hi]; !quoted || !telling(judged(v)) && !inQuotes(v) {
		return 0, 0
	}
	return lo, hi
}

// afterSpace is the value that follows a name directly (a flag, .netrc, SQL), or by "is" or
// "to" in the same sentence. Only what can't be a word of the sentence counts.
func afterSpace(t string, name, j int) (int, int) {
	lo, hi, quoted := value(t, j)
	v := judged(t[lo:hi])
	if flag := name > 0 && isFlag(t[:name]); telling(v) && (flag || quoted || strict(v)) {
		return lo, hi
	}
	line := t[j:min(len(t), j+100)]
	if n := strings.IndexAny(line, "\n.:=;"); n >= 0 {
		line = line[:n]
	}
	for _, verb := range []string{" is ", "is ", " was ", " to ", "to ", " are "} {
		n := strings.Index(line, verb)
		if n < 0 || n > 0 && verb[0] != ' ' {
			continue
		}
		lo, hi, _ = value(t, skip(t, j+n+len(verb), " "))
		hi = lo + len(strings.TrimRight(t[lo:hi], ".,:!?"))
		if v := judged(t[lo:hi]); telling(v) && strict(v) {
			return lo, hi
		}
	}
	return 0, 0
}

// isFlag reports whether before ends in the dashes and words that begin a flag.
func isFlag(before string) bool {
	before = before[max(0, len(before)-60):]
	word := before[strings.LastIndexAny(before, " \t\n\"'")+1:]
	return strings.HasPrefix(word, "-")
}

// strict reports whether a value in a sentence can be nothing but a password: digits and
// letters in one, and no file, address or number of a version.
func strict(v string) bool {
	if strings.ContainsAny(v, "/\\") && !random(v) || Wordy(v) && aboutItself(v) {
		return false
	}
	return strings.ContainsAny(v, digitSet) && !fileName.MatchString(v)
}

// value is what stands at i: in quotes, or up to white space and what ends a value in code.
func value(t string, i int) (lo, hi int, quoted bool) { return valueWithin(t, i, "") }

// valueWithin is a value among others that the separators in outer keep apart.
func valueWithin(t string, i int, outer string) (lo, hi int, quoted bool) {
	if i < len(t) && strings.IndexByte("\"'`", t[i]) >= 0 {
		for j := i + 1; j < len(t) && t[j] != '\n' && j-i < 4096; j++ {
			if t[j] == t[i] {
				return i + 1, j, strings.IndexByte(t[i+1:j], ' ') < 0
			}
		}
		i++
	}
	return i, grow(t, i, pieceEnd(t, i), outer, pieceEnd), false
}

func skip(t string, i int, set string) int {
	for i < len(t) && strings.IndexByte(set, t[i]) >= 0 {
		i++
	}
	return i
}

func isLetter(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
