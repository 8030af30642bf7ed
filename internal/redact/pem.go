package redact

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

const (
	pemBegin = "-----BEGIN"
	pemEnd   = "-----END"

	// betweenLines stands between the lines of a key, headerLine before them, and keyLine is one but for the last.
	betweenLines = "(?:[ \\t\\r\\n\\\\\"'`+,>|*.#-]|\\\\n)*"
	headerLine   = `[A-Za-z][\w-]*:[^\n]*\n`
	keyLine      = `[A-Za-z\d+/=]{16,}`
	keyLines     = "(?:(?:" + betweenLines + headerLine + ")*" + betweenLines + keyLine + ")"
)

var (
	// keyAhead is what follows the BEGIN line, and keyBehind what stands before the END line.
	keyAhead = lazy.Expr("^(?:" + keyLines + "*" + betweenLines + `[A-Za-z\d+/=]{4,15}|` + keyLines + "+)" + betweenLines + pemEnd + "[^-\n]{0,70}-----" +
		"|^" + keyLines + "+(?:" + betweenLines + `[A-Za-z\d+/]+=+)?`)
	keyBehind = lazy.Expr("(?:" + keyLine + betweenLines + ")*[A-Za-z\\d+/=]+" + betweenLines + "$")
)

// maxKey is the size of a key at most.
const maxKey = 1 << 14

// privateKey is a key in PEM, whole or cut off at either end, on lines of its own, in a string
// with \n, or quoted line by line. What gitleaks finds must have both ends.
func privateKey(t string, at window) (int, int) {
	before := max(0, at.lo-60)
	head := t[before:at.lo]
	tail := strings.Index(t[at.hi:min(len(t), at.hi+16)], "-----")
	if tail < 0 {
		return 0, 0
	}
	after := at.hi + tail + len("-----")
	if n := strings.LastIndex(head, pemBegin); n >= 0 {
		if size := keySize(t, after); size > 0 {
			return before + n, after + size
		}
		return 0, 0
	}
	if n := strings.LastIndex(head, pemEnd); n >= 0 {
		from := max(0, before+n-maxKey)
		if m := keyBehind.FindStringIndex(t[from : before+n]); m != nil {
			return from + m[0], after
		}
	}
	return 0, 0
}

// keySize is the size of the key that begins at i, its END line included; 0 for a sample without one.
func keySize(t string, i int) int {
	return len(keyAhead.FindString(t[i:min(len(t), i+maxKey)]))
}

// puttyKey is the private half of PuTTY's keys, behind its number of lines.
func puttyKey(t string, at window) (int, int) {
	lo := skip(t, at.hi, " "+digitSet)
	return skip(t, lo, "\r\n"), lo + keySize(t, lo)
}

func inBase64(c byte) bool { return alnumeric(c) || c == '+' || c == '/' || c == '=' }
