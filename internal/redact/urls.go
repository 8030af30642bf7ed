package redact

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

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

var part = lazy.Expr("[^\\s,;:\"'`<>{}()]{16,}")

// userinfo is the password before the host that begins behind an "@": of a URL, or a token in its place; of a
// DSN without a scheme; of Oracle's NAME/PASSWORD@.
func userinfo(t string, at window) (int, int) {
	if at.hi >= len(t) || !alnumeric(t[at.hi]) && strings.IndexByte("[/{$<%", t[at.hi]) < 0 {
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
	if m == nil || strings.HasPrefix(t[hi:], "@sha256") || version.MatchString(t[hi:min(len(t), hi+5)]) {
		return 0, 0
	}
	_, end := group(m)
	lo += end
	if v := t[lo:hi]; lookOf(v, false) < marked || !strings.ContainsAny(v, digitSet) || strings.Contains(v, "/") {
		return 0, 0
	}
	return lo, hi
}

// version stands behind the name of a module.
var version = lazy.Expr(`^@v\d`)

// account is a user's name, and the sign before the password.
var account = lazy.Expr(`(?:(?:^|[=:/])([A-Za-z\d][\w.-]{0,31}:)|(?:^|:)([A-Za-z][\w.-]{0,31}/))[^:/]+$`)
