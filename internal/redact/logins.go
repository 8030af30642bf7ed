package redact

import (
	"regexp"
	"strings"
)

// call is the string that a call which logs in takes, or a tuple for one, and that can only be a password.
func call(t string, at window) (int, int) {
	end := at.hi + len(method.FindString(t[at.hi:min(len(t), at.hi+24)]))
	i := skip(t, end, " :=")
	if i-end > 3 || i == len(t) || t[i] != '(' && (!quoteAt(t, i) || t[i-1] != ' ') {
		return 0, 0
	}
	lo, hi := literal(t, i, func(v string) bool {
		return telling(v) && strict(v) && !strings.ContainsAny(strings.TrimRight(v, "="), ":=") || len(v) >= longNumeral && strings.Trim(v, digitSet) == ""
	})
	if m := second.FindStringSubmatchIndex(t[i:min(len(t), i+maxStatement)]); lo == hi && m != nil && sure(t[i+m[2]:i+m[3]]) {
		return i + m[2], i + m[3]
	}
	return lo, hi
}

// method is the rest of the name of what is called.
var method = regexp.MustCompile(`^(?:\.\w+)*`)

// second is a string behind another argument.
var second = regexp.MustCompile("^\\([^()\"'`\n]*[\"'`]?[\\w.@-]+[\"'`]?,\\s*[\"'`]([^\\s\"'`]+)[\"'`]\\)")

// longNumeral is how many digits are no number of anything else: routers come with passwords of 16 to 20.
const longNumeral = 16

// charArray is a string that Java makes an array of, as it does of passwords alone.
func charArray(t string, at window) (int, int) {
	if at.lo < 2 || t[at.lo-1] != '"' {
		return 0, 0
	}
	lo := strings.LastIndexAny(t[:at.lo-1], "\"\n") + 1
	if v := t[lo : at.lo-1]; v == "" || t[max(0, lo-1)] != '"' || !telling(v) {
		return 0, 0
	}
	return lo, at.lo - 1
}

// authorization finds the credentials of an Authorization header, whatever its scheme, and cookies.
func authorization(t string, at window) []window {
	i := skip(t, at.hi, "\"'`] ")
	if i >= len(t) || t[i] != ':' && t[i] != '=' {
		return nil
	}
	line := t[i:min(len(t), i+2048)]
	line, _, _ = strings.Cut(line, "\n")
	var out []window
	for _, m := range part.FindAllStringIndex(line, -1) {
		lo, hi := i+m[0], i+m[1]
		if n := strings.LastIndexByte(strings.TrimRight(t[lo:hi], "="), '='); n >= 0 {
			lo += n + 1
		}
		if v := t[lo:hi]; v != "" && random(v) && !placeholder(v) {
			out = append(out, window{lo, hi})
		}
	}
	return out
}

var part = regexp.MustCompile("[^\\s,;:\"'`<>{}()]{16,}")

// conjunctions tie a user's name to his password.
const conjunctions = `and|und|et|y|e|en|i|и|och|og|ja|a|ve|dan|with|mit|avec|con|com|z|с`

var (
	loginAs   = regexp.MustCompile("^(?:/\\w+)?(?:\\s+\\pL+){0,3}?\\s*[:=]?\\s*[\"'`]?[A-Za-z][\\w.+-]{1,40}[\"'`]?(?:\\s+(?:/|" + conjunctions + ")\\s+|:\\s?|/|\\s)[\"'`]?([^\\s\"'`/:]{8,80})")
	loginMail = regexp.MustCompile("^[^\\n]{0,60}?[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+(?:\\s*[/|]\\s+|:\\s?|,?\\s+(?:with\\s+|and\\s+)?)[\"'`]?([^\\s\"'`]{8,80})")
)

// login is the password behind the name or the address to log in with.
func login(t string, at window) (int, int) {
	rest := t[at.hi:min(len(t), at.hi+240)]
	names := !strings.HasSuffix(strings.ToLower(t[at.lo:at.hi]), "in") // no verb
	for _, form := range []*regexp.Regexp{loginAs, loginMail} {
		m := form.FindStringSubmatchIndex(rest)
		if m == nil {
			continue
		}
		lo, hi := at.hi+m[2], at.hi+m[3]
		hi = lo + len(strings.TrimRight(t[lo:hi], ".,;:?)"))
		if v := t[lo:hi]; telling(v) && strict(v) && (form == loginMail || strings.HasSuffix(t[at.hi:lo], "/ ") || strings.IndexByte(":/", t[lo-1]) >= 0 && (names || !mention(v)) || unsayable(v)) {
			return lo, hi
		}
	}
	return 0, 0
}

// quotedNext is the string that follows.
func quotedNext(t string, at window) (int, int) {
	m := how.FindStringIndex(t[at.hi:min(len(t), at.hi+60)])
	if m == nil {
		return 0, 0
	}
	i := at.hi + m[1]
	lo, hi, _ := value(t, skip(t, i, " \t\n"))
	if v := t[lo:hi]; hi-lo < 4 || placeholder(v) || isWord(v) || !quoteAt(t, lo-1) && !telling(v) {
		return 0, 0
	}
	return lo, hi
}

// how is the rest of what says how a user of a database is known.
var how = regexp.MustCompile(`(?i)^(?:with\s+\S+\s+by|by)\s+`)

func passArgument(t string, at window) (int, int) {
	lo, hi, _ := value(t, at.hi)
	if t[at.hi-1] == '}' { // a field of a file of users
		hi = lo + strings.IndexByte(t[lo:hi]+":", ':')
	}
	if at.lo > 0 && alnumeric(t[at.lo]) && alnumeric(t[at.lo-1]) || hi-lo < minValue || !telling(judged(t[lo:hi])) {
		return 0, 0
	}
	return lo, hi
}

// userinfo is the password before the host that begins behind an "@": of a URL, or a token in its place; of a
// DSN without a scheme; of Oracle's NAME/PASSWORD@.
func userinfo(t string, at window) (int, int) {
	if at.hi >= len(t) || !alnumeric(t[at.hi]) && strings.IndexByte("[/", t[at.hi]) < 0 {
		return 0, 0
	}
	lo := at.lo
	for lo > 0 && at.lo-lo < 512 && strings.IndexByte(" \t\r\n\"'<>`\\", t[lo-1]) < 0 {
		lo--
	}
	scheme := strings.Index(t[lo:at.lo], "://")
	if scheme < 0 {
		return withoutScheme(t, lo, at.lo)
	}
	lo += scheme + len("://")
	user, v, split := strings.Cut(t[lo:at.lo], ":")
	if !split {
		user, v = "", user
		if !random(v) {
			return 0, 0
		}
	}
	if len(v) < 4 || placeholder(v) || isWord(v) && (aboutItself(v) || strings.EqualFold(v, user)) || strings.ContainsAny(v, "{}()[]</") || strings.Contains(user, "/") {
		return 0, 0
	}
	return at.lo - len(v), at.lo
}

func withoutScheme(t string, lo, hi int) (int, int) {
	m := account.FindStringSubmatchIndex(t[lo:hi])
	if m == nil || strings.HasPrefix(t[hi:], "@sha256") {
		return 0, 0
	}
	_, end := group(m)
	lo += end
	if v := t[lo:hi]; !telling(v) || !strict(v) || strings.Contains(v, "/") {
		return 0, 0
	}
	return lo, hi
}

// account is a user's name, and the sign before the password.
var account = regexp.MustCompile(`(?:(?:^|[=:/])([A-Za-z][\w.-]{0,31}:)|(?:^|:)([A-Za-z][\w.-]{0,31}/))[^:/]+$`)
