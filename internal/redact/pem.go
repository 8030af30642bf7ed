package redact

import "strings"

const (
	pemBegin = "-----BEGIN"
	pemEnd   = "-----END"
)

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
		if end := keyBody(t, after); end > after {
			return before + n, end
		}
		return 0, 0
	}
	if n := strings.LastIndex(head, pemEnd); n >= 0 {
		if start := bodyBefore(t, before+n); start < before+n {
			return start, after
		}
	}
	return 0, 0
}

// puttyKey is the private half of PuTTY's keys, behind its number of lines.
func puttyKey(t string, at window) (int, int) {
	lo := skip(t, at.hi, " "+digitSet)
	return skip(t, lo, "\r\n"), keyBody(t, lo)
}

// minLine is how long a line of a key is at least, but for the last one.
const minLine = 16

// keyBody is the end of the base64 that begins at i, its END line included.
func keyBody(t string, i int) int {
	start, end := i, i
	for {
		j := gap(t, i)
		if strings.HasPrefix(t[j:], pemEnd) {
			if end == start {
				return start // a sample without a key
			}
			if n := strings.Index(t[j+len(pemEnd):min(len(t), j+80)], "-----"); n >= 0 {
				return j + len(pemEnd) + n + len("-----")
			}
			return end
		}
		k := j
		for k < len(t) && inBase64(t[k]) {
			k++
		}
		last := k > j && t[k-1] == '=' || strings.HasPrefix(t[gap(t, k):], pemEnd)
		switch {
		case k-j >= minLine && k > j || last && k > j:
			end, i = k, k
		case strings.HasPrefix(t[k:], ":") || strings.HasPrefix(t[k:], "-Type:") || strings.HasPrefix(t[k:], "-Info:"): // a header
			if n := strings.IndexByte(t[k:], '\n'); n >= 0 {
				i = k + n
				continue
			}
			return end
		default:
			return end
		}
	}
}

// bodyBefore is the start of the base64 that ends at i.
func bodyBefore(t string, i int) int {
	start, first := i, true
	for {
		j := i
		for j > 0 && inGap(t[j-1]) || j > 1 && t[j-1] == 'n' && t[j-2] == '\\' {
			j--
		}
		k := j
		for k > 0 && inBase64(t[k-1]) {
			k--
		}
		if j-k < minLine && (!first || j == k) {
			return start
		}
		start, i, first = k, k, false
	}
}

// gap passes over what stands between the lines of a key.
func gap(t string, i int) int {
	for i < len(t) && (inGap(t[i]) && !strings.HasPrefix(t[i:], pemEnd) || t[i] == 'n' && i > 0 && t[i-1] == '\\') {
		i++
	}
	return i
}

func inGap(c byte) bool { return strings.IndexByte(" \t\r\n\\\"'`+,>|*.-#", c) >= 0 }

func inBase64(c byte) bool { return alnumeric(c) || c == '+' || c == '/' || c == '=' }
